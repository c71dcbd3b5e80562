/** Writes layers one behind the other into one text, of which each is a slice: no byte is copied twice. */
import type { Layer, LayerId } from '../protocol/composition.ts';
import { blankLineAfter, layerOf } from './layers.ts';

interface Span {
  readonly id: LayerId;
  readonly joinBefore: string;
  readonly start: number;
  fragments: readonly string[];
}

export class LayerWriter {
  readonly #pieces: string[] = [];
  readonly #spans: Span[] = [];
  #length = 0;
  #stableLength: number | undefined;

  /** Writes to a layer, with `between` before the text unless it opens the layer; a layer without text is none. */
  write(id: LayerId, text: string, between = ''): void {
    if (text === '') return;
    if (this.#spans.at(-1)?.id === id) this.#push(between);
    else {
      const joinBefore = this.blankLine();
      this.#push(joinBefore);
      this.#spans.push({ id, joinBefore, start: this.#length, fragments: [] });
    }
    this.#push(text);
  }

  /** Ends the layer: what it ends with, and the fragments that it is made of. Nothing where it has no text. */
  end(id: LayerId, ending: string, fragments: readonly string[]): void {
    const span = this.#spans.at(-1);
    if (span?.id !== id) return;
    this.#push(ending);
    span.fragments = fragments;
  }

  /** What has to follow for a blank line to stand here. */
  blankLine(): string {
    // Enough of the end to see one, also where a layer is one newline long.
    let tail = '';
    for (let at = this.#pieces.length - 1; at >= 0 && tail.length < 3; at -= 1)
      tail = (this.#pieces[at] ?? '').slice(-3) + tail;
    return blankLineAfter(tail);
  }

  /** The first thing that may differ in another session stands here: it closes the stable prefix. */
  closeStable(): void {
    this.#stableLength ??= this.#length;
  }

  finish(): { text: string; layers: readonly Layer[]; stablePrefixBytes: number } {
    const text = this.#pieces.join('');
    const layers = this.#spans.map(({ id, joinBefore, start, fragments }, at) => {
      const next = this.#spans[at + 1];
      const end = next === undefined ? text.length : next.start - next.joinBefore.length;
      return layerOf(id, joinBefore, text.slice(start, end), fragments);
    });
    return { text, layers, stablePrefixBytes: Buffer.byteLength(text.slice(0, this.#stableLength)) };
  }

  #push(piece: string): void {
    if (piece === '') return;
    this.#pieces.push(piece);
    this.#length += piece.length;
  }
}
