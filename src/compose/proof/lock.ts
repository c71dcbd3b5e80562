/** The lock: what each named situation composed to when it was last accepted, by digest of the exact bytes. */
import { z } from 'zod';
import { sha256 } from '../../digest.ts';
import type { Composition } from '../../protocol/composition.ts';
import { type Agent, declarationOf, factsReadBy } from '../agent.ts';
import { compose } from '../compose.ts';
import { fragmentsOf, type Situation } from '../situation.ts';
import { ProofError } from './errors.ts';
import { namedSituation, openFacts } from './named-situations.ts';
import { spansOf } from './spans.ts';

export const lockFile = 'writ.lock.json';
export const lockRule = 'sha256 of the exact bytes: nothing is normalised';

const digest = z.string().regex(/^[0-9a-f]{64}$/);
const size = z.int().min(0);
const value = z.union([z.boolean(), z.string(), z.number(), z.array(z.string())]);
const fact = z.union([
  z.strictObject({ value, volatile: z.literal(true).optional() }),
  z.strictObject({ unknown: z.literal(true), volatile: z.literal(true).optional() }),
]);
const pinSchema = z.strictObject({
  sha256: digest,
  bytes: size,
  tokens: size,
  facts: z.record(z.string(), fact),
  layers: z.array(z.strictObject({ id: z.string(), sha256: digest, bytes: size })),
  fragments: z.array(
    z.strictObject({ id: z.string(), sha256: digest, file: z.string(), fileSha256: digest }),
  ),
});
const lockSchema = z.strictObject({
  version: z.literal(1),
  agent: z.string(),
  rule: z.literal(lockRule),
  tokenMethod: z.string(),
  situations: z.record(z.string(), z.record(z.string(), pinSchema)),
});

/** One situation under one profile. The fragments stand in the order of the text; `fileSha256` covers header and body. */
export type Pin = z.output<typeof pinSchema>;
/** Pins by situation, then by profile. */
export type Lock = z.output<typeof lockSchema>;

/** A named situation under a profile, composed. */
export interface PinnedText {
  readonly name: string;
  readonly profile: string;
  readonly situation: Situation;
  readonly composition: Composition;
  readonly pin: Pin;
}

/** A named situation that hangs on a fact of the machine. */
export interface OpenSituation {
  readonly name: string;
  readonly profile: string;
  readonly fact: string;
  readonly fragment: string;
}

export interface NamedTexts {
  readonly texts: readonly PinnedText[];
  readonly open: readonly OpenSituation[];
}

/** SHA-256 of each fragment's file by its path below the agent folder. */
export type FileDigests = ReadonlyMap<string, string>;

/** Composes every named situation under every profile, in the order of their names. */
export async function namedTexts(agent: Agent, files: FileDigests): Promise<NamedTexts> {
  const texts: PinnedText[] = [];
  const open: OpenSituation[] = [];
  for (const name of [...agent.situations.keys()].sort()) {
    for (const profile of [...agent.profiles.keys()].sort()) {
      const situation = await namedSituation(agent, name, profile);
      const needed = openFacts(agent, name, situation);
      open.push(...needed.map((one) => ({ name, profile, ...one })));
      if (needed.length > 0) continue;
      const composition = compose(agent, situation);
      const pin = pinOf(agent, situation, composition, files);
      texts.push({ name, profile, situation, composition, pin });
    }
  }
  return { texts, open };
}

/** What a lock keeps of a composition. */
function pinOf(agent: Agent, situation: Situation, composition: Composition, files: FileDigests): Pin {
  const spans = spansOf(agent, situation, composition);
  return {
    sha256: composition.digest,
    bytes: composition.bytes,
    tokens: composition.tokens,
    facts: factsUsed(agent, situation),
    layers: composition.layers.map((layer) => ({
      id: layer.id,
      sha256: sha256(layer.text),
      bytes: layer.bytes,
    })),
    fragments: spans.flatMap(({ fragment: id, text }) => {
      const fragment = id === null ? undefined : agent.fragments.get(id);
      if (fragment === undefined) return [];
      const { file } = fragment;
      return [{ id: fragment.id, sha256: sha256(text), file, fileSha256: files.get(file) ?? sha256('') }];
    }),
  };
}

function factsUsed(agent: Agent, situation: Situation): Pin['facts'] {
  const fragments = fragmentsOf(agent, situation.profile);
  const names = fragments.flatMap(factsReadBy);
  return Object.fromEntries(
    [...new Set(names)].sort().map((name) => {
      const found = situation.facts.get(name);
      const volatile = declarationOf(agent, name)?.volatile === true ? { volatile: true as const } : {};
      if (found?.known !== true) return [name, { unknown: true as const, ...volatile }];
      const kept = typeof found.value === 'object' ? [...(found.value ?? [])] : found.value;
      return [name, { value: kept, ...volatile }];
    }),
  );
}

/** The lock of an agent. Throws `proof.nothing-to-lock`, or `proof.open-situation` naming every fact that is open. */
export async function lockAgent(agent: Agent, files: FileDigests): Promise<Lock> {
  if (agent.situations.size === 0) {
    throw new ProofError(
      'proof.nothing-to-lock',
      `${agent.key} should name at least one situation to pin, and agent.yaml has none.`,
      { next: 'Add situations to agent.yaml, for instance: situations: { headless: { mode: headless } }.' },
    );
  }
  const { texts, open } = await namedTexts(agent, files);
  if (open.length > 0) throw openError(open);
  const situations: Record<string, Record<string, Pin>> = {};
  for (const { name, profile, pin } of texts) situations[name] = { ...situations[name], [profile]: pin };
  return {
    version: 1,
    agent: agent.key,
    rule: lockRule,
    tokenMethod: texts[0]?.composition.tokenMethod ?? '',
    situations,
  };
}

function openError(open: readonly OpenSituation[]): ProofError {
  const [first] = open;
  const list = [
    ...new Set(open.map(({ name, fact: one, fragment }) => `${name} leaves ${one} open (${fragment})`)),
  ];
  return new ProofError(
    'proof.open-situation',
    `A pinned text must be the same on every machine, and this depends on the one at hand: ${list.join('; ')}.`,
    {
      next: `Set ${first?.fact} in the situation ${first?.name} of agent.yaml, or list it there under unknown.`,
      details: { open },
    },
  );
}

/** The lock as its file holds it. */
export function lockText(lock: Lock): string {
  return `${JSON.stringify(lock, null, 2)}\n`;
}

/** Reads a lock's file. Throws `proof.bad-lock`. */
export function readLock(text: string): Lock {
  const fail = (found: string, cause: unknown) =>
    new ProofError('proof.bad-lock', `${lockFile} should be a lock of version 1, and ${found}.`, {
      next: 'Write it again with: writ lock AGENT.',
      details: { file: lockFile },
      cause,
    });
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw fail('is no JSON', cause);
  }
  const read = lockSchema.safeParse(json);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw fail(`its '${issue?.path.join('.') || 'whole'}' is not what it should be`, read.error);
}
