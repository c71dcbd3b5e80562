/** The assertions that Writ itself can look after: files of the workspace, and what the answer itself is. */
import { realpath } from 'node:fs/promises';
import { isRecord, type Json } from '../../protocol/json.ts';
import { openBeneath, pathFault } from '../tool/confine.ts';
import { isClosed } from '../tool/project-read.ts';
import {
  type Arguments,
  type Assertion,
  type AssertionCatalogue,
  argumentTypes,
  type Collected,
  type EvidencePolicy,
  openAssertions,
} from './catalogue.ts';

/** What is looked at. An answer is looked at as a text: whatever it says of the work is no evidence of that. */
export interface AssertedWorld {
  readonly workspace: string;
  readonly answer: string;
}

const fileBytesMax = 4 * 1024 * 1024;
const ofFiles: EvidencePolicy = {
  sources: ['workspace'],
  trust: ['observed'],
  freshness: 'current',
  coherent: false,
};
const ofAnswers: EvidencePolicy = { ...ofFiles, sources: ['answer'] };

/** The catalogue over one state of the world. Without a world its assertions are known and nothing is ever seen. */
export function standardAssertions(world?: AssertedWorld): AssertionCatalogue {
  const answered = async (): Promise<Collected | undefined> =>
    world === undefined ? undefined : { source: 'answer', trust: 'observed', value: world.answer };
  const file = async ({ path }: Arguments): Promise<Collected | undefined> => {
    const value = world === undefined ? undefined : await fileText(world.workspace, String(path));
    return value === undefined ? undefined : { source: 'workspace', trust: 'observed', value };
  };
  const assertion = (
    kind: string,
    description: string,
    policy: EvidencePolicy,
    rest: Pick<Assertion, 'check' | 'collect' | 'judge'>,
  ): Assertion => ({ kind, version: 1, description, policy, ...rest });
  return openAssertions([
    assertion('file-exists', 'The workspace has a text file at "path".', ofFiles, {
      check: inWorkspace(argumentTypes({ path: 'string' })),
      collect: file,
      judge: () => true,
    }),
    assertion('file-contains', 'The file at "path" holds "text".', ofFiles, {
      check: inWorkspace(argumentTypes({ path: 'string', text: 'string' })),
      collect: file,
      judge: ({ text }, value) => String(value).includes(String(text)),
    }),
    assertion('answer-contains', 'The answer holds "text".', ofAnswers, {
      check: argumentTypes({ text: 'string' }),
      collect: answered,
      judge: ({ text }, value) => String(value).includes(String(text)),
    }),
    assertion('answer-is-json', 'The answer is one JSON object that has the member "member".', ofAnswers, {
      check: argumentTypes({ member: 'string' }),
      collect: answered,
      judge: ({ member }, value) => hasMember(value, String(member)),
    }),
  ]);
}

function inWorkspace(check: Assertion['check']): Assertion['check'] {
  return (args) => {
    const problem = check(args);
    if (problem !== undefined) return problem;
    const { path } = args;
    const fault = pathFault(String(path));
    if (fault !== null) return `expected a path in the workspace as 'path': ${fault}`;
    return isClosed(String(path), false) ? "expected a path that is not closed as 'path'" : undefined;
  };
}

/** Undefined where there is no such file; throws for one that cannot be looked at. */
async function fileText(workspace: string, path: string): Promise<string | undefined> {
  const opened = await openBeneath(await realpath(workspace), path);
  if (!opened.ok) {
    if (opened.code === 'tool.not-found') return undefined;
    throw new Error(opened.message);
  }
  try {
    if (!opened.stats.isFile()) return undefined;
    if (isClosed(opened.inside, false)) throw new Error(`${path} leads to a file that is closed.`);
    if (opened.stats.size > fileBytesMax) throw new Error(`${path} is larger than ${fileBytesMax} bytes.`);
    return await opened.file.readFile('utf8');
  } finally {
    await opened.file.close();
  }
}

function hasMember(value: Json, member: string): boolean {
  try {
    const read: unknown = JSON.parse(String(value));
    return isRecord(read) && Object.hasOwn(read, member);
  } catch {
    return false;
  }
}
