/** The copy of one body that the recorder keeps while it passes. */
import type { RecordedBody } from './exchange.ts';

/** Keeps what goes by, up to a number of bytes, and counts all of it. */
export class BodyCopy {
  readonly #chunks: Buffer[] = [];
  readonly #max: number;
  #kept = 0;
  seen = 0;
  complete = false;

  constructor(max: number) {
    this.#max = max;
  }

  add(chunk: Buffer): void {
    this.seen += chunk.length;
    const part = chunk.subarray(0, this.#max - this.#kept);
    if (part.length > 0) this.#chunks.push(part);
    this.#kept += part.length;
  }

  body(): RecordedBody {
    return { bytes: Buffer.concat(this.#chunks), bytesSeen: this.seen, complete: this.complete };
  }
}
