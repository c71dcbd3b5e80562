/** What a recorded answer says of itself, read by the wire of its protocol: what it used, and which model gave it. */
import { noUsage, type Usage, unknownUsage } from '../../protocol/usage.ts';
import { anthropic } from '../../wire/anthropic.ts';
import { gemini } from '../../wire/gemini.ts';
import { openaiChat } from '../../wire/openai-chat.ts';
import { openaiResponses } from '../../wire/openai-responses.ts';
import type { WireReader } from '../../wire/wire.ts';
import { type Exchange, headerOf } from '../recorder/exchange.ts';
import type { Protocol } from '../recorder/model-request.ts';
import { plainBytes } from '../recorder/plain-bytes.ts';

const readers: Readonly<Record<Protocol, () => WireReader>> = {
  anthropic: () => anthropic().reader(),
  'openai-responses': () => openaiResponses().reader(),
  'openai-chat': () => openaiChat().reader(),
  gemini: () => gemini('any').reader(),
};

/** A request that its provider turned away used nothing. */
export const usedNothing: Usage = { ...noUsage, modelCalls: 1 };

export interface AnswerSaid {
  readonly usage: Usage;
  /** The name under which the model answered; null where the answer names none, or cannot be read. */
  readonly modelSeen: string | null;
  /** What the provider calls the state of its service; left out where it says nothing of it. */
  readonly fingerprint?: string;
}

/**
 * What one request that was sent on used, and who answered. It is unknown wherever the answer is not whole, cannot be read, or says
 * nothing of it; a provider that refuses a request (a status from 400 to 499) has done no work for it.
 */
export function answerSaid(protocol: Protocol, { response, fault }: Exchange): AnswerSaid {
  const nameless = (usage: Usage): AnswerSaid => ({ usage, modelSeen: null });
  if (response === null) return nameless(unknownUsage);
  const { status, headers, body } = response;
  if (status >= 400 && status < 500) return nameless(usedNothing);
  if (fault !== null || !body.complete || body.bytesSeen > body.bytes.length) return nameless(unknownUsage);
  try {
    const reader = readers[protocol]();
    reader.push(plainBytes(body.bytes, headerOf(headers, 'content-encoding')));
    const end = reader.end();
    // What was reported before the cut is of a part of the answer.
    if (end.kind === 'cut') return nameless(unknownUsage);
    const usage = { ...end.usage, modelCalls: 1 };
    if (end.kind !== 'message') return nameless(usage);
    const { modelSeen, fingerprint } = end;
    return { usage, modelSeen, ...(fingerprint === undefined ? {} : { fingerprint }) };
  } catch {
    return nameless(unknownUsage);
  }
}
