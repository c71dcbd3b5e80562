/** The re-read note: a read that gives what the same read has given before says so, below its whole result. */
import type { EventBody } from '../../protocol/events.ts';
import { plainArguments } from './history.ts';

/**
 * Folders and endings of what builds and databases write, our own record included: to read such a file again is right, and
 * a change in one is no work done.
 */
export const generatedUsual: readonly string[] = [
  'target/',
  'dist/',
  'build/',
  'out/',
  'node_modules/',
  '.git/',
  '.writ/',
  '__pycache__/',
  '.log',
  '.db',
  '.sqlite',
  '.duckdb',
  '-wal',
  '-shm',
  '-journal',
];

/** True for a path below one of the folders (`name/`) or with one of the endings. */
export function isGenerated(path: string, patterns: readonly string[]): boolean {
  const parts = path.replaceAll('\\', '/').split('/');
  return patterns.some((pattern) =>
    pattern.endsWith('/') ? parts.slice(0, -1).includes(pattern.slice(0, -1)) : path.endsWith(pattern),
  );
}

export interface Read {
  readonly tool: string;
  /** As the model wrote them. */
  readonly arguments: string;
  /** Digest of what it gave now. */
  readonly content: string;
}

/**
 * What to say below a result; undefined where this read gave something else before, or nothing, or where the messages that
 * held it have left the conversation since. `events` are the run's so far, without this result.
 */
export function rereadNote(
  { tool, arguments: args, content }: Read,
  events: readonly EventBody[],
  generated: readonly string[],
): string | undefined {
  const wanted = plainArguments(args);
  if (textsIn(wanted).some((text) => isGenerated(text, generated))) return undefined;
  for (let at = events.length - 1; at >= 0; at -= 1) {
    const event = events[at];
    if (event?.type === 'session-compact') return undefined;
    if (event?.type !== 'tool-result' || event.tool !== tool || event.status !== 'ok') continue;
    if (argumentsOf(event, events) !== wanted) continue;
    if (event.seen?.content !== content) return undefined;
    return `[Unchanged: turn ${event.turn} read exactly this already.]`;
  }
  return undefined;
}

function argumentsOf(
  { turn, position }: { readonly turn: number; readonly position: number },
  events: readonly EventBody[],
): string | undefined {
  const call = events.findLast(
    (event) => event.type === 'tool-call' && event.turn === turn && event.position === position,
  );
  return call?.type === 'tool-call' ? plainArguments(call.arguments) : undefined;
}

function textsIn(args: string): readonly string[] {
  const found: string[] = [];
  try {
    JSON.parse(args, (_, value: unknown) => {
      if (typeof value === 'string') found.push(value);
      return value;
    });
  } catch {
    // Arguments that are no JSON name no path.
  }
  return found;
}
