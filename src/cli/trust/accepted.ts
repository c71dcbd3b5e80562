/** What a person accepted on this machine: digests of agents' own code, one file in the user's state folder. */
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import type { Digest } from '../../digest.ts';
import { systemCode } from '../../errors.ts';
import { stateFolder } from '../../ledger/locate.ts';
import type { Context } from '../context.ts';
import { CliError } from '../errors.ts';

const fileSchema = z.object({
  accepted: z.array(z.object({ agent: z.string(), digest: z.string(), at: z.number() })),
});
type Accepted = z.output<typeof fileSchema>['accepted'];

export function trustFile(env: Context['env']): string {
  return join(stateFolder(env), 'writ', 'trust.json');
}

/**
 * Throws `cli.trust-unreadable` for a file that others may write, or that cannot be understood: whether something was
 * accepted is then unknown, which is no yes.
 */
export async function isAccepted(context: Context, agent: string, digest: Digest): Promise<boolean> {
  const accepted = await read(trustFile(context.env));
  return accepted.some((one) => one.agent === agent && one.digest === digest);
}

/** Adds one digest. The file is replaced as a whole; of two that write at once one is forgotten, and is asked for again. */
export async function accept(context: Context, agent: string, digest: Digest): Promise<void> {
  const file = trustFile(context.env);
  const before = await read(file);
  const accepted = [...before, { agent, digest, at: context.clock.now() }];
  const draft = `${file}.${context.clock.id('new')}`;
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    const handle = await open(draft, 'wx', 0o600);
    try {
      await handle.writeFile(`${JSON.stringify({ accepted }, null, 2)}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, file);
  } catch (cause) {
    await rm(draft, { force: true }).catch(() => {});
    throw new CliError('cli.unwritable', `Expected to write ${file}, found a fault (${systemCode(cause)}).`, {
      next: 'Make the state folder writable, or set XDG_STATE_HOME to one that is.',
      details: { file },
      cause,
    });
  }
}

async function read(file: string): Promise<Accepted> {
  try {
    const handle = await open(file, 'r');
    try {
      const { mode } = await handle.stat();
      if ((mode & 0o022) !== 0) throw unreadable(file, 'may be written by others');
      return fileSchema.parse(JSON.parse(await handle.readFile('utf8'))).accepted;
    } finally {
      await handle.close();
    }
  } catch (cause) {
    if (systemCode(cause) === 'ENOENT') return [];
    if (cause instanceof CliError) throw cause;
    throw unreadable(file, `cannot be read (${systemCode(cause) ?? 'it is not what Writ writes'})`);
  }
}

function unreadable(file: string, found: string): CliError {
  return new CliError('cli.trust-unreadable', `The list of accepted code ${file} ${found}.`, {
    next: 'Look at it, then remove it, and accept again with --trust.',
    details: { file },
  });
}
