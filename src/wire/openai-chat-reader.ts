/** Reads one response of OpenAI Chat Completions: a stream of events, or the one JSON object of a server that does not stream. */
import { isRecord, parseExactJson } from '../protocol/json.ts';
import { unknownUsage } from '../protocol/usage.ts';
import { WireError } from './errors.ts';
import { CallParts } from './openai-calls.ts';
import { excerpt, openaiErrorIn } from './openai-fault.ts';
import { ReasoningParts } from './openai-reasoning.ts';
import { openaiUsage } from './openai-usage.ts';
import { type SseEvent, sseReader } from './sse.ts';
import type { Finish, WireDelta, WireEnd, WireReader } from './wire.ts';

const headBytesMax = 512;

/**
 * Where it ends: `[DONE]` is the end mark. A stream that ends politely with a finish reason but without the mark is
 * whole too, because the reason is sent after all content and several servers leave the mark out; what may be missing
 * then is the usage, which is unknown. Without either the answer was cut.
 */
export class ChatReader implements WireReader {
  readonly #sse = sseReader();
  readonly #calls = new CallParts();
  readonly #reasoning = new ReasoningParts();
  readonly #take = (event: SseEvent): void => this.#event(event);
  #shape: 'unseen' | 'events' | 'json' = 'unseen';
  #json: Uint8Array[] = [];
  /** The first bytes, kept until an event was read: what the response is if it is no event stream. */
  readonly #head: Uint8Array[] = [];
  #headBytes = 0;
  #deltas: WireDelta[] = [];
  #text = '';
  #finish: string | null = null;
  #done = false;
  #events = 0;
  #answered = false;
  #ending = false;
  #usage = unknownUsage;
  #model: string | null = null;
  #id: string | null = null;
  /** What the provider said went wrong; its usage may still follow. */
  #fault: { readonly code: string | null; readonly message: string } | null = null;
  /** What made the bytes unreadable; nothing behind it counts. */
  #broken: { readonly code: string; readonly message: string } | null = null;

  get finished(): boolean {
    return this.#done || this.#fault !== null || this.#broken !== null;
  }

  push(chunk: Uint8Array): readonly WireDelta[] {
    if (this.#done || this.#broken !== null) return [];
    if (this.#shape === 'unseen') this.#look(chunk);
    if (this.#shape === 'json') this.#json.push(chunk);
    if (this.#shape !== 'events') return [];
    if (this.#events === 0 && this.#headBytes < headBytesMax) {
      this.#head.push(chunk);
      this.#headBytes += chunk.length;
    }
    this.#deltas = [];
    this.#guard(() => this.#sse.push(chunk, this.#take));
    return this.#deltas;
  }

  end(): WireEnd {
    this.#ending = true;
    if (this.#shape === 'json') this.#whole(Buffer.concat(this.#json).toString('utf8'));
    else if (this.#broken === null) this.#guard(() => this.#sse.end(this.#take));
    const usage = this.#usage;
    const wrong = this.#broken ?? this.#fault;
    if (wrong !== null) return { kind: 'error', ...wrong, usage };
    const head = this.#noEvents();
    if (head !== null) {
      const message = `Expected an event stream or a JSON object; the response begins with ${head}.`;
      return { kind: 'error', code: 'wire.bad-response', message, usage };
    }
    if (!this.#answered)
      return { kind: 'cut', message: 'The response ended without an answer in it.', usage };
    if (!this.#done && this.#finish === null) {
      const message = 'The stream ended without a finish reason and without [DONE]; the answer is not whole.';
      return { kind: 'cut', message, usage };
    }
    const made = this.#calls.finish();
    if ('problem' in made) {
      return { kind: 'error', code: 'wire.bad-response', message: made.problem, usage };
    }
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
      requestId: this.#id,
    };
  }

  // An event stream never begins with a brace and a JSON object always does, so the content type need not be believed.
  #look(chunk: Uint8Array): void {
    const first = chunk.find((byte) => byte > 0x20 && byte !== 0xef && byte !== 0xbb && byte !== 0xbf);
    if (first === undefined) return;
    this.#shape = first === 0x7b ? 'json' : 'events';
  }

  /** The beginning of a response that has no event and no line of an event stream at its start; else null. */
  #noEvents(): string | null {
    if (this.#shape !== 'events' || this.#events > 0) return null;
    const head = Buffer.concat(this.#head).subarray(0, headBytesMax).toString('utf8');
    const text = head.replace(/^\ufeff/, '').trimStart();
    return /^(:|data|event|id|retry)/.test(text) ? null : JSON.stringify(excerpt(text));
  }

  #guard(read: () => void): void {
    try {
      read();
    } catch (thrown) {
      if (!(thrown instanceof WireError)) throw thrown;
      this.#broken = { code: thrown.code, message: thrown.message };
    }
  }

  #event(event: SseEvent): void {
    this.#events += 1;
    if (this.finished && this.#fault === null) return;
    const data = event.data.trim();
    if (data === '') return;
    if (data === '[DONE]') {
      this.#done = true;
      return;
    }
    const chunk = parse(data);
    if (!isRecord(chunk)) {
      // What stands after the last blank line of a stream that was cut is only a part of an event.
      if (this.#ending) return;
      this.#broken = {
        code: 'wire.bad-response',
        message: `Expected a JSON object in each event of the stream; found ${JSON.stringify(excerpt(data))}.`,
      };
      return;
    }
    const named = event.event === 'error' && chunk.error === undefined ? { error: chunk } : chunk;
    this.#chunk(named, 'delta');
  }

  #whole(text: string): void {
    const body = parse(text.replace(/^\ufeff/, ''));
    if (isRecord(body)) {
      this.#chunk(body, 'message');
      this.#done = true;
      return;
    }
    this.#broken = {
      code: 'wire.bad-response',
      message: `Expected one JSON object as the response; found ${JSON.stringify(excerpt(text))}.`,
    };
  }

  #chunk(chunk: Record<string, unknown>, field: 'delta' | 'message'): void {
    const error = openaiErrorIn(chunk);
    if (error !== undefined) this.#fault ??= error;
    if (isRecord(chunk.usage)) this.#usage = openaiUsage(chunk.usage);
    if (typeof chunk.model === 'string' && chunk.model !== '') this.#model ??= chunk.model;
    if (typeof chunk.id === 'string' && chunk.id !== '') this.#id ??= chunk.id;
    if (!Array.isArray(chunk.choices)) return;
    for (const choice of chunk.choices) {
      // Only one answer was asked for.
      if (!isRecord(choice) || (choice.index ?? 0) !== 0) continue;
      this.#answered = true;
      const choiceError = openaiErrorIn(choice);
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

// Several servers say `stop` although they call tools.
function finishOf(reason: string | null, calls: boolean): Finish {
  if (reason === 'length') return 'length';
  if (reason === 'content_filter') return 'content-filter';
  if (reason === 'tool_calls' || (reason === 'stop' && calls)) return 'tool-calls';
  return reason === 'stop' ? 'stop' : 'other';
}

// Arguments sent as an object, against the protocol, may hold integers that the fast reader would round.
const objectArguments = /"arguments"\s*:\s*\{/;

function parse(text: string): unknown {
  try {
    return objectArguments.test(text) ? parseExactJson(text) : JSON.parse(text);
  } catch {
    return undefined;
  }
}
