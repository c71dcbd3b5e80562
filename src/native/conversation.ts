/** The growing conversation of an open session: each message's exact text, serialised and digested once. */
import { blobOf, sha256 } from '../digest.ts';
import type { Host, Session } from '../harness.ts';
import type { ToolMessage } from '../protocol/messages.ts';
import { NativeError } from './errors.ts';
import type { Model } from './model/model.ts';
import { failureText } from './tool/result-text.ts';
import type { Transcript } from './transcript.ts';

export interface Conversation {
  /** The exact JSON texts, in order. */
  readonly texts: string[];
  readonly digests: string[];
  /** How many of them the newest request sent. */
  requested: number;
  /** Every provider id seen in the session. */
  readonly callIds: Set<string>;
  /** Warnings of the model's SDK that the record has. */
  readonly warned: Set<string>;
}

const lostText = failureText(
  'tool.outcome-unknown',
  'The run that made this call ended before its result was recorded. It may have happened. Do not repeat it unseen.',
  4096,
).text;

/** A message's exact text with its digest. */
export interface Written {
  readonly digest: string;
  readonly bytes: string;
}

/** Adds a message that was digested before. */
export function add(conversation: Conversation, { digest, bytes }: Written): void {
  conversation.texts.push(bytes);
  conversation.digests.push(digest);
}

/** Appends a message that is not recorded yet and returns its blob. */
export function append(conversation: Conversation, text: string): Written {
  const blob = blobOf(text);
  add(conversation, blob);
  return blob;
}

/**
 * Restores the conversation of a session from its transcript, byte for byte, and adds the task where it is not in yet,
 * before it the message `system` where one is given and the session has not had it.
 * Throws `native.message-lost` if a recorded message is gone or altered: another text must never take its place.
 */
export async function restore(
  transcript: Transcript,
  session: Session,
  host: Host,
  model: Model,
  task: string,
  system?: Written,
): Promise<Conversation> {
  const texts = await Promise.all(
    transcript.messages.map((part) =>
      typeof part === 'string'
        ? recallText(host, part)
        : toolMessage(model, part.lost.id, part.lost.name, lostText),
    ),
  );
  const conversation: Conversation = {
    texts,
    digests: transcript.messages.map((part, i) => (typeof part === 'string' ? part : sha256(texts[i] ?? ''))),
    requested: transcript.requested,
    callIds: new Set(transcript.callIds),
    warned: new Set(),
  };
  if (transcript.taskSent) return conversation;
  // A session's first message is the composed text, exactly and alone; the task never shares a message with it.
  const { text, stablePrefixBytes } = session.composition;
  if (texts.length === 0 && text !== '') {
    append(conversation, model.message({ role: 'system', text, stablePrefixBytes }));
  }
  if (system !== undefined && !conversation.digests.includes(system.digest)) add(conversation, system);
  append(conversation, model.message({ role: 'user', text: task }));
  return conversation;
}

/** A text that this session recorded earlier. Throws `native.message-lost`. */
export async function recallText(host: Host, digest: string): Promise<string> {
  const bytes = await host.recall(digest);
  if (bytes === undefined || sha256(bytes) !== digest) {
    throw new NativeError(
      'native.message-lost',
      `The ledger ${bytes === undefined ? 'has no' : 'has an altered'} message ${digest.slice(0, 12)}, which this session sent.`,
      {
        next: 'Start a new session: what the model has read cannot be replayed byte for byte.',
        details: { digest },
      },
    );
  }
  return Buffer.from(bytes).toString('utf8');
}

/** The result message of a call, in the order of its batch. */
export function toolMessage(model: Model, callId: string, name: string, text: string): string {
  const message: ToolMessage = { role: 'tool', callId, name, text };
  return model.message(message);
}
