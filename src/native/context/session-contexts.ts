/** The contexts of a native session: those it was given, and the results that were too large to show, which resume restores. */
import { sha256 } from '../../digest.ts';
import type { Host } from '../../harness.ts';
import type { RunEvent } from '../../protocol/events.ts';
import { type FileStamp, fileStamp, memoryBytes, spillBytes } from './bytes.ts';
import { type ContextSource, type Contexts, openContexts } from './contexts.ts';
import { ContextError } from './errors.ts';
import { openPace } from './limits.ts';
import type { ContextBody } from './operations.ts';
import { type ContextReader, capabilityMissing, contextReader } from './reader.ts';
import { type Described, keptText, taskText } from './result-view.ts';
import { openTextBody } from './text-body.ts';

/** A context that a session is given. */
export interface GivenContext {
  /** A letter, then letters, digits, _ or -. */
  readonly alias: string;
  readonly source: ContextSource;
  /** How the file was when the session began; what differs now is said. */
  readonly stamp?: FileStamp;
}

/** A result of more bytes lies in a private file, not in memory. */
const memoryBytesMax = 1024 * 1024;

/** Longer than the default: a slow expression over 50 MB should end in one call of a model. */
const timeMs = 2_000;

export interface SessionContexts {
  /** The task with what can be looked at after it. */
  task(text: string): string;
  /** The task of a later run: contexts are named again only if a file has changed. */
  laterTask(text: string): string;
  /** Keeps a result under an alias and gives what the model reads of it, in at most `bytesMax` bytes. */
  keep(
    place: { readonly turn: number; readonly position: number },
    text: string,
    bytesMax: number,
  ): Promise<string>;
  /** Keeps a part of a conversation and returns its alias, which no other part of this session has, whatever it is of. */
  archive(text: string): Promise<string>;
  fault(ref: string): ContextError | undefined;
  reader(ref: string, signal: AbortSignal): ContextReader;
  close(): Promise<void>;
}

export interface SessionContextsOptions {
  readonly given: readonly GivenContext[];
  readonly capabilities: readonly string[];
  readonly host: Host;
  /** Names of the tools that the session shows. */
  readonly toolsShown: readonly string[];
  /** The session's events so far. */
  readonly earlier: readonly RunEvent[];
  readonly run: string;
}

/** Opens them; the caller closes. Throws a ContextError for what cannot be registered. */
export async function openSessionContexts(options: SessionContextsOptions): Promise<SessionContexts> {
  const { given, capabilities, host, toolsShown, earlier, run } = options;
  const contexts = openContexts({
    limits: { timeMs },
    clock: host.clock,
    onRead: ({ alias, operation, bytesReturned: bytes, truncated }) =>
      host.note([{ type: 'context-read', alias, operation, bytes, truncated }]),
  });
  try {
    checkGiven(given, capabilities);
    const described: Described[] = [];
    for (const one of given) described.push(await registerGiven(contexts, one, host));
    restoreKept(contexts, earlier, host);
    const changed = described.filter((one) => one.changed);
    const prefix = prefixOf(earlier, run);
    let archived = lastArchived(earlier);
    return {
      task: (text) => taskText(text, described, toolsShown),
      laterTask: (text) => taskText(text, changed, toolsShown),
      async keep({ turn, position }, text, bytesMax) {
        const alias = `${prefix}result_${turn}_${position}`;
        const body = await keepText(contexts, host, alias, text);
        return keptText(alias, body.metadata, text, toolsShown, bytesMax);
      },
      async archive(text) {
        archived += 1;
        const alias = `history_${archived}`;
        await keepText(contexts, host, alias, text);
        return alias;
      },
      fault: (ref) => contexts.fault(ref),
      reader: (ref, signal) => contextReader(contexts, ref, signal),
      close: () => contexts.close(),
    };
  } catch (thrown) {
    await contexts.close();
    throw thrown;
  }
}

async function keepText(contexts: Contexts, host: Host, alias: string, text: string): Promise<ContextBody> {
  const bytes = Buffer.from(text);
  const body = await openKept(bytes, host);
  // After a crash between keeping and recording what it was kept for, it is made again and keeps its alias.
  if (contexts.fault(alias) === undefined) await contexts.delete(alias);
  const { id } = contexts.registerBody(alias, async () => body);
  const digest = sha256(bytes);
  host.note(
    [{ type: 'context-register', alias, context: id, bytes: bytes.length, blob: digest }],
    [{ digest, bytes }],
  );
  return body;
}

/** Throws a ContextError for contexts that this run may not have, or under names that they may not bear. */
export function checkGiven(given: readonly GivenContext[], capabilities: readonly string[]): void {
  if (given.length > 0 && !capabilities.includes('context')) throw capabilityMissing();
  const reserved = given.find(({ alias }) => /^((run\d+_)?result_|history_)/.test(alias));
  if (reserved === undefined) return;
  throw new ContextError(
    'context.bad-alias',
    `The alias '${reserved.alias}' is kept for what a session keeps itself.`,
    {
      next: 'Choose another alias, such as input.',
    },
  );
}

async function registerGiven(
  contexts: Contexts,
  { alias, source, stamp }: GivenContext,
  host: Host,
): Promise<Described> {
  const { id, metadata } = await contexts.register(alias, source, { signal: host.signal });
  const changed = stamp !== undefined && source.kind === 'file' && !(await isSame(source, stamp));
  host.note([{ type: 'context-register', alias, context: id, bytes: metadata.bytes, blob: null }]);
  if (changed) {
    const text = `The file of the context '${alias}' is not what it was when the session began; positions found earlier may not hold.`;
    host.note([{ type: 'notice', code: 'context.changed', text }]);
  }
  return { alias, metadata, changed };
}

async function isSame({ root, path }: { root: string; path: string }, before: FileStamp): Promise<boolean> {
  const now = await fileStamp(root, path);
  return now.bytes === before.bytes && now.mtimeMs === before.mtimeMs && now.head === before.head;
}

/** The results kept by earlier turns, each read from the ledger when it is first looked at. */
function restoreKept(contexts: Contexts, earlier: readonly RunEvent[], host: Host): void {
  const kept = new Map<string, string>();
  for (const event of earlier) {
    if (event.type === 'context-register' && event.blob !== null) kept.set(event.alias, event.blob);
  }
  for (const [alias, digest] of kept) {
    contexts.registerBody(alias, async () => {
      const bytes = await host.recall(digest);
      // A stored secret that was replaced is such a case: positions would no longer hold.
      if (bytes === undefined || sha256(bytes) !== digest) {
        throw new ContextError(
          'context.lost',
          `The result '${alias}' is no longer in the ledger as it was.`,
          {
            next: 'Make the call again if it only reads.',
          },
        );
      }
      return openKept(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), host);
    });
  }
}

async function openKept(bytes: Buffer, host: Host): Promise<ContextBody> {
  const source = bytes.length <= memoryBytesMax ? memoryBytes(bytes) : await spillBytes(bytes);
  return openTextBody(source, openPace(host.clock, [host.signal]));
}

function lastArchived(earlier: readonly RunEvent[]): number {
  const numbers = earlier.map((event) =>
    event.type === 'context-register' ? Number(/^history_(\d+)$/.exec(event.alias)?.[1] ?? 0) : 0,
  );
  return numbers.reduce((most, number) => Math.max(most, number), 0);
}

// Turns are numbered anew in each run, and an alias must mean one result in the whole session.
function prefixOf(earlier: readonly RunEvent[], run: string): string {
  const before = new Set(earlier.map((event) => event.run).filter((id) => id !== run)).size;
  return before === 0 ? '' : `run${before + 1}_`;
}
