/** A table of phrases, found in a text however they are cased, joined or put in the plural. */
import { compact, singular, type Word, wordsOf } from './words.ts';

export class Phrases<Value> {
  readonly #byForm = new Map<string, Value[]>();
  #wordsMax = 0;

  add(text: string, value: Value): void {
    const words = wordsOf(text);
    const form = compact(words);
    if (form === '') return;
    this.#wordsMax = Math.max(this.#wordsMax, words.length);
    const values = this.#byForm.get(form);
    if (values === undefined) this.#byForm.set(form, [value]);
    else values.push(value);
  }

  /** What begins at a word and crosses no comma or end, the shortest phrase first. */
  *at(
    words: readonly Word[],
    start: number,
  ): Generator<{ form: string; end: number; values: readonly Value[] }> {
    let text = '';
    for (let i = start; i < words.length && i < start + this.#wordsMax; i += 1) {
      const word = words[i];
      if (word === undefined || (i > start && word.gap !== 'none')) return;
      text += word.text;
      const form = singular(text);
      const values = this.#byForm.get(form);
      if (values !== undefined) yield { form, end: i + 1, values };
    }
  }
}
