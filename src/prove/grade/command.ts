/** The grader `command`: a program of the experiment decides. It lies outside the agent's reach, and its files are checked. */
import { access, constants, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { type Digest, jsonDigest } from '../../digest.ts';
import { isRecord } from '../../protocol/json.ts';
import { ProveError } from '../errors.ts';
import { fileDigest } from '../fixture.ts';
import { runChild } from './child.ts';
import type { Grade, Grader, GraderOptions, GraderSurroundings } from './grader.ts';

/**
 * The command gets `{item, answer, calls, workspace}` as JSON on stdin and a folder of its own to stand in. Exit code 0
 * passes, 1 does not, and a line `{"score": 0.5}` at the end of its output says it in shares; any other end is a failure
 * of the grader. Its program and files are digested here and before each grade: `prove.grader-changed`.
 */
export async function command(
  { command: [program = '', ...words], files = [], timeoutMs = 60_000 }: GraderOptions<'command'>,
  { folder, path }: GraderSurroundings,
): Promise<Grader> {
  const found = await findProgram(program, folder, path);
  // A word that is a file of the experiment's folder decides as much as the program that reads it.
  const named = [...new Set([...(await existing(folder, words)), ...files])].sort();
  const paths = new Map<string, string>([
    [program, found],
    ...named.map((file) => [file, resolve(folder, file)] as const),
  ]);
  const digests = await digestAll(paths);
  const digest = jsonDigest({ kind: 'command', version: 1, program, words, files: digests, timeoutMs });
  const placed = words.map((word) => (named.includes(word) ? resolve(folder, word) : word));
  return {
    kind: 'command',
    digest,
    files: [...paths.values()],
    when: 'at-once',
    wants: () => null,
    async grade({ item, answer, calls, workspace, signal }) {
      await mustBeUnchanged(paths, digests);
      if (workspace === null) return { score: null, reason: 'the workspace of the trial is gone' };
      const cwd = await mkdtemp(join(tmpdir(), 'writ-grade-'));
      try {
        const { id, task, expect, groups } = item;
        const end = await runChild({
          program: found,
          words: placed,
          cwd,
          env: { PATH: path, HOME: cwd, LANG: 'C.UTF-8' },
          input: JSON.stringify({ item: { id, task, expect, groups }, answer, calls, workspace }),
          timeoutMs,
          signal,
        });
        return end.end === 'exit' ? gradeOf(end) : { score: null, reason: `the grader: ${end.reason}` };
      } finally {
        await rm(cwd, { recursive: true, force: true });
      }
    },
  };
}

function gradeOf({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }): Grade {
  const last = stdout.trim().split('\n').at(-1) ?? '';
  if (code !== 0 && code !== 1)
    return { score: null, reason: `the grader ended with ${code}: ${short(stderr)}` };
  const share = shareOf(last);
  return { score: share ?? (code === 0 ? 1 : 0), reason: short(last) };
}

function shareOf(line: string): number | undefined {
  try {
    const value: unknown = JSON.parse(line);
    const score = isRecord(value) ? value.score : undefined;
    return typeof score === 'number' && score >= 0 && score <= 1 ? score : undefined;
  } catch {
    return undefined;
  }
}

function short(text: string): string {
  return text.trim().slice(0, 200);
}

async function findProgram(program: string, folder: string, path: string): Promise<string> {
  const places = /[/\\]/.test(program)
    ? [isAbsolute(program) ? program : resolve(folder, program)]
    : path.split(delimiter).map((one) => join(one, program));
  for (const place of places) {
    const usable = await access(place, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (usable) return realpath(place);
  }
  throw new ProveError(
    'prove.bad-fixture',
    `Expected the grader's program '${program}', found none that can be run.`,
    {
      next: 'Name a program on PATH, or one beside experiment.yaml as ./program.',
      details: { program },
    },
  );
}

async function existing(folder: string, words: readonly string[]): Promise<string[]> {
  const found = words.map(async (word) =>
    access(resolve(folder, word)).then(
      () => [word],
      () => [],
    ),
  );
  return (await Promise.all(found)).flat();
}

async function digestAll(paths: ReadonlyMap<string, string>): Promise<Readonly<Record<string, Digest>>> {
  const pairs = [...paths].map(async ([name, path]) => [name, await fileDigest(path)] as const);
  return Object.fromEntries(await Promise.all(pairs));
}

async function mustBeUnchanged(
  paths: ReadonlyMap<string, string>,
  registered: Readonly<Record<string, Digest>>,
): Promise<void> {
  const now = await digestAll(paths);
  const changed = Object.keys(registered).find((name) => now[name] !== registered[name]);
  if (changed === undefined) return;
  throw new ProveError(
    'prove.grader-changed',
    `The grader's file ${changed} should be as it was registered; it has changed.`,
    {
      next: 'Put the file back, or register the new grader as a deviation.',
      details: { file: changed, registered: registered[changed], found: now[changed] },
    },
  );
}
