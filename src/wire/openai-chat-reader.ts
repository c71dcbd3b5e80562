/** Reads one response of OpenAI Chat Completions: a stream of events, or the one JSON object of a server that does not stream. */
import { isRecord } from '../protocol/json.ts';
import { unknownUsage } from '../protocol/usage.ts';
import { tooManyCalls } from './call-fault.ts';
import { errorIn } from './fault.ts';
import { CallParts } from './openai-calls.ts';
import { ReasoningParts } from './openai-reasoning.ts';
import { openaiUsage } from './openai-usage.ts';
import { ResponseObjects } from './response-objects.ts';
import type { Finish, WireDelta, WireEnd, WireReader } from './wire.ts';

// Arguments sent as an object, against the protocol, may hold integers that the fast reader would round.
const objectArguments = /"arguments"\s*:\s*\{/;

/**
 * Where it ends: `[DONE]` is the end mark. A stream that ends politely with a finish reason but without the mark is
 * whole too, because the reason is sent after all content and several servers leave the mark out; what may be missing
 * then is the usage, which is unknown. Without either the answer was cut.
 */
export class ChatReader implements WireReader {
  readonly #response = new ResponseObjects({
    endMark: '[DONE]',
    exact: objectArguments,
    take: (object, whole, event) => this.#object(object, whole, event),
  });
  readonly #calls = new CallParts();
  readonly #reasoning = new ReasoningParts();
  #deltas: WireDelta[] = [];
  #text = '';
  #finish: string | null = null;
  #answered = false;
  #usage = unknownUsage;
  #model: string | null = null;
  #id: string | null = null;
  #fingerprint: string | undefined;
  /** What the provider said went wrong; its usage may still follow. */
  #fault: { readonly code: string | null; readonly message: string } | null = null;

  get finished(): boolean {
    const unusable = this.#fault !== null || this.#response.unreadable !== null || this.#calls.tooMany;
    return this.#response.marked || unusable;
  }

  // The protocol has no word for a tool that runs behind it.
  readonly began = null;

  push(chunk: Uint8Array): readonly WireDelta[] {
    this.#deltas = [];
    this.#response.push(chunk);
    return this.#deltas;
  }

  end(): WireEnd {
    this.#response.end();
    const usage = this.#usage;
    const wrong = this.#response.unreadable ?? this.#fault;
    if (wrong !== null) return { kind: 'error', ...wrong, usage };
    if (this.#calls.tooMany) return { kind: 'error', ...tooManyCalls, usage };
    if (!this.#answered)
      return { kind: 'cut', message: 'The response ended without an answer in it.', usage };
    if (!this.#response.marked && this.#finish === null) {
      const message = 'The stream ended without a finish reason and without [DONE]; the answer is not whole.';
      return { kind: 'cut', message, usage };
    }
    const made = this.#calls.finish();
    if ('code' in made) return { kind: 'error', ...made, usage };
    const reasoning = this.#reasoning.finish();
    return {
      kind: 'message',
      message: {
        role: 'assistant',
        text: this.#text,
        ...(reasoning === undefined ? {} : { reasoning }),
        calls: made.calls,
      },
      finish: finishOf(this.#finish, made.calls.length > 0),
      usage,
      modelSeen: this.#model,
      ...(this.#fingerprint === undefined ? {} : { fingerprint: this.#fingerprint }),
      requestId: this.#id,
    };
  }

  #object(object: Record<string, unknown>, whole: boolean, event: string): void {
    const chunk = event === 'error' && object.error === undefined ? { error: object } : object;
    this.#chunk(chunk, whole ? 'message' : 'delta');
  }

  #chunk(chunk: Record<string, unknown>, field: 'delta' | 'message'): void {
    const error = errorIn(chunk);
    if (error !== undefined) this.#fault ??= error;
    if (isRecord(chunk.usage)) this.#usage = openaiUsage(chunk.usage);
    if (typeof chunk.model === 'string' && chunk.model !== '') this.#model ??= chunk.model;
    if (typeof chunk.id === 'string' && chunk.id !== '') this.#id ??= chunk.id;
    const { system_fingerprint: fingerprint } = chunk;
    if (typeof fingerprint === 'string' && fingerprint !== '') this.#fingerprint ??= fingerprint;
    if (!Array.isArray(chunk.choices)) return;
    for (const choice of chunk.choices) {
      // Only one answer was asked for.
      if (!isRecord(choice) || (choice.index ?? 0) !== 0) continue;
      this.#answered = true;
      const choiceError = errorIn(choice);
      if (choiceError !== undefined) this.#fault ??= choiceError;
      const said = choice[field];
      if (isRecord(said)) this.#said(said, field === 'message');
      if (typeof choice.finish_reason === 'string' && choice.finish_reason !== '') {
        this.#finish = choice.finish_reason;
      }
    }
    if (this.#finish === 'error') {
      this.#fault ??= { code: null, message: 'The provider ended the answer with an error it did not name.' };
    }
  }

  #said(said: Record<string, unknown>, whole: boolean): void {
    this.#show('reasoning', this.#reasoning.add(said, whole));
    const text = contentText(said.content) + (typeof said.refusal === 'string' ? said.refusal : '');
    this.#text += text;
    this.#show('text', text);
    if (!Array.isArray(said.tool_calls)) return;
    for (const [at, part] of said.tool_calls.entries()) {
      this.#calls.add(whole && isRecord(part) ? { ...part, index: at } : part);
    }
  }

  #show(type: WireDelta['type'], text: string): void {
    if (text !== '') this.#deltas.push({ type, text });
  }
}

function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part) => (isRecord(part) && typeof part.text === 'string' ? part.text : '')).join('');
}

// Gateways hand on the words of the provider behind them.
const lengthReasons = new Set(['length', 'max_tokens', 'max_output_tokens', 'model_length']);

// Several servers say `stop` although they call tools.
function finishOf(reason: string | null, calls: boolean): Finish {
  if (reason !== null && lengthReasons.has(reason.toLowerCase())) return 'length';
  if (reason === 'content_filter') return 'content-filter';
  if (reason === 'tool_calls' || (reason === 'stop' && calls)) return 'tool-calls';
  return reason === 'stop' ? 'stop' : 'other';
}
