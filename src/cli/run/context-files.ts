/** `--context FILE`: files that a model may look into without their standing in its prompt, and how a session keeps them. */
import { realpath } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { fileStamp } from '../../native/context/bytes.ts';
import type { GivenContext } from '../../native/context/session-contexts.ts';
import type { Context } from '../context.ts';
import { CliError } from '../errors.ts';
import { type LedgerFlags, openStoreToRead } from './open-store.ts';
import { type Origin, readOrigin } from './origin.ts';

export interface ContextFlags extends LedgerFlags {
  readonly context?: readonly string[] | undefined;
  readonly session?: string | undefined;
}

export type ContextFile = NonNullable<Origin['contexts']>[number];

/**
 * The files of a new session as they are now, or those that a session began with. Throws a CliError for what cannot be
 * one, and a ContextError for a file that cannot be opened.
 */
export async function contextFiles(
  context: Context,
  flags: ContextFlags,
  workspace: string,
): Promise<ContextFile[]> {
  const named = (flags.context ?? []).map(readNamed);
  if (flags.session !== undefined) {
    if (named.length === 0) return filesOfSession(context, flags, workspace, flags.session);
    throw badValue('--context and --session', 'a session keeps the contexts that it began with', {
      next: 'Leave --context out, or start a new session.',
    });
  }
  const twice = named.find(({ alias }, i) => named.findIndex((one) => one.alias === alias) < i);
  if (twice !== undefined) {
    throw badValue('--context', `two files are named '${twice.alias}'`, {
      next: 'Name each file: --context old=FILE --context new=FILE.',
    });
  }
  return Promise.all(named.map((one) => openedNow(context, one)));
}

/** As the native harness takes them. */
export function givenContexts(origin: Origin): GivenContext[] {
  return (origin.contexts ?? []).map(({ alias, path, ...stamp }) => ({
    alias,
    source: { kind: 'file', root: dirname(path), path: basename(path) },
    stamp,
  }));
}

interface Named {
  readonly alias: string;
  readonly file: string;
}

function readNamed(text: string): Named {
  const named = /^([A-Za-z][A-Za-z0-9_-]*)=(.+)$/s.exec(text);
  const [alias, file] = named === null ? ['input', text] : [named[1] ?? '', named[2] ?? ''];
  if (file !== '') return { alias, file };
  throw badValue('--context', 'the file has no name', {
    next: 'Write it like --context app.log or log=app.log.',
  });
}

async function openedNow(context: Context, { alias, file }: Named): Promise<ContextFile> {
  const path = await realpath(resolve(context.cwd, file)).catch((cause: unknown) => {
    throw new CliError(
      'cli.unreadable',
      `--context expected a readable file at ${file}, found nothing there.`,
      {
        next: 'Check the path.',
        details: { option: '--context', file },
        cause,
      },
    );
  });
  const { bytes, mtimeMs, head } = await fileStamp(dirname(path), basename(path));
  return { alias, path, bytes, mtimeMs, head };
}

// What is wrong with the session itself is for the run to say.
async function filesOfSession(
  context: Context,
  flags: LedgerFlags,
  workspace: string,
  id: string,
): Promise<ContextFile[]> {
  const { store } = await openStoreToRead(context, flags, workspace);
  try {
    const session = await store.session(id);
    if (session === undefined) return [];
    const origin = readOrigin(session.origin, session.id);
    return 'outside' in origin ? [] : (origin.contexts ?? []);
  } catch (thrown) {
    if (thrown instanceof CliError && thrown.code === 'cli.not-rebuildable') return [];
    throw thrown;
  } finally {
    await store.close();
  }
}

function badValue(option: string, found: string, extra: { readonly next: string }): CliError {
  return new CliError('cli.bad-value', `${option}: ${found}.`, { ...extra, details: { option } });
}
