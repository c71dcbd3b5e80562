/** The request for a surface: its limits, its checks, and the one form in which it is fingerprinted. */
import { ComposeError } from '../errors.ts';
import { namingMend } from '../nearest.ts';
import { type SurfaceMode, surfaceModes } from './mode.ts';
import type { Scope } from './scope.ts';

export interface SurfaceRequest {
  /** The task in the user's words, at most 32,768 characters. */
  readonly task: string;
  /** Closed words that triggers of kind `signal` wait for. */
  readonly signals?: readonly string[];
  /** The same for kind `need`: what a session found out it lacks. */
  readonly needs?: readonly string[];
  /** Units wanted whatever the task says, by id. */
  readonly selected?: readonly string[];
  /** Units never wanted, in the entries of a scope. */
  readonly denied?: readonly string[];
  readonly mode?: SurfaceMode;
  /** What the session holds. Nothing in a surface ever adds to it. */
  readonly capabilities: readonly string[];
  readonly scope?: Scope;
  /** Tokens that all that is shown may take; null is no limit. */
  readonly budgetTokens?: number | null;
  /** How many units with evidence are considered in mode `compiled`: 64 by default, at most 256. */
  readonly candidateLimit?: number;
}

/** A checked request: every field there, lists sorted and each entry once. */
export type CheckedRequest = Readonly<Required<SurfaceRequest>>;

export const requestLimits = {
  taskCharacters: 32_768,
  entries: 256,
  entryCharacters: 512,
  capabilities: 4096,
  candidates: 256,
} as const;
const candidatesUsual = 64;

const requestKeys = [
  ...['task', 'signals', 'needs', 'selected', 'denied', 'mode', 'capabilities', 'scope', 'budgetTokens'],
  'candidateLimit',
];

/** Throws `compose.bad-surface-request`, before anything is looked up. */
export function checkRequest(request: SurfaceRequest): CheckedRequest {
  for (const key of Object.keys(request)) {
    if (!requestKeys.includes(key))
      throw wrong(`A request for a surface has no field '${key}'.`, namingMend(key, requestKeys));
  }
  const { task, mode = 'compiled', scope = null, budgetTokens = null } = request;
  const { candidateLimit = candidatesUsual } = request;
  if (typeof task !== 'string')
    throw wrong('The task must be text.', 'Give the task in the words of the user.');
  if (task.length > requestLimits.taskCharacters)
    throw wrong(
      `The task has ${task.length} characters; a surface is compiled for at most ${requestLimits.taskCharacters}.`,
      'Give the part that says what is to be done, and leave out the data.',
    );
  if (!surfaceModes.includes(mode))
    throw wrong(`No mode is called '${String(mode)}'.`, namingMend(String(mode), surfaceModes));
  if (!wholeUpTo(candidateLimit, 1, requestLimits.candidates))
    throw wrong(
      `The candidate limit is ${String(candidateLimit)}; expected a whole number from 1 to ${requestLimits.candidates}.`,
      'Correct candidateLimit, or leave it out.',
    );
  if (budgetTokens !== null && !wholeUpTo(budgetTokens, 0, Number.MAX_SAFE_INTEGER))
    throw wrong(
      `The budget is ${String(budgetTokens)} tokens; expected a whole number from 0, or null.`,
      'Correct budgetTokens.',
    );
  const selected = entriesOf(request.selected ?? [], 'selected', candidateLimit);
  return {
    task,
    signals: entriesOf(request.signals ?? [], 'signals', requestLimits.entries),
    needs: entriesOf(request.needs ?? [], 'needs', requestLimits.entries),
    selected,
    denied: entriesOf(request.denied ?? [], 'denied', requestLimits.entries),
    mode,
    capabilities: entriesOf(request.capabilities, 'capabilities', requestLimits.capabilities),
    scope: scope === null ? null : entriesOf(scope, 'scope', requestLimits.capabilities),
    budgetTokens,
    candidateLimit,
  };
}

function entriesOf(value: unknown, field: string, max: number): string[] {
  const entries: readonly unknown[] | undefined = Array.isArray(value) ? value : undefined;
  const fits = (item: unknown): item is string =>
    typeof item === 'string' && item !== '' && item.length <= requestLimits.entryCharacters;
  if (entries === undefined || !entries.every(fits))
    throw wrong(
      `'${field}' must be a list of texts of 1 to ${requestLimits.entryCharacters} characters.`,
      `Correct ${field}.`,
    );
  const sorted = [...new Set(entries)].sort();
  if (sorted.length > max)
    throw wrong(
      `'${field}' has ${sorted.length} entries; expected at most ${max}.`,
      field === 'selected' ? 'Select fewer units, or raise candidateLimit.' : `Shorten ${field}.`,
    );
  return sorted;
}

function wholeUpTo(value: unknown, min: number, max: number): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max;
}

function wrong(message: string, next: string): ComposeError {
  return new ComposeError('compose.bad-surface-request', message, { next });
}
