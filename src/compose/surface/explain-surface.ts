/** Explains a surface: for any unit one sentence that says what became of it, and why. */
import { oneLine } from '../outside-text.ts';
import type { Candidate } from './candidates.ts';
import type { Surface } from './compile-surface.ts';
import type { Trigger } from './unit.ts';
import type { Reason } from './verdict.ts';

export type SurfaceState = 'active' | 'pending' | 'rejected' | 'cut' | 'hidden';

export interface SurfaceExplanation {
  readonly unit: string;
  readonly state: SurfaceState;
  /** One sentence. */
  readonly text: string;
}

/** What a surface decided about a unit. One that no list names is hidden, registered or not. */
export function explainSurface(surface: Surface, unit: string): SurfaceExplanation {
  const said = (state: SurfaceState, text: string) => ({ unit, state, text: `'${oneLine(unit)}' ${text}` });
  const active = surface.active.find((one) => one.unit === unit);
  if (active !== undefined) {
    const shown = `it is shown as ${active.variant}, ${active.tokens} tokens`;
    return said(
      'active',
      `is active: ${groundsFor(surface, unit)}; ${shown}, which grants nothing, because each call is checked when it is made.`,
    );
  }
  const pending = surface.pending.find((one) => one.unit === unit);
  if (pending !== undefined) {
    const { root, tokens, leftTokens } = pending;
    const what = root === unit ? 'it' : `'${root}', which needs it,`;
    return said(
      'pending',
      `is chosen and does not fit: ${what} would have added ${tokens} tokens, all requirements counted, and ${leftTokens} of ${surface.sizes.budgetTokens} were left.`,
    );
  }
  const rejected = surface.rejected.find((one) => one.unit === unit);
  if (rejected !== undefined) return said('rejected', `is rejected: ${reasonsText(rejected.reasons)}.`);
  if (surface.cut.includes(unit)) {
    return said(
      'cut',
      `is cut: the task speaks for it, but ${surface.candidates.length} units rank higher, and no more are considered (candidateLimit ${surface.request.candidateLimit}).`,
    );
  }
  return said('hidden', 'is hidden: nothing in the task, signals, needs or selection speaks for it.');
}

/** All units that the surface decided about, in the order of their ids, one line each. */
export function explainAll(surface: Surface): string {
  const { active, pending, rejected, cut } = surface;
  const units = [...[...active, ...pending, ...rejected].map(({ unit }) => unit), ...cut].sort();
  return units.map((unit) => `${explainSurface(surface, unit).text}\n`).join('');
}

function groundsFor({ candidates, edges, request }: Surface, unit: string): string {
  const candidate = candidates.find((one) => one.unit === unit);
  const needing = edges.filter(({ to, kind }) => to === unit && kind === 'requires');
  const grounds = candidate === undefined ? [] : evidence(candidate);
  if (candidate !== undefined && request.mode === 'all_tools') grounds.push('all that is allowed is shown');
  if (needing.length > 0) grounds.push(`it is required by ${list(needing.map(({ from }) => from))}`);
  const suggesting = edges.find(({ to, kind }) => to === unit && kind === 'suggests');
  if (suggesting !== undefined) grounds.push(`'${suggesting.from}' suggests it`);
  const score = candidate === undefined ? '' : ` (score ${candidate.score})`;
  return `${grounds.join(', ')}${score}`;
}

function evidence({ selected, triggers, words }: Candidate): string[] {
  return [
    ...(selected ? ['it was selected'] : []),
    ...triggers.map((trigger) => triggerText(trigger)),
    ...(words.length === 0 ? [] : [`it shares ${list(words)} with the task`]),
  ];
}

function triggerText({ kind, text, weight }: Trigger): string {
  return `the ${kind} '${oneLine(text)}' calls for it (+${weight})`;
}

function reasonsText(reasons: readonly Reason[]): string {
  return reasons.map(reasonText).join(', and ');
}

function reasonText(reason: Reason): string {
  switch (reason.kind) {
    case 'not-registered':
      return 'no unit of this id is registered';
    case 'denied':
      return 'the request denies it';
    case 'negated':
      return `the task says '${oneLine(reason.words)}'`;
    case 'unavailable':
      return 'it is not available now';
    case 'out-of-scope':
      return 'it lies outside the scope';
    case 'not-capable':
      return `it needs the capability '${oneLine(reason.capability)}', which is not held`;
    case 'requirement':
      return `it needs '${reason.unit}', of which holds: ${reasonsText(reason.reasons)}`;
    case 'contradiction':
      return `it cannot be had whole, because '${reason.units[0]}' and '${reason.units[1]}' exclude each other`;
    case 'superseded':
      return `'${reason.by}' supersedes it`;
    case 'conflict':
      return `it conflicts with '${reason.with}', which ranks higher`;
  }
}

function list(texts: readonly string[]): string {
  return texts.map((text) => `'${oneLine(text)}'`).join(', ');
}
