/** Reads a response as JSON objects: the events of a stream, or the one object of a server that does not stream. */
import { isRecord, parseExactJson } from '../protocol/json.ts';
import { WireError } from './errors.ts';
import { excerpt } from './fault.ts';
import { type SseEvent, sseReader } from './sse.ts';

export interface ResponseOptions {
  /** Data that ends a stream without being JSON, for instance `[DONE]`. */
  readonly endMark?: string;
  /** Texts in which a double could round an integer that counts; all others are read the fast way. */
  readonly exact: RegExp;
  /** Gets each object in order; `event` is the name of its event, `whole` is true for the object of a server that does not stream. */
  take(object: Record<string, unknown>, whole: boolean, event: string): void;
}

/** What made the bytes unreadable. */
export interface Unreadable {
  readonly code: string;
  readonly message: string;
}

const headBytesMax = 512;

export class ResponseObjects {
  readonly #options: ResponseOptions;
  readonly #sse = sseReader();
  readonly #takeEvent = (event: SseEvent): void => this.#event(event);
  #shape: 'unseen' | 'events' | 'json' = 'unseen';
  #json: Uint8Array[] = [];
  /** The first bytes, kept until an event was read: what the response is if it is no event stream. */
  readonly #head: Uint8Array[] = [];
  #headBytes = 0;
  #events = 0;
  #ending = false;
  #marked = false;
  #unreadable: Unreadable | null = null;

  constructor(options: ResponseOptions) {
    this.#options = options;
  }

  /** True once the end mark, or all of the one object, was read; what comes after it is passed over. */
  get marked(): boolean {
    return this.#marked;
  }

  /** Nothing behind it is read. */
  get unreadable(): Unreadable | null {
    return this.#unreadable;
  }

  push(chunk: Uint8Array): void {
    if (this.#marked || this.#unreadable !== null) return;
    if (this.#shape === 'unseen') this.#look(chunk);
    if (this.#shape === 'json') this.#json.push(chunk);
    if (this.#shape !== 'events') return;
    if (this.#events === 0 && this.#headBytes < headBytesMax) {
      this.#head.push(chunk);
      this.#headBytes += chunk.length;
    }
    this.#guard(() => this.#sse.push(chunk, this.#takeEvent));
  }

  /** Takes what is left. */
  end(): void {
    this.#ending = true;
    if (this.#shape === 'json') this.#whole(Buffer.concat(this.#json).toString('utf8'));
    else if (this.#unreadable === null) this.#guard(() => this.#sse.end(this.#takeEvent));
    const head = this.#noEvents();
    if (head === null) return;
    this.#unreadable ??= {
      code: 'wire.bad-response',
      message: `Expected an event stream or a JSON object; the response begins with ${head}.`,
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
      this.#unreadable = { code: thrown.code, message: thrown.message };
    }
  }

  #event({ event, data }: SseEvent): void {
    this.#events += 1;
    if (this.#marked || this.#unreadable !== null || data === '') return;
    const text = data.trim();
    // Looked at first: to find out by parsing that it is no JSON costs more than all else of a short answer.
    if (text === this.#options.endMark) {
      this.#marked = true;
      return;
    }
    const object = this.#parse(data);
    if (isRecord(object)) {
      this.#options.take(object, false, event);
      return;
    }
    // What stands after the last blank line of a stream that was cut is only a part of an event.
    if (text !== '' && !this.#ending) {
      this.#unreadable = {
        code: 'wire.bad-response',
        message: `Expected a JSON object in each event of the stream; found ${JSON.stringify(excerpt(text))}.`,
      };
    }
  }

  #whole(text: string): void {
    const object = this.#parse(text.replace(/^\ufeff/, ''));
    if (isRecord(object)) {
      this.#options.take(object, true, '');
      this.#marked = true;
      return;
    }
    this.#unreadable = {
      code: 'wire.bad-response',
      message: `Expected one JSON object as the response; found ${JSON.stringify(excerpt(text))}.`,
    };
  }

  #parse(text: string): unknown {
    try {
      return this.#options.exact.test(text) ? parseExactJson(text) : JSON.parse(text);
    } catch {
      return undefined;
    }
  }
}
