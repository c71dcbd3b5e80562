/** The index that ranks units: BM25 over weighted fields, grown unit by unit, the same whatever the order of growth. */

export interface Field {
  readonly terms: readonly string[];
  readonly weight: number;
  /**
   * True for what many documents share, such as a category: its terms are counted apart. Else every unit of the category
   * 'file storage' would hold the word 'file', and it would no longer tell a tool for files from one for folders.
   */
  readonly shared?: true;
}

// No term begins so: terms are letters and digits.
const sharedMark = '/';

interface Postings {
  /** Document numbers, ascending. */
  readonly documents: number[];
  /** Weighted counts of the term, in the same order. */
  readonly counts: number[];
}

// The usual saturation; the length counts for less than usual, because descriptions are all short and a longer one is mostly a
// better one. Measured on the labelled queries: b from 0.3 to 0.6 makes no difference, 0.75 loses some.
const k1 = 1.2;
const b = 0.4;

/** How many distinct terms of a text are looked up: the rarest ones, for they tell units apart. Bounds the work. */
const termsMax = 64;
/** A term that stands nowhere may be the beginning of others, or they of it: `config` and `configuration`. */
const beginningMin = 4;
const beginningsMax = 8;
const beginningWeight = 0.5;

/** Relevance as points of a score, to three decimals, so that they add up with the weights of triggers (20, 40, 100). */
export function pointsOf(relevance: number): number {
  return Math.round(relevance * 5000) / 1000;
}

export class Ranking {
  readonly #postings = new Map<string, Postings>();
  readonly #lengths: number[] = [];
  #lengthsTotal = 0;
  // Both hang on all documents and are made anew by the first query after a change.
  #norms: Float64Array | undefined;
  #sortedTerms: string[] | undefined;

  get size(): number {
    return this.#lengths.length;
  }

  /** Adds a document; its number is how many there were before. */
  add(fields: readonly Field[]): number {
    const document = this.#lengths.length;
    const counts = new Map<string, number>();
    let length = 0;
    for (const { terms, weight, shared } of fields) {
      length += terms.length;
      for (const term of terms) {
        const key = shared ? sharedMark + term : term;
        counts.set(key, (counts.get(key) ?? 0) + weight);
      }
    }
    for (const [term, count] of counts) {
      const postings = this.#postings.get(term);
      if (postings === undefined) {
        this.#postings.set(term, { documents: [document], counts: [count] });
        this.#sortedTerms = undefined;
      } else {
        postings.documents.push(document);
        postings.counts.push(count);
      }
    }
    this.#lengths.push(length);
    this.#lengthsTotal += length;
    this.#norms = undefined;
    return document;
  }

  /** Adds each document's relevance to `scores`, and returns the indexed terms that were looked up. */
  score(terms: Iterable<string>, scores: Float64Array): ReadonlySet<string> {
    const looked = this.#lookedUp(terms);
    const norms = this.#allNorms();
    for (const [term, weight] of looked) {
      const postings = this.#postings.get(term);
      if (postings === undefined) continue;
      const { documents, counts } = postings;
      const gain = weight * this.#rarity(documents.length) * (k1 + 1);
      for (let i = 0; i < documents.length; i += 1) {
        const document = documents[i] ?? 0;
        const count = counts[i] ?? 0;
        scores[document] = (scores[document] ?? 0) + (gain * count) / (count + (norms[document] ?? 0));
      }
    }
    return new Set(looked.map(([term]) => term));
  }

  /** For each of some documents the terms that it has of those given, in their order. */
  sharedTerms(documents: readonly number[], terms: Iterable<string>): string[][] {
    const shared: string[][] = documents.map(() => []);
    // Walking the postings once is cheaper than asking each document for each term.
    const places = new Uint32Array(this.size);
    for (const [place, document] of documents.entries()) places[document] = place + 1;
    for (const term of terms) {
      const word = term.startsWith(sharedMark) ? term.slice(sharedMark.length) : term;
      const documents = this.#postings.get(term)?.documents ?? [];
      for (let i = 0; i < documents.length; i += 1) {
        const place = places[documents[i] ?? 0] ?? 0;
        if (place === 0) continue;
        const found = shared[place - 1] ?? [];
        if (!found.includes(word)) found.push(word);
      }
    }
    return shared;
  }

  #rarity(documents: number): number {
    return Math.log(1 + (this.size - documents + 0.5) / (documents + 0.5));
  }

  // In an order of the terms alone: a sum of floating-point numbers hangs on its order.
  #lookedUp(terms: Iterable<string>): (readonly [term: string, weight: number])[] {
    const weights = new Map<string, number>();
    for (const term of new Set(terms)) {
      if (this.#postings.has(term)) weights.set(term, 1);
      else
        for (const near of this.#beginnings(term)) if (!weights.has(near)) weights.set(near, beginningWeight);
      if (this.#postings.has(sharedMark + term)) weights.set(sharedMark + term, 1);
    }
    const frequency = (term: string) => this.#postings.get(term)?.documents.length ?? 0;
    return [...weights]
      .sort(([a], [b]) => frequency(a) - frequency(b) || (a < b ? -1 : 1))
      .slice(0, termsMax);
  }

  /** Indexed terms that begin with the term; without any, the longest one that the term begins with. */
  #beginnings(term: string): string[] {
    if (term.length < beginningMin) return [];
    this.#sortedTerms ??= [...this.#postings.keys()].sort();
    const all = this.#sortedTerms;
    const longer: string[] = [];
    for (let i = lowerBound(all, term); longer.length < beginningsMax; i += 1) {
      const found = all[i];
      if (found === undefined || !found.startsWith(term)) break;
      longer.push(found);
    }
    if (longer.length > 0) return longer;
    for (let length = term.length - 1; length >= beginningMin; length -= 1) {
      const shorter = term.slice(0, length);
      if (this.#postings.has(shorter)) return [shorter];
    }
    return [];
  }

  #allNorms(): Float64Array {
    if (this.#norms === undefined) {
      const mean = this.#lengthsTotal / Math.max(1, this.size) || 1;
      this.#norms = Float64Array.from(this.#lengths, (length) => k1 * (1 - b + (b * length) / mean));
    }
    return this.#norms;
  }
}

function lowerBound(sorted: readonly string[], term: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? '') < term) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * The documents of the highest scores, best first. Of equal scores the one that comes first in `documents` wins, so that a
 * list in a fixed order gives one answer.
 */
export function topOf(documents: readonly number[], scores: Float64Array, limit: number): number[] {
  const scoreOf = (document: number | undefined) => scores[document ?? -1] ?? 0;
  // Sorting is stable, and most lists are short or wanted whole.
  if (documents.length <= 2 * limit)
    return documents.toSorted((a, b) => scoreOf(b) - scoreOf(a)).slice(0, limit);
  const top: number[] = [];
  // The scores beside them: each is compared many times.
  const topScores = new Float64Array(limit);
  let filled = 0;
  for (const document of documents) {
    const score = scores[document] ?? 0;
    if (filled < limit) filled += 1;
    else if (score <= (topScores[limit - 1] ?? 0)) continue;
    let place = filled - 1;
    for (; place > 0 && (topScores[place - 1] ?? 0) < score; place -= 1) {
      top[place] = top[place - 1] ?? 0;
      topScores[place] = topScores[place - 1] ?? 0;
    }
    top[place] = document;
    topScores[place] = score;
  }
  return top;
}
