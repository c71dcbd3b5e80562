/** Triggers: what a unit's author said should call for it, looked up in a request without walking over the units. */
import { Phrases } from './phrases.ts';
import type { Trigger } from './unit.ts';
import { stem, type Word } from './words.ts';

interface Entry {
  readonly document: number;
  readonly trigger: Trigger;
}

export class Triggers {
  readonly #phrases = new Phrases<Entry>();
  readonly #words = new Map<string, Entry[]>();

  add(document: number, triggers: readonly Trigger[]): void {
    for (const trigger of triggers) {
      const entry = { document, trigger };
      if (trigger.kind === 'phrase') {
        this.#phrases.add(trigger.text, entry);
        continue;
      }
      const key = keyOf(trigger);
      const entries = this.#words.get(key);
      if (entries === undefined) this.#words.set(key, [entry]);
      else entries.push(entry);
    }
  }

  /** The triggers that match, by document; each once, however often its text occurs. */
  match(
    words: readonly Word[],
    needs: readonly string[],
    signals: readonly string[],
  ): Map<number, Set<Trigger>> {
    const matched = new Map<number, Set<Trigger>>();
    const take = (entries: readonly Entry[] | undefined) => {
      for (const { document, trigger } of entries ?? []) {
        const taken = matched.get(document);
        if (taken === undefined) matched.set(document, new Set([trigger]));
        else taken.add(trigger);
      }
    };
    for (const need of needs) take(this.#words.get(`need:${need}`));
    for (const signal of signals) take(this.#words.get(`signal:${signal}`));
    for (const [i, { text }] of words.entries()) {
      take(this.#words.get(`keyword:${text}`));
      take(this.#words.get(`form:${stem(text)}`));
      for (const { values } of this.#phrases.at(words, i)) take(values);
    }
    return matched;
  }
}

function keyOf({ kind, text }: Trigger): string {
  if (kind === 'need' || kind === 'signal') return `${kind}:${text}`;
  const word = text.normalize('NFKC').toLowerCase();
  // Punctuation around a word is not part of it.
  const bare = /[\p{L}\p{N}]+/u.exec(word)?.[0] ?? word;
  return kind === 'keyword' ? `keyword:${bare}` : `form:${stem(bare)}`;
}
