/** What surrounds a trial and is none of its text: the program, the machine, the agent folder, the workspace, the tools. */
import { type Digest, jsonDigest, sha256 } from '../digest.ts';
import { isRecord } from '../protocol/json.ts';
import { treeDigest } from './fixture.ts';

/** The program that measures, and where. */
export interface Build {
  readonly writ: string;
  readonly node: string;
  readonly platform: string;
  readonly harness: string;
}

/** What is there right before a trial begins; kept in the origin of its session, so that it outlives a killed process. */
export interface Surroundings extends Build {
  /** Over all files of the arm's agent folder. */
  readonly agent: Digest;
  /** Over the copy that the trial is given to work in. */
  readonly workspace: Digest;
}

/**
 * Looks at the agent folder and at the fresh copy of a workspace; `source` is what it is a copy of, null for an empty one.
 * Throws `prove.bad-fixture`.
 */
export async function lookAt(
  build: Build,
  { agentFolder, source, copy }: { agentFolder: string; source: string | null; copy: string },
): Promise<Surroundings> {
  const [agent, workspace] = await Promise.all([
    treeDigest(agentFolder, 'count'),
    source === null ? sha256('') : treeDigest(copy, 'refuse'),
  ]);
  return { ...build, agent, workspace };
}

const parts = ['writ', 'node', 'platform', 'harness', 'agent', 'workspace'] as const;

/** The surroundings that a session's origin keeps; undefined where it keeps none. */
export function surroundingsIn(value: unknown): Surroundings | undefined {
  if (!isRecord(value) || parts.some((part) => typeof value[part] !== 'string')) return undefined;
  return value as unknown as Surroundings;
}

/** The digest of a trial's environment: its surroundings, the tools that it was shown, the version of an agent program. */
export function environmentOf(trial: {
  readonly surroundings: Surroundings;
  readonly projection: Digest;
  readonly harnessVersion?: string | null;
}): Digest {
  const { surroundings, projection, harnessVersion } = trial;
  return jsonDigest({
    ...surroundings,
    projection,
    ...(harnessVersion === undefined ? {} : { harnessVersion }),
  });
}
