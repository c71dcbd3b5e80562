/** Registers an experiment, before its first trial or as a declared deviation after it. */
import type { Clock } from '../clock.ts';
import { ProveError } from './errors.ts';
import type { Deviation, ExperimentState, Journal } from './journal.ts';
import { differences, type Registration, registrationDigest } from './registration.ts';

export interface RegisterOptions {
  readonly clock: Clock;
  /** Why something is changed after the first trial; without it such a change is refused. */
  readonly deviation?: string | undefined;
}

export type Registered = 'registered' | 'unchanged' | 'replaced' | 'deviated';

/**
 * Before the first trial a new registration takes the place of an older one. After it, a change needs a reason and stays
 * on record; what makes other trials of it is another experiment. Throws `prove.changed`.
 */
export async function register(
  journal: Journal,
  registration: Registration,
  { clock, deviation }: RegisterOptions,
): Promise<Registered> {
  const state = journal.state();
  if (state !== undefined && state.digest === registrationDigest(registration)) return 'unchanged';
  if (state === undefined || state.rows.length === 0) {
    await journal.append({ type: 'registered', at: clock.now(), registration });
    return state === undefined ? 'registered' : 'replaced';
  }
  await journal.append({
    type: 'deviated',
    deviation: deviationOf(state, registration, deviation, clock.now()),
    registration,
  });
  return 'deviated';
}

/** Throws `prove.not-registered`, and `prove.changed` where what is there is not what was registered. */
export function mustBeAsRegistered(journal: Journal, now: Registration): void {
  const state = journal.state();
  if (state === undefined) throw notRegistered();
  const paths = changedPaths(state.registration, now);
  if (paths.length > 0)
    throw changed(paths, 'Put it back as it was, or register it: writ experiment register FILE.');
}

/** The error of an experiment without a journal. */
export function notRegistered(): ProveError {
  return new ProveError('prove.not-registered', 'Expected a registered experiment, found no journal.', {
    next: 'Register it before the first trial: writ experiment register FILE.',
  });
}

/** What a trial is made of. Where it changes, trials before and after are none of one experiment. */
const ofTrials = [
  'arms',
  'seed',
  'modelSeen',
  'fingerprintSeen',
  'server',
  'budget',
  'horizonMs',
  'build',
  'approvals',
  'canaries',
];

function deviationOf(
  state: ExperimentState,
  registration: Registration,
  reason: string | undefined,
  at: number,
): Deviation {
  const paths = changedPaths(state.registration, registration);
  const ofTrial = paths.filter((path) => ofTrials.includes(path.split('.')[0] ?? ''));
  const grown = onlyGrown(state.registration, registration);
  if (ofTrial.length > 0 || !grown.itemsKept) {
    const what = ofTrial.length > 0 ? ofTrial : paths.filter((path) => path.startsWith('items'));
    throw changed(what, 'Register it as another experiment: with --record, or in another file.');
  }
  if (reason === undefined || reason.trim() === '') {
    throw changed(
      paths,
      'Put it back as it was, or give the reason with writ experiment register FILE --deviation REASON, which makes the result exploratory.',
    );
  }
  const extended = grown.extended && paths.every((path) => /^(items|repeats)/.test(path));
  return { kind: extended ? 'extended' : 'edited', at, trials: state.rows.length, paths, reason };
}

/** What differs, but for what follows from the rest. */
function changedPaths(before: Registration, after: Registration): readonly string[] {
  const byId = ({ design: _design, items, ...rest }: Registration) => ({
    ...rest,
    items: Object.fromEntries(items.map(({ id, ...item }) => [id, item])),
  });
  return differences(byId(before), byId(after));
}

function onlyGrown(before: Registration, after: Registration): { itemsKept: boolean; extended: boolean } {
  const now = new Map(after.items.map((item) => [item.id, item]));
  const kept = before.items.every((item) => {
    const same = now.get(item.id);
    return same !== undefined && differences(item, same).length === 0;
  });
  const more = after.items.length > before.items.length || after.repeats > before.repeats;
  return { itemsKept: kept && after.repeats >= before.repeats, extended: more };
}

function changed(paths: readonly string[], next: string): ProveError {
  return new ProveError(
    'prove.changed',
    `The experiment should be as it was registered; it differs in ${paths.slice(0, 8).join(', ') || 'repeats'}.`,
    { next, details: { paths } },
  );
}
