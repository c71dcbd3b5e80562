/** Reads one response of OpenAI Responses: a stream of events, or the one JSON object of a server that does not stream. */
import { isRecord, type Json } from '../protocol/json.ts';
import type { Reasoning, ToolCall } from '../protocol/messages.ts';
import { type Usage, unknownUsage } from '../protocol/usage.ts';
import { badCall, type CallFault, callsMax, tooManyCalls } from './call-fault.ts';
import { errorIn, type Fault } from './fault.ts';
import { ResponseObjects } from './response-objects.ts';
import { count, sum } from './token-count.ts';
import type { Finish, WireDelta, WireEnd, WireReader } from './wire.ts';

/** One item of the answer as it grows. */
interface Item {
  type: string;
  /** What the provider sent of it at its end; until then what it sent at its beginning. */
  source: Record<string, unknown>;
  text: string;
  arguments: string;
}

/** Calls that the provider makes itself; those of our tools have other types. */
const providerCalls: ReadonlySet<string> = new Set([
  'web_search_call',
  'file_search_call',
  'code_interpreter_call',
  'image_generation_call',
  'mcp_call',
]);

const ends = new Set(['response.completed', 'response.incomplete', 'response.failed']);

/** Where it ends: with the event that holds the whole response. Without it the answer was cut. */
export class ResponsesReader implements WireReader {
  readonly #response = new ResponseObjects({
    exact: /(?!)/,
    take: (object, whole) => (whole ? this.#whole(object) : this.#event(object)),
  });
  readonly #items = new Map<number, Item>();
  #deltas: WireDelta[] = [];
  #ended = false;
  #status: string | null = null;
  #reason: string | null = null;
  #usage: Usage = unknownUsage;
  #model: string | null = null;
  #id: string | null = null;
  #fault: Fault | null = null;
  #tooMany = false;

  get finished(): boolean {
    return this.#ended || this.#fault !== null || this.#response.unreadable !== null || this.#tooMany;
  }

  get began(): string | null {
    const item = [...this.#items.values()].find(({ type }) => providerCalls.has(type));
    if (item === undefined) return null;
    const { name } = item.source;
    return typeof name === 'string' && name !== '' ? name : item.type.replace(/_call$/, '');
  }

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
    if (this.#tooMany) return { kind: 'error', ...tooManyCalls, usage };
    if (!this.#ended) {
      const message = 'The stream ended without the event that ends a response; the answer is not whole.';
      return { kind: 'cut', message, usage };
    }
    const made = this.#calls();
    if ('code' in made) return { kind: 'error', ...made, usage };
    const reasoning = this.#reasoning();
    return {
      kind: 'message',
      message: {
        role: 'assistant',
        text: this.#of('message')
          .map(({ text }) => text)
          .join(''),
        ...(reasoning === undefined ? {} : { reasoning }),
        calls: made.calls,
      },
      finish: this.#finish(made.calls.length > 0),
      usage,
      modelSeen: this.#model,
      requestId: this.#id,
    };
  }

  #whole(response: Record<string, unknown>): void {
    const error = errorIn(response);
    if (error !== undefined && response.output === undefined) this.#fault ??= error;
    else this.#end(response);
  }

  #event(event: Record<string, unknown>): void {
    if (this.#ended) return;
    const { type } = event;
    if (type === 'error') this.#fault ??= errorIn({ error: event.error ?? event }) ?? nameless;
    else if (typeof type !== 'string') this.#fault ??= errorIn(event) ?? null;
    else if (ends.has(type)) this.#end(event.response);
    else if (type === 'response.created' || type === 'response.in_progress') this.#head(event.response);
    else this.#part(type, event);
  }

  #part(type: string, event: Record<string, unknown>): void {
    const index = typeof event.output_index === 'number' ? event.output_index : 0;
    const delta = typeof event.delta === 'string' ? event.delta : '';
    switch (type) {
      case 'response.output_item.added':
        this.#open(index, event.item);
        return;
      case 'response.output_item.done':
        this.#close(index, event.item);
        return;
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        this.#add(index, 'message', 'text', delta);
        return;
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        this.#add(index, 'reasoning', 'reasoning', delta);
        return;
      case 'response.function_call_arguments.delta': {
        const item = this.#items.get(index);
        if (item !== undefined) item.arguments += delta;
      }
    }
  }

  #head(response: unknown): void {
    if (!isRecord(response)) return;
    if (typeof response.model === 'string' && response.model !== '') this.#model ??= response.model;
    if (typeof response.id === 'string' && response.id !== '') this.#id ??= response.id;
    if (isRecord(response.usage)) this.#usage = responsesUsage(response.usage);
  }

  #end(response: unknown): void {
    this.#head(response);
    const { status, output, incomplete_details: details } = isRecord(response) ? response : {};
    this.#status = typeof status === 'string' ? status : null;
    this.#reason = isRecord(details) && typeof details.reason === 'string' ? details.reason : null;
    // The end repeats every item whole; a server that leaves them out has sent them before.
    if (Array.isArray(output))
      for (const [index, item] of output.entries()) if (!this.#items.has(index)) this.#close(index, item);
    this.#ended = true;
    if (this.#status !== 'failed' && this.#status !== 'cancelled') return;
    this.#fault ??= errorIn(response) ?? nameless;
  }

  #open(index: number, item: unknown): Item | undefined {
    if (!isRecord(item) || typeof item.type !== 'string') return undefined;
    if (this.#items.size === callsMax * 2) {
      this.#tooMany = true;
      return undefined;
    }
    const opened = { type: item.type, source: item, text: '', arguments: '' };
    this.#items.set(index, opened);
    return opened;
  }

  #add(index: number, type: string, show: WireDelta['type'], text: string): void {
    const item = this.#items.get(index) ?? this.#open(index, { type });
    if (item === undefined || text === '') return;
    item.text += text;
    this.#deltas.push({ type: show, text });
  }

  /** The item as it is in the end counts, whatever its pieces were. */
  #close(index: number, item: unknown): void {
    const open = this.#items.get(index) ?? this.#open(index, item);
    if (open === undefined || !isRecord(item)) return;
    open.source = item;
    if (typeof item.arguments === 'string') open.arguments = item.arguments;
    const text =
      open.type === 'reasoning'
        ? partsText(item.summary) || partsText(item.content)
        : partsText(item.content);
    if (text === '' || text === open.text) return;
    // Nothing of it had been shown where a server sends whole items only.
    if (open.text === '') this.#deltas.push({ type: open.type === 'reasoning' ? 'reasoning' : 'text', text });
    open.text = text;
  }

  #of(type: string): readonly Item[] {
    return [...this.#items]
      .sort(([a], [b]) => a - b)
      .map(([, item]) => item)
      .filter((item) => item.type === type);
  }

  #calls(): { readonly calls: readonly ToolCall[] } | CallFault {
    const items = this.#of('function_call');
    if (items.length > callsMax) return tooManyCalls;
    const calls: ToolCall[] = [];
    for (const [at, { source, arguments: args }] of items.entries()) {
      const { call_id: id, name } = source;
      const where = `Tool call ${at + 1} of ${items.length}`;
      if (typeof name !== 'string' || name === '') return badCall(`${where} has no function name.`);
      if (typeof id !== 'string' || id === '')
        return badCall(`${where} (function ${JSON.stringify(name.slice(0, 80))}) has no call_id.`);
      calls.push({ id, name, arguments: args });
    }
    return { calls };
  }

  #reasoning(): Reasoning | undefined {
    const items = this.#of('reasoning');
    if (items.length === 0) return undefined;
    const text = items.map((item) => item.text).join('\n\n');
    return { text, opaque: items.map(({ source }) => source as { [key: string]: Json }) };
  }

  #finish(calls: boolean): Finish {
    if (this.#status === 'incomplete') {
      if (this.#reason === 'max_output_tokens') return 'length';
      return this.#reason === 'content_filter' ? 'content-filter' : 'other';
    }
    return calls ? 'tool-calls' : 'stop';
  }
}

const nameless: Fault = {
  code: null,
  message: 'The provider ended the answer with an error it did not name.',
};

function partsText(parts: unknown): string {
  if (!Array.isArray(parts)) return '';
  return parts
    .map((part) => {
      if (!isRecord(part)) return '';
      const text = part.text ?? part.refusal;
      return typeof text === 'string' ? text : '';
    })
    .join('');
}

/** Cached tokens are part of `input_tokens`, reasoning tokens part of `output_tokens`. */
function responsesUsage(usage: Record<string, unknown>): Usage {
  const input = isRecord(usage.input_tokens_details) ? usage.input_tokens_details : {};
  const output = isRecord(usage.output_tokens_details) ? usage.output_tokens_details : {};
  const promptTokens = count(usage.input_tokens);
  const completionTokens = count(usage.output_tokens);
  return {
    modelCalls: 1,
    promptTokens,
    cachedTokens: count(input.cached_tokens),
    cacheWriteTokens: null,
    completionTokens,
    reasoningTokens: count(output.reasoning_tokens),
    totalTokens: count(usage.total_tokens) ?? sum(promptTokens, completionTokens),
    costUsd: null,
    costSource: 'unknown',
  };
}
