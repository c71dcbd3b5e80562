/** Finds the stored texts that a run's record names by digest. */
import type { Store } from '../../ledger/store.ts';
import { isRecord } from '../../protocol/json.ts';
import { CliError } from '../errors.ts';
import type { FoundRun } from './find-run.ts';

/**
 * The text of the one blob that the run's events or its session name by a digest that begins with `word`. Throws
 * `cli.bad-value` where none or several fit, and where the ledger has only the digest.
 */
export async function storedText(store: Store, { run, session }: FoundRun, word: string): Promise<string> {
  const record = JSON.stringify([session, await store.events(run.id)]);
  const named = new Set([...record.matchAll(/"([0-9a-f]{64})"/g)].map(([, digest = '']) => digest));
  const found = [...named].filter((digest) => word !== '' && digest.startsWith(word));
  const [digest] = found;
  if (digest === undefined || found.length > 1) {
    const what = found.length > 1 ? `one that ${found.length} digests begin with` : `'${word}'`;
    throw new CliError(
      'cli.bad-value',
      `--message expected a digest that run ${run.id} names, or the beginning of one; found ${what}.`,
      { next: `See its digests with: writ runs events ${run.id}`, details: { run: run.id, message: word } },
    );
  }
  const bytes = await store.blob(digest);
  if (bytes !== undefined) return Buffer.from(bytes).toString('utf8');
  throw new CliError(
    'cli.bad-value',
    `--message expected a digest whose text is kept; of ${digest} the ledger has none. The body of a request is kept as its messages.`,
    { next: "Name a message of the request: they stand in its 'add'.", details: { run: run.id, digest } },
  );
}

/** The texts of results by the digest of their message, for those that the ledger still has. */
export async function resultTexts(
  store: Store,
  digests: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>();
  for (const digest of digests) {
    const bytes = await store.blob(digest);
    if (bytes !== undefined) texts.set(digest, textOfMessage(Buffer.from(bytes).toString('utf8')));
  }
  return texts;
}

/** Values of steps by their digest, as the JSON that is stored. */
export async function valueTexts(
  store: Store,
  digests: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>();
  for (const digest of digests) {
    const bytes = await store.blob(digest);
    if (bytes !== undefined) texts.set(digest, Buffer.from(bytes).toString('utf8'));
  }
  return texts;
}

/** What a message of any protocol says: the texts in its content. A message without one is shown as it is. */
export function textOfMessage(message: string): string {
  try {
    const texts = textsIn(JSON.parse(message));
    return texts.length === 0 ? message : texts.join('\n');
  } catch {
    return message;
  }
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  if (!isRecord(value)) return [];
  return ['content', 'text', 'output', 'value'].flatMap((name) => textsIn(value[name]));
}
