/** The difference between two texts in sentences: what was removed, added or moved, and how people read it. */
import { type Sentence, sentencesOf } from './sentences.ts';

export interface Edit {
  readonly change: 'removed' | 'added' | 'moved';
  readonly sentence: Sentence;
  /** Moved: where it stood in the text before. */
  readonly from?: Sentence;
}

/** What two texts with the same sentences in the same order still differ in. */
export type LayoutChange = 'line endings' | 'white space' | 'layout';

export interface SentenceDiff {
  /** True where both are the same bytes. */
  readonly identical: boolean;
  /** Set where no sentence was removed, added or moved and the bytes differ all the same. */
  readonly only: LayoutChange | null;
  /** As multisets: how often a sentence stands in one text beyond the other. */
  readonly removed: readonly Sentence[];
  readonly added: readonly Sentence[];
  /** In both texts as often, but in another order. */
  readonly moved: readonly Sentence[];
  readonly kept: number;
  /** In reading order: what went stands before what came in its place. */
  readonly edits: readonly Edit[];
}

/**
 * Compares two Markdown sources. An identity is unique within a text, so the longest common subsequence of the
 * identities is a longest increasing run of places: exact, and n log n for texts of any size.
 */
export function sentenceDiff(before: string, after: string): SentenceDiff {
  const a = sentencesOf(before);
  const b = sentencesOf(after);
  const placeInA = new Map(a.map((sentence, i) => [sentence.identity, i]));
  const places = b.map((sentence) => placeInA.get(sentence.identity));
  const kept = longestRise(places);
  const next = nextKept(places, kept, a.length);
  const keptInA = new Set([...kept].map((i) => places[i]));
  const inB = new Set(b.map((sentence) => sentence.identity));
  const edits: Edit[] = [];
  let at = 0;
  const goneUntil = (end: number) => {
    for (; at < end; at += 1) {
      const sentence = a[at];
      if (sentence !== undefined && !inB.has(sentence.identity)) edits.push({ change: 'removed', sentence });
    }
  };
  b.forEach((sentence, i) => {
    const place = places[i];
    if (place !== undefined && keptInA.has(place)) goneUntil(place);
    const from = place === undefined ? undefined : a[place];
    if (from === undefined) {
      // What is replaced is shown before what replaces it.
      goneUntil(next[i] ?? a.length);
      edits.push({ change: 'added', sentence });
    } else if (!kept.has(i)) edits.push({ change: 'moved', sentence, from });
  });
  goneUntil(a.length);
  const only = edits.length === 0 ? layoutChange(before, after) : null;
  const of = (change: Edit['change']) =>
    edits.filter((edit) => edit.change === change).map((edit) => edit.sentence);
  return {
    identical: before === after,
    only,
    removed: of('removed'),
    added: of('added'),
    moved: of('moved'),
    kept: kept.size,
    edits,
  };
}

/** For each place in the later text: where the next kept sentence stands in the earlier one. */
function nextKept(places: readonly (number | undefined)[], kept: ReadonlySet<number>, end: number): number[] {
  const next: number[] = [];
  let at = end;
  for (let i = places.length - 1; i >= 0; i -= 1) {
    next[i] = at;
    if (kept.has(i)) at = places[i] ?? at;
  }
  return next;
}

/** The indices of a longest rising subsequence; undefined values are passed over. */
function longestRise(values: readonly (number | undefined)[]): Set<number> {
  const ends: number[] = [];
  const previous: (number | undefined)[] = [];
  values.forEach((value, i) => {
    if (value === undefined) return;
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((values[ends[middle] ?? 0] ?? 0) < value) low = middle + 1;
      else high = middle;
    }
    previous[i] = ends[low - 1];
    ends[low] = i;
  });
  const rise = new Set<number>();
  for (let at = ends.at(-1); at !== undefined; at = previous[at]) rise.add(at);
  return rise;
}

/** Null for the same bytes. Only to be asked of texts with the same sentences. */
function layoutChange(before: string, after: string): LayoutChange | null {
  if (before === after) return null;
  const lines = (text: string) => text.replace(/\r\n?/g, '\n');
  if (lines(before) === lines(after)) return 'line endings';
  const blank = (text: string) => text.replace(/\s+/g, ' ').trim();
  return blank(before) === blank(after) ? 'white space' : 'layout';
}

const signs = { removed: '-', added: '+', moved: '~' } as const;

/** `- `, `+ ` and `~ ` lines under the line numbers where they stand, and a closing line of counts. */
export function diffLines(diff: SentenceDiff): string[] {
  const { identical, only, edits } = diff;
  if (identical) return ['The texts are the same bytes.'];
  if (only !== null) return [`No sentence differs: ${only} only.`];
  const lines = edits.flatMap((edit, i) => {
    const line = `${signs[edit.change]} ${edit.sentence.text}`;
    const place = placeOf(edit);
    const before = edits[i - 1];
    return before !== undefined && placeOf(before) === place ? [line] : [`@@ ${place} @@`, line];
  });
  return [...lines, '', countsLine(diff)];
}

function placeOf({ change, sentence, from }: Edit): string {
  if (change === 'moved') return `line ${from?.line} moved to line ${sentence.line}`;
  return `line ${sentence.line} ${change === 'removed' ? 'before' : 'now'}`;
}

/** `2 removed, 1 added, 0 moved, 37 kept` */
export function countsLine({ removed, added, moved, kept }: SentenceDiff): string {
  return `${removed.length} removed, ${added.length} added, ${moved.length} moved, ${kept} kept`;
}
