/** Reads one response of the Gemini API: a stream of events, each a piece of the one candidate that was asked for. */
import { type ExactJson, exactJsonText, isRecord, type Json } from '../protocol/json.ts';
import type { ToolCall } from '../protocol/messages.ts';
import { type Usage, unknownUsage } from '../protocol/usage.ts';
import { badCall, type CallFault, callsMax, tooManyCalls } from './call-fault.ts';
import { errorIn, type Fault } from './fault.ts';
import { ResponseObjects } from './response-objects.ts';
import { count, sum } from './token-count.ts';
import type { Finish, WireDelta, WireEnd, WireReader } from './wire.ts';

/**
 * The API pairs results with calls by their order and may leave ids out. Then the id is made of the response's own and the
 * place of the call; it is never sent.
 */
export const madeIdPrefix = 'gemini:';

interface Call {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

// Arguments come as an object, in which the fast reader would round a long integer.
const callArguments = /"args"\s*:\s*\{\s*"/;

/** Where it ends: with the event that has a reason to stop. Without one the answer was cut. */
export class GeminiReader implements WireReader {
  readonly #response = new ResponseObjects({
    exact: callArguments,
    take: (object) => this.#take(object),
  });
  /** As they go back: what the provider sent, with the place of each call where it stood. */
  readonly #parts: { [key: string]: Json }[] = [];
  readonly #calls: Call[] = [];
  #deltas: WireDelta[] = [];
  #text = '';
  #thoughts = '';
  #reason: string | null = null;
  #usage: Usage = unknownUsage;
  #model: string | null = null;
  #id: string | null = null;
  #fault: Fault | null = null;
  #unusable: CallFault | null = null;

  get finished(): boolean {
    const wrong = this.#fault !== null || this.#unusable !== null || this.#response.unreadable !== null;
    return wrong || (this.#reason !== null && this.#usage !== unknownUsage);
  }

  get began(): string | null {
    return this.#parts.some((part) => 'executableCode' in part) ? 'code_execution' : null;
  }

  push(chunk: Uint8Array): readonly WireDelta[] {
    this.#deltas = [];
    this.#response.push(chunk);
    return this.#deltas;
  }

  end(): WireEnd {
    this.#response.end();
    const usage = this.#usage;
    const wrong = this.#response.unreadable ?? this.#fault ?? this.#unusable;
    if (wrong !== null) return { kind: 'error', ...wrong, usage };
    if (this.#reason === null) {
      const message = 'The stream ended without a finish reason; the answer is not whole.';
      return { kind: 'cut', message, usage };
    }
    const calls: ToolCall[] = this.#calls.map(({ id, name, arguments: args }) => ({
      id,
      name,
      arguments: args,
    }));
    // Plain text alone needs no parts of its own to go back.
    const plain = this.#parts.every((part) =>
      Object.keys(part).every((key) => key === 'text' || key === 'call'),
    );
    return {
      kind: 'message',
      message: {
        role: 'assistant',
        text: this.#text,
        ...(plain ? {} : { reasoning: { text: this.#thoughts, opaque: { parts: this.#parts } } }),
        calls,
      },
      finish: finishOf(this.#reason, calls.length > 0),
      usage,
      modelSeen: this.#model,
      requestId: this.#id,
    };
  }

  #take(object: Record<string, unknown>): void {
    const error = errorIn(object);
    if (error !== undefined) {
      this.#fault ??= error;
      return;
    }
    if (typeof object.modelVersion === 'string' && object.modelVersion !== '')
      this.#model ??= object.modelVersion;
    if (typeof object.responseId === 'string' && object.responseId !== '') this.#id ??= object.responseId;
    if (isRecord(object.usageMetadata)) this.#usage = geminiUsage(object.usageMetadata);
    const blocked = isRecord(object.promptFeedback) ? object.promptFeedback.blockReason : undefined;
    if (typeof blocked === 'string') this.#reason ??= 'SAFETY';
    const [candidate] = Array.isArray(object.candidates) ? object.candidates : [];
    if (!isRecord(candidate)) return;
    const { content, finishReason } = candidate;
    const parts = isRecord(content) && Array.isArray(content.parts) ? content.parts : [];
    for (const part of parts) if (isRecord(part)) this.#part(part);
    if (typeof finishReason === 'string' && finishReason !== '') this.#reason = finishReason;
  }

  #part(part: Record<string, unknown>): void {
    const { functionCall, ...beside } = part;
    if (isRecord(functionCall)) {
      this.#call(functionCall, beside);
      return;
    }
    const text = typeof part.text === 'string' ? part.text : '';
    const thought = part.thought === true;
    if (thought) this.#thoughts += text;
    else this.#text += text;
    if (text !== '') this.#deltas.push({ type: thought ? 'reasoning' : 'text', text });
    const kept = part as { [key: string]: Json };
    const last = this.#parts.at(-1);
    // Pieces of one text become one part; a signature ends the part that it stands on.
    if (last !== undefined && joins(last, kept)) last.text = String(last.text) + text;
    else if (Object.keys(kept).some((key) => key !== 'text') || text !== '') this.#parts.push({ ...kept });
  }

  #call({ id, name, args }: Record<string, unknown>, beside: Record<string, unknown>): void {
    if (this.#calls.length === callsMax) this.#unusable ??= tooManyCalls;
    const at = this.#calls.length;
    if (typeof name !== 'string' || name === '') {
      this.#unusable ??= badCall(`Tool call ${at + 1} has no function name.`);
      return;
    }
    const given = typeof id === 'string' && id !== '' ? id : null;
    if (given === null && this.#id === null) {
      this.#unusable ??= badCall(
        `Tool call ${at + 1} (function ${JSON.stringify(name.slice(0, 80))}) has no id, and its response has none.`,
      );
      return;
    }
    this.#calls.push({
      id: given ?? `${madeIdPrefix}${this.#id}:${at + 1}`,
      name,
      arguments: isRecord(args) ? exactJsonText(args as ExactJson) : '{}',
    });
    this.#parts.push({ ...(beside as { [key: string]: Json }), call: at });
  }
}

