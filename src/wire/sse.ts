/** Reads server-sent events from bytes that arrive in chunks of any size, in time linear in the bytes. */
import { WireError } from './errors.ts';

export interface SseEvent {
  /** The event's name; empty where the stream gave none. */
  readonly event: string;
  /** The `data` lines, joined by line feeds. */
  readonly data: string;
}

/**
 * Hands every event to `take` in order, however the bytes are cut into chunks. Throws `wire.event-too-large` after the
 * events before it were taken; the reader is of no further use then.
 */
export interface SseReader {
  push(chunk: Uint8Array, take: (event: SseEvent) => void): void;
  /** Takes what is left: a last event counts even where the blank line behind it is missing. */
  end(take: (event: SseEvent) => void): void;
}

const noBytes = Buffer.alloc(0);
const eventCharsMaxDefault = 16 * 1024 * 1024;

/** A reader of one stream. `eventCharsMax`: UTF-16 units of all lines of one event, by default 16 Mi. */
export function sseReader(options: { readonly eventCharsMax?: number } = {}): SseReader {
  return new LineReader(options.eventCharsMax ?? eventCharsMaxDefault);
}

class LineReader implements SseReader {
  readonly #charsMax: number;
  /** Bytes of a character whose other bytes have not come. */
  #bytes: Buffer = noBytes;
  /** The line so far. It is only ever appended to: searching it again for each chunk would cost quadratic time. */
  #line = '';
  #started = false;
  /** The last character was a CR, so an LF that follows belongs to it. */
  #afterCr = false;
  #event = '';
  #data: string | null = null;

  constructor(charsMax: number) {
    this.#charsMax = charsMax;
  }

  push(chunk: Uint8Array, take: (event: SseEvent) => void): void {
    const seen = chunk instanceof Buffer ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    const bytes = this.#bytes.length === 0 ? seen : Buffer.concat([this.#bytes, seen]);
    const held = unfinishedBytes(bytes);
    // A copy, because the chunk's memory belongs to whoever read it.
    this.#bytes = held === 0 ? noBytes : Buffer.from(bytes.subarray(bytes.length - held));
    this.#read(bytes.toString('utf8', 0, bytes.length - held), take);
  }

  end(take: (event: SseEvent) => void): void {
    this.#read(this.#bytes.toString('utf8'), take);
    if (this.#line !== '') this.#takeLine(this.#line, take);
    this.#takeLine('', take);
  }

  #read(decoded: string, take: (event: SseEvent) => void): void {
    if (decoded === '') return;
    let text = decoded;
    if (!this.#started && text.startsWith('\ufeff')) text = text.slice(1);
    this.#started = true;
    let from = this.#afterCr && text.startsWith('\n') ? 1 : 0;
    this.#afterCr = this.#afterCr && text === '';
    let lf = text.indexOf('\n', from);
    let cr = text.indexOf('\r', from);
    while (lf >= 0 || cr >= 0) {
      const at = cr < 0 || (lf >= 0 && lf < cr) ? lf : cr;
      const line = this.#line + text.slice(from, at);
      this.#line = '';
      this.#takeLine(line, take);
      from = at + 1;
      if (at === cr) {
        if (lf === from) from += 1;
        else this.#afterCr = from === text.length;
        cr = text.indexOf('\r', from);
      }
      if (lf >= 0 && lf < from) lf = text.indexOf('\n', from);
    }
    this.#line += text.slice(from);
    this.#checkSize(this.#line);
  }

  #takeLine(line: string, take: (event: SseEvent) => void): void {
    if (line === '') {
      const data = this.#data;
      const event = this.#event;
      this.#data = null;
      this.#event = '';
      if (data !== null) take({ event, data });
      return;
    }
    this.#checkSize(line);
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'data') this.#data = this.#data === null ? value : `${this.#data}\n${value}`;
    else if (field === 'event') this.#event = value;
  }

  #checkSize(line: string): void {
    const chars = line.length + (this.#data?.length ?? 0);
    if (chars <= this.#charsMax) return;
    throw new WireError(
      'wire.event-too-large',
      `One event of the response may have ${this.#charsMax} characters; this one has at least that and more.`,
      { next: 'Check that the base URL leads to a model server.', details: { charsMax: this.#charsMax } },
    );
  }
}

/** How many bytes at the end (0 to 3) begin a character that needs more. */
function unfinishedBytes(bytes: Uint8Array): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return 0;
    if (byte < 0xc0) continue;
    const needs = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return needs > back ? back : 0;
  }
  return 0;
}
