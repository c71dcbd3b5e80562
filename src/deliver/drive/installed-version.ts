/** Which version of a program is installed: asked of the program once, and kept until its file changes. */
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, realpath, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { stateFolder } from '../../ledger/locate.ts';
import type { Adapter } from '../adapter.ts';
import { writeWhole } from '../whole-file.ts';
import { markVariable, programEnvironment } from './environment.ts';
import { runProgram } from './program.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface AskOptions {
  /** The path of the program. */
  readonly program: string;
  readonly env: Environment;
  readonly signal: AbortSignal;
  /** By default half a minute: some programs take long to load. */
  readonly timeoutMs?: number;
}

const known = z.record(z.string(), z.strictObject({ file: z.string(), version: z.string() }));

/**
 * The version as the program prints it, `1.2.3`; null where it says none. A program that was asked before and whose file
 * is the same is not started again.
 */
export async function installedVersion(adapter: Adapter, options: AskOptions): Promise<string | null> {
  if (adapter.versionArgv.length === 0) return null;
  const path = join(stateFolder(options.env), 'writ', 'versions.json');
  const file = await identityOf(options.program);
  const before = await readKnown(path);
  const kept = before[options.program];
  if (file !== null && kept?.file === file) return kept.version;
  const version = await ask(adapter, options);
  if (version !== null && file !== null)
    await keep(path, { ...before, [options.program]: { file, version } });
  return version;
}

// An update leaves the time of a file's content as it was packed, but not the time at which the file came to be.
async function identityOf(program: string): Promise<string | null> {
  try {
    const real = await realpath(program);
    const { ino, size, ctimeMs } = await stat(real);
    return `${real}:${ino}:${size}:${ctimeMs}`;
  } catch {
    return null;
  }
}

async function ask(
  { versionArgv }: Adapter,
  { program, env, signal, timeoutMs = 30_000 }: AskOptions,
): Promise<string | null> {
  const lines: string[] = [];
  const value = `version-${randomUUID()}`;
  const plan = { env: {}, inherit: [], workspace: tmpdir() };
  const end = await runProgram(
    {
      program,
      argv: versionArgv,
      // Not in a folder whose settings it might read.
      cwd: tmpdir(),
      env: programEnvironment(plan, env, value),
      stdin: null,
      mark: `${markVariable}=${value}`,
    },
    {
      onStart: () => {},
      onLines: async (more) => {
        lines.push(...more);
      },
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    },
  );
  return versionIn(lines.join('\n'), end.started ? end.stderr : '');
}

/** The version in what a program printed; some print it beside what they complain of. */
export function versionIn(stdout: string, stderr: string): string | null {
  const version = /\d+\.\d+\.\d+[\w.+-]*/;
  return (version.exec(stdout) ?? version.exec(stderr))?.[0] ?? null;
}

async function readKnown(path: string): Promise<z.output<typeof known>> {
  try {
    return known.safeParse(JSON.parse(await readFile(path, 'utf8'))).data ?? {};
  } catch {
    return {};
  }
}

// What cannot be kept is asked again the next time.
async function keep(path: string, versions: z.output<typeof known>): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeWhole(path, JSON.stringify(versions));
  } catch {}
}