function joins(last: { readonly [key: string]: Json }, next: { readonly [key: string]: Json }): boolean {
  const onlyText = (part: object) => Object.keys(part).every((key) => key === 'text' || key === 'thought');
  return (
    typeof last.text === 'string' &&
    typeof next.text === 'string' &&
    onlyText(last) &&
    onlyText(next) &&
    (last.thought === true) === (next.thought === true)
  );
}

const withheld = new Set([
  'SAFETY',
  'RECITATION',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'IMAGE_SAFETY',
  'LANGUAGE',
]);

function finishOf(reason: string, calls: boolean): Finish {
  if (reason === 'MAX_TOKENS') return 'length';
  if (withheld.has(reason)) return 'content-filter';
  if (reason !== 'STOP') return 'other';
  return calls ? 'tool-calls' : 'stop';
}

/** Cached tokens are part of the prompt's; those of thoughts stand beside the candidate's and belong to the answer. */
function geminiUsage(usage: Record<string, unknown>): Usage {
  const promptTokens = sum(count(usage.promptTokenCount), count(usage.toolUsePromptTokenCount) ?? 0);
  const total = count(usage.totalTokenCount);
  const said = count(usage.candidatesTokenCount);
  const reasoningTokens = count(usage.thoughtsTokenCount);
  const rest = total === null || promptTokens === null ? null : Math.max(0, total - promptTokens);
  const completionTokens = said === null ? rest : said + (reasoningTokens ?? 0);
  return {
    modelCalls: 1,
    promptTokens,
    cachedTokens: count(usage.cachedContentTokenCount),
    cacheWriteTokens: null,
    completionTokens,
    reasoningTokens,
    totalTokens: total ?? sum(promptTokens, completionTokens),
    costUsd: null,
    costSource: 'unknown',
  };
}
