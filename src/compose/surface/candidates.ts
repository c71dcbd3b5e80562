/** Candidates: the units that a request speaks for, ranked and bounded, and what became of the others with evidence. */
import type { Catalogue } from './catalogue.ts';
import type { Choice } from './choose.ts';
import type { Ranked } from './closure.ts';
import { pointsOf, topOf } from './ranking.ts';
import type { CheckedRequest } from './request.ts';
import type { Trigger } from './unit.ts';
import type { Judge, Reason } from './verdict.ts';
import { termsOf, type Word } from './words.ts';

export interface Candidate {
  readonly unit: string;
  /** Selection, weights of triggers, relevance and priority together. */
  readonly score: number;
  readonly selected: boolean;
  /** Those that matched. */
  readonly triggers: readonly Trigger[];
  /** The words that it shares with the task. */
  readonly words: readonly string[];
}

export interface Found {
  readonly ranked: readonly Ranked[];
  /** The same units, as data. */
  readonly candidates: readonly Candidate[];
  readonly rejected: ReadonlyMap<string, readonly Reason[]>;
  /** Units with evidence below the limit, in the order of their ids, without those of which something else became. */
  readonly cut: (choice: Pick<Choice, 'chosen' | 'rejected'>) => string[];
}

/** Above all that triggers and relevance usually reach: what was selected comes first. */
const selectedScore = 100_000;
const allToolsScore = 1000;

export function findCandidates(
  catalogue: Catalogue,
  request: CheckedRequest,
  task: readonly Word[],
  judge: Judge,
): Found {
  const evidence = evidenceOf(catalogue, request, task);
  const { scores } = evidence;
  const rejected = new Map<string, readonly Reason[]>();
  for (const id of request.selected)
    if (catalogue.get(id) === undefined) rejected.set(id, [{ kind: 'not-registered' }]);
  const allowed: number[] = [];
  const ordered = catalogue.ordered();
  for (let i = 0; i < ordered.length; i += 1) {
    const number = ordered[i] ?? 0;
    const score = scores[number] ?? 0;
    if (score === 0) continue;
    if (judge.allows(number)) {
      scores[number] = score + (catalogue.priorities[number] ?? 0);
      allowed.push(number);
    } else rejected.set(catalogue.ids[number] ?? '', judge.reasons(number));
  }
  rejectDenied(catalogue, request, judge, rejected);
  const limit = request.mode === 'all_tools' ? allowed.length : request.candidateLimit;
  const top = topOf(allowed, scores, limit);
  const selected = new Set(request.selected);
  const words = evidence.wordsOf(top);
  const candidates = top.map(
    (number, i): Candidate => ({
      unit: catalogue.ids[number] ?? '',
      score: scores[number] ?? 0,
      selected: selected.has(catalogue.ids[number] ?? ''),
      triggers: evidence.triggersOf(number),
      words: words[i] ?? [],
    }),
  );
  return {
    ranked: top.map((number) => ({ unit: catalogue.at(number), score: scores[number] ?? 0 })),
    candidates,
    rejected,
    cut: (choice) => idsBelow(catalogue, allowed, top, choice),
  };
}

interface Evidence {
  readonly scores: Float64Array;
  readonly triggersOf: (number: number) => readonly Trigger[];
  /** For each of the units the words that it shares with the task. */
  readonly wordsOf: (numbers: readonly number[]) => readonly (readonly string[])[];
}

function evidenceOf(catalogue: Catalogue, request: CheckedRequest, words: readonly Word[]): Evidence {
  const scores = catalogue.blankScores();
  if (request.mode === 'all_tools') {
    scores.fill(allToolsScore);
    addSelected(catalogue, request, scores);
    return { scores, triggersOf: () => [], wordsOf: () => [] };
  }
  const writtenAs = new Map<string, string>();
  for (const word of words)
    for (const term of termsOf([word])) if (!writtenAs.has(term)) writtenAs.set(term, word.text);
  const shared = catalogue.ranking.score(writtenAs.keys(), scores);
  for (let number = 0; number < scores.length; number += 1) {
    const relevance = scores[number] ?? 0;
    if (relevance > 0) scores[number] = pointsOf(relevance);
  }
  const triggered = catalogue.triggers.match(words, request.needs, request.signals);
  for (const [number, triggers] of triggered) {
    for (const { weight } of triggers) scores[number] = (scores[number] ?? 0) + weight;
  }
  addSelected(catalogue, request, scores);
  return {
    scores,
    // The unit's own order, whatever the order in which the task mentions them.
    triggersOf: (number) => {
      const matched = triggered.get(number);
      return matched === undefined
        ? []
        : catalogue.at(number).triggers.filter((trigger) => matched.has(trigger));
    },
    wordsOf: (numbers) =>
      catalogue.ranking
        .sharedTerms(numbers, shared)
        .map((terms) => terms.map((term) => writtenAs.get(term) ?? term)),
  };
}

function addSelected(catalogue: Catalogue, request: CheckedRequest, scores: Float64Array): void {
  for (const id of request.selected) {
    const number = catalogue.numberOf(id);
    if (number !== undefined) scores[number] = (scores[number] ?? 0) + selectedScore;
  }
}

/** Whoever denies a unit by its id can read that it was denied, also where nothing spoke for it. */
function rejectDenied(
  catalogue: Catalogue,
  request: CheckedRequest,
  judge: Judge,
  rejected: Map<string, readonly Reason[]>,
): void {
  for (const id of request.denied) {
    const number = catalogue.numberOf(id);
    if (number !== undefined) rejected.set(id, judge.reasons(number));
  }
}

function idsBelow(
  catalogue: Catalogue,
  allowed: readonly number[],
  top: readonly number[],
  { chosen, rejected }: Pick<Choice, 'chosen' | 'rejected'>,
): string[] {
  if (allowed.length === top.length) return [];
  // By number, because tens of thousands of units may have some evidence.
  const elsewhere = new Uint8Array(catalogue.size);
  const mark = (number: number | undefined) => {
    if (number !== undefined) elsewhere[number] = 1;
  };
  top.forEach(mark);
  for (const { unit } of chosen) mark(catalogue.numberOf(unit.id));
  for (const id of rejected.keys()) mark(catalogue.numberOf(id));
  const below: string[] = [];
  for (const number of allowed) if (elsewhere[number] === 0) below.push(catalogue.ids[number] ?? '');
  return below;
}
