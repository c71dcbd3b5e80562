/** Compaction: old messages leave the requests of a session for a context, a note stands in their place, the instructions stay. */
import { blobOf } from '../digest.ts';
import type { Host, Session } from '../harness.ts';
import type { EventBody } from '../protocol/events.ts';
import { isRecord } from '../protocol/json.ts';
import { lookText } from './context/result-view.ts';
import type { SessionContexts } from './context/session-contexts.ts';
import type { Conversation } from './conversation.ts';
import { NativeError } from './errors.ts';
import type { Model } from './model/model.ts';
import { bytesPerToken } from './request.ts';

export interface CompactionOptions {
  /** What a request's messages may take before the oldest of them leave; an estimate. */
  readonly hotTokens: number;
}

export interface CompactionSeat {
  readonly session: Session;
  readonly model: Model;
  readonly host: Host;
  readonly contexts: SessionContexts | undefined;
  /** Digest of the message that holds the task of this run. */
  readonly task: string;
  /** Digests of further messages that stay. */
  readonly stays?: readonly string[];
  /** How a finished task is ended, as words behind "if it is finished,". */
  readonly finishing: string;
}

/** After a compaction so much of the window is taken, so that the next is some turns away. */
const filled = 0.5;

/**
 * Compacts a conversation that has outgrown its window; does nothing for one that has not, or of which nothing can go. Kept
 * are the composed text, byte for byte, the task of this run, and as many of the newest messages as fit, never a result
 * without its call. `events` are all of this conversation. Throws `native.message-lost` if the conversation does not begin with
 * the session's composed text.
 */
export async function compact(
  conversation: Conversation,
  { hotTokens }: CompactionOptions,
  events: readonly EventBody[],
  seat: CompactionSeat,
): Promise<void> {
  const { texts, digests } = conversation;
  const before = tokensIn(texts);
  if (before <= hotTokens) return;
  const first = headOf(conversation, seat);
  const start = hotStart(conversation, first, hotTokens * filled, events, seat.task);
  const staying = new Set([seat.task, ...(seat.stays ?? [])]);
  const stays = (at: number) => staying.has(digests[at] ?? '');
  const cold = range(first, start).filter((at) => !stays(at));
  // A note that replaces only an earlier note would save nothing.
  if (cold.length === 0 || (cold.length === 1 && isNote(digests[cold[0] ?? 0], events))) return;
  const alias = await archive(cold, conversation, seat);
  const aliases = [...earlierAliases(events), ...(alias === null ? [] : [alias])];
  const gone = tokensIn(cold.map((at) => texts[at] ?? ''));
  const note = blobOf(seat.model.message({ role: 'user', text: noteText(cold.length, gone, aliases, seat) }));
  const kept = [...range(first, start).filter(stays), ...range(start, texts.length)];
  const whole = [
    ...range(0, first).map((at) => written(conversation, at)),
    note,
    ...kept.map((at) => written(conversation, at)),
  ];
  texts.splice(0, texts.length, ...whole.map(({ bytes }) => bytes));
  digests.splice(0, digests.length, ...whole.map(({ digest }) => digest));
  conversation.requested = Math.min(conversation.requested, first);
  seat.host.note(
    [
      {
        type: 'session-compact',
        keep: kept.length,
        dropped: cold.length,
        summary: note.digest,
        tokensBefore: before,
        tokensAfter: tokensIn(texts),
        context: alias,
      },
    ],
    [note],
  );
}

/** How many messages the composed text takes: one, or none where it is empty. It is checked, not believed. */
function headOf({ digests }: Conversation, { session, model }: CompactionSeat): number {
  const { text, stablePrefixBytes } = session.composition;
  if (text === '') return 0;
  const own = blobOf(model.message({ role: 'system', text, stablePrefixBytes }));
  if (digests[0] === own.digest) return 1;
  throw new NativeError(
    'native.message-lost',
    'The conversation does not begin with the text that the session was composed of, so nothing of it may be dropped.',
    { next: 'Start the task in a new session.' },
  );
}

/** The first message that stays: as early as fits, and always an answer or the task, so that no result loses its call. */
function hotStart(
  { texts, digests }: Conversation,
  first: number,
  room: number,
  events: readonly EventBody[],
  task: string,
): number {
  const answers = new Set(
    events.flatMap((event) => (event.type === 'message-finish' ? [event.message] : [])),
  );
  let taken = tokensIn(texts.slice(0, first));
  let start = texts.length;
  for (let at = texts.length - 1; at >= first; at -= 1) {
    taken += tokensIn([texts[at] ?? '']);
    const digest = digests[at] ?? '';
    // The newest of these stays with what follows it, however large: the model is about to read it.
    if (taken > room && start < texts.length) break;
    if (answers.has(digest) || digest === task) start = at;
  }
  return start;
}

async function archive(
  cold: readonly number[],
  { texts }: Conversation,
  { contexts }: CompactionSeat,
): Promise<string | null> {
  if (contexts === undefined) return null;
  return contexts.archive(cold.map((at) => plainText(texts[at] ?? '')).join('\n\n'));
}

function earlierAliases(events: readonly EventBody[]): readonly string[] {
  return events.flatMap((event) =>
    event.type === 'session-compact' && event.context !== null ? [event.context] : [],
  );
}

function isNote(digest: string | undefined, events: readonly EventBody[]): boolean {
  return events.some((event) => event.type === 'session-compact' && event.summary === digest);
}

function noteText(
  messages: number,
  tokens: number,
  aliases: readonly string[],
  { session, finishing }: CompactionSeat,
): string {
  const where =
    aliases.length === 0
      ? 'It cannot be looked into in this session.'
      : `It is in ${aliases.join(', ')}, the newest last. ${lookText(session.projection.tools)}`;
  return `[Earlier part of this conversation: ${messages} messages, about ${tokens} tokens, are not shown here any more. Your instructions stand above, whole and unchanged. ${where} Go on with the task; if you cannot go on without an answer, ask; if it is finished, ${finishing}.]`;
}

/** Estimated as a request's tokens are when they are set aside. */
function tokensIn(texts: readonly string[]): number {
  return Math.ceil(texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) / bytesPerToken);
}

function written({ texts, digests }: Conversation, at: number) {
  return { bytes: texts[at] ?? '', digest: digests[at] ?? '' };
}

function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i);
}

/** A message of any protocol as lines that can be searched: who speaks, and every text in it as it was. */
function plainText(message: string): string {
  const parsed: unknown = JSON.parse(message);
  const items = Array.isArray(parsed) ? parsed : [parsed];
  const role = items
    .map((item) => (isRecord(item) && typeof item.role === 'string' ? item.role : ''))
    .find((one) => one !== '');
  return `--- ${role ?? 'message'}\n${items.flatMap(textsIn).join('\n')}`;
}

// Names of members that hold no text of the conversation.
const silent = new Set([
  'role',
  'type',
  'id',
  'call_id',
  'tool_call_id',
  'tool_use_id',
  'signature',
  'encrypted_content',
  'thoughtSignature',
  'cache_control',
]);

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value === 'number' || typeof value === 'boolean') return [String(value)];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([name, part]) => (silent.has(name) ? [] : textsIn(part)));
}
