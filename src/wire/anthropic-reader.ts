/** Reads one response of Anthropic Messages: a stream of events, or the one JSON object of a server that does not stream. */
import { isRecord } from '../protocol/json.ts';
import { ContentBlocks } from './anthropic-blocks.ts';
import { UsageReports } from './anthropic-usage.ts';
import { errorIn, isPassing } from './fault.ts';
import { ResponseObjects } from './response-objects.ts';
import type { Finish, WireDelta, WireEnd, WireReader } from './wire.ts';

// A call's input may stand whole in its block, where the fast reader would round a long integer.
const wholeInput = /"input"\s*:\s*\{\s*"/;

/**
 * Where it ends: `message_stop` is the end mark. A stream that ends politely after a stop reason is whole too, because
 * the reason comes after all content. Without either the answer was cut.
 */
export class MessagesReader implements WireReader {
  readonly #response = new ResponseObjects({
    exact: wholeInput,
    take: (object, whole) => this.#take(object, whole),
  });
  readonly #blocks = new ContentBlocks();
  readonly #usage = new UsageReports();
  #deltas: WireDelta[] = [];
  #begun = false;
  #stopped = false;
  #reason: string | null = null;
  #model: string | null = null;
  #id: string | null = null;
  #fault: { readonly code: string | null; readonly message: string; readonly passing: boolean } | null = null;

  get finished(): boolean {
    return this.#stopped || this.#fault !== null || this.#response.unreadable !== null;
  }

  get began(): string | null {
    return this.#blocks.began;
  }

  push(chunk: Uint8Array): readonly WireDelta[] {
    this.#deltas = [];
    this.#response.push(chunk);
    return this.#deltas;
  }

  end(): WireEnd {
    this.#response.end();
    const usage = this.#usage.usage();
    const wrong = this.#response.unreadable ?? this.#fault;
    if (wrong !== null) return { kind: 'error', ...wrong, usage };
    if (!this.#begun && this.#blocks.empty)
      return { kind: 'cut', message: 'The response ended without an answer in it.', usage };
    if (!this.#stopped && this.#reason === null) {
      const message =
        'The stream ended without a stop reason and without message_stop; the answer is not whole.';
      return { kind: 'cut', message, usage };
    }
    const made = this.#blocks.calls();
    if ('code' in made) return { kind: 'error', ...made, usage };
    const reasoning = this.#blocks.reasoning();
    return {
      kind: 'message',
      message: {
        role: 'assistant',
        text: this.#blocks.text(),
        ...(reasoning === undefined ? {} : { reasoning }),
        calls: made.calls,
      },
      finish: finishOf(this.#reason, made.calls.length > 0),
      usage,
      modelSeen: this.#model,
      requestId: this.#id,
    };
  }

  #take(object: Record<string, unknown>, whole: boolean): void {
    if (this.#stopped) return;
    const error = errorIn(object);
    if (error !== undefined) {
      const passing = isPassing(error.code) && this.#blocks.empty;
      this.#fault ??= { ...error, passing };
      return;
    }
    if (whole) {
      this.#message(object, true);
      return;
    }
    switch (object.type) {
      case 'message_start':
        this.#message(object.message, false);
        return;
      case 'content_block_start':
        this.#show(this.#blocks.start(object.index, object.content_block));
        return;
      case 'content_block_delta':
        this.#show(this.#blocks.add(object.index, object.delta));
        return;
      case 'message_delta':
        this.#usage.add(object.usage, true);
        if (isRecord(object.delta)) this.#stop(object.delta.stop_reason);
        return;
      case 'message_stop':
        this.#stopped = true;
    }
  }

  #message(message: unknown, whole: boolean): void {
    if (!isRecord(message)) return;
    if (typeof message.model === 'string' && message.model !== '') this.#model ??= message.model;
    if (typeof message.id === 'string' && message.id !== '') this.#id ??= message.id;
    this.#usage.add(message.usage, whole);
    if (!whole) this.#begun = true;
    else if (Array.isArray(message.content)) {
      this.#begun = true;
      this.#stopped = true;
      for (const [index, block] of message.content.entries()) this.#blocks.start(index, block);
    }
    this.#stop(message.stop_reason);
  }

  #stop(reason: unknown): void {
    if (typeof reason === 'string' && reason !== '') this.#reason = reason;
  }

  #show(delta: WireDelta | undefined): void {
    if (delta !== undefined) this.#deltas.push(delta);
  }
}

function finishOf(reason: string | null, calls: boolean): Finish {
  switch (reason) {
    case 'max_tokens':
    case 'model_context_window_exceeded':
      return 'length';
    case 'refusal':
      return 'content-filter';
    case 'tool_use':
      return 'tool-calls';
    case 'end_turn':
    case 'stop_sequence':
      return calls ? 'tool-calls' : 'stop';
    default:
      return 'other';
  }
}
