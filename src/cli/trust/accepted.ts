/** What a person was shown and accepted on this machine: digests of agents' own code, one file in the user's state folder. */
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import type { Digest } from '../../digest.ts';
import { systemCode } from '../../errors.ts';
import { stateFolder } from '../../ledger/locate.ts';
import type { Context } from '../context.ts';
import { CliError } from '../errors.ts';

const entries = z.array(z.object({ agent: z.string(), digest: z.string(), at: z.number() }));
const fileSchema = z.object({ accepted: entries, shown: entries.optional() });
type TrustFile = z.output<typeof fileSchema>;

/** What this machine knows of an agent's code. */
export interface KnownCode {
  readonly accepted: ReadonlySet<Digest>;
  /** What a person last saw: of a refusal, else what was accepted last; null where nothing of the agent was ever seen. */
  readonly seen: Digest | null;
}

export function trustFile(env: Context['env']): string {
  return join(stateFolder(env), 'writ', 'trust.json');
}

/**
 * Throws `cli.trust-unreadable` for a file that others may write, or that cannot be understood: whether something was
 * accepted is then unknown, which is no yes.
 */
export async function knownCode(context: Context, agent: string): Promise<KnownCode> {
  const { accepted, shown = [] } = await read(trustFile(context.env));
  const of = (list: TrustFile['accepted']) => list.filter((one) => one.agent === agent);
  return {
    accepted: new Set(of(accepted).map(({ digest }) => digest)),
    seen: (of(shown).at(-1) ?? of(accepted).at(-1))?.digest ?? null,
  };
}

/** Keeps what a refusal showed, so that `--trust` accepts that and nothing else. */
export async function keepShown(context: Context, agent: string, digest: Digest): Promise<void> {
  await change(context, ({ accepted, shown = [] }) => ({
    accepted,
    shown: [...others(shown, agent), { agent, digest, at: context.clock.now() }],
  }));
}

/** Adds one digest, and forgets what was shown of the agent. */
export async function accept(context: Context, agent: string, digest: Digest): Promise<void> {
  await change(context, ({ accepted, shown = [] }) => {
    const left = others(shown, agent);
    const kept = [...accepted, { agent, digest, at: context.clock.now() }];
    return left.length === 0 ? { accepted: kept } : { accepted: kept, shown: left };
  });
}

function others(list: TrustFile['accepted'], agent: string): TrustFile['accepted'] {
  return list.filter((one) => one.agent !== agent);
}

// The file is replaced as a whole; of two that write at once one is forgotten, and is asked for again.
async function change(context: Context, next: (before: TrustFile) => TrustFile): Promise<void> {
  const file = trustFile(context.env);
  const content = next(await read(file));
  const draft = `${file}.${context.clock.id('new')}`;
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    const handle = await open(draft, 'wx', 0o600);
    try {
      await handle.writeFile(`${JSON.stringify(content, null, 2)}\n`);
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

async function read(file: string): Promise<TrustFile> {
  try {
    const handle = await open(file, 'r');
    try {
      const { mode } = await handle.stat();
      if ((mode & 0o022) !== 0) throw unreadable(file, 'may be written by others');
      return fileSchema.parse(JSON.parse(await handle.readFile('utf8')));
    } finally {
      await handle.close();
    }
  } catch (cause) {
    if (systemCode(cause) === 'ENOENT') return { accepted: [] };
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
