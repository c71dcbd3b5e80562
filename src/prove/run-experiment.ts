/** Runs what is left of an experiment: trials in the planned order, some at a time, each recorded before the next is begun. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isRecord } from '../protocol/json.ts';
import { ProveError } from './errors.ts';
import type { Item } from './experiment.ts';
import type { ExperimentRun, RunSummary, TrialStamp } from './experiment-run.ts';
import { freshWorkspace } from './fixture.ts';
import type { Grade } from './grade/grader.ts';
import { gradeLeft } from './grade-left.ts';
import { type ExperimentState, gradeEntry, type Journal } from './journal.ts';
import { measure, type Seen } from './measure.ts';
import { type TrialJudge, trialJudge } from './outcome.ts';
import { planTrials } from './plan.ts';
import { environmentOf, lookAt, type Surroundings, surroundingsIn } from './surroundings.ts';
import { keyOf, type PlannedTrial, type TrialKey, type TrialRow } from './trial.ts';
import { unsentOf } from './unsent.ts';
import { workFolder } from './work-folder.ts';

/**
 * Runs the trials that have no outcome yet; those that have one are never run again. A run that an earlier call began and
 * that has no end is left as it is, and its trial begins anew: nobody has seen an outcome of it. So does one that ended in an
 * outage before anything was sent, when all others have been run. Resolves when all is done
 * or the signal has aborted. Throws what `execute` and the grader throw, and `prove.record-damaged`.
 */
export async function runExperiment(run: ExperimentRun): Promise<RunSummary> {
  const { journal, clock, signal } = run;
  const state = mustBeRegistered(journal);
  const plan = planTrials(state.registration);
  const judge = trialJudge(state.registration);
  for (const row of state.rows) judge.take(row);
  const cut = await adopt(run, state, plan, judge);
  // Whatever a killed process left there is of no use: what is left to run begins with a copy of its own.
  await removeWork(journal);
  const done = new Set((journal.state()?.rows ?? []).map(keyOf));
  const before = done.size;
  const queue = plan.filter((trial) => !done.has(keyOf(trial)));
  const startedAt = clock.monotonicMs();
  const report = () => {
    const here = done.size - before;
    const elapsedMs = clock.monotonicMs() - startedAt;
    const leftMs = here === 0 ? null : (elapsedMs / here) * (plan.length - done.size);
    run.onProgress?.({ done: done.size, trials: plan.length, here, elapsedMs, leftMs });
  };
  report();
  await workThrough(run, queue, async (trial) => {
    const ended = await oneTrial(run, state, trial, judge, cut.get(keyOf(trial)) ?? 0);
    if (ended === 'stopped') return;
    if (ended === 'done') done.add(keyOf(trial));
    else queue.push(trial);
    report();
    mustGoOn(journal);
  });
  const ran = done.size === plan.length;
  if (ran && !signal.aborted) {
    await removeWork(journal);
    await gradeLeft(run);
    await journal.append({ type: 'completed', at: clock.now() });
  }
  return { trials: plan.length, done: done.size, here: done.size - before, complete: ran && !signal.aborted };
}

function mustBeRegistered(journal: Journal): ExperimentState {
  const state = journal.state();
  if (state === undefined) throw new Error('runExperiment needs a registered journal');
  return state;
}

// What has gone out of order stays so, as a rule, and each further trial would be one more pair that is lost.
const outagesMost = 5;

function mustGoOn(journal: Journal): void {
  const newest = journal.state()?.outages.slice(-outagesMost) ?? [];
  if (newest.length < outagesMost) return;
  const reasons = [...new Set(newest)].join(', ');
  throw new ProveError(
    'prove.outages',
    `The newest ${outagesMost} trials should be results; all of them ended in outages: ${reasons}.`,
    {
      next: 'Mend what is out of order, then run the experiment again: it goes on with the next trial, and what was never sent begins anew.',
    },
  );
}

/** Several workers take from one queue in order. The first fault stops them all and is thrown when they have stopped. */
async function workThrough(
  { limits = {}, clock, signal }: ExperimentRun,
  queue: readonly PlannedTrial[],
  work: (trial: PlannedTrial) => Promise<void>,
): Promise<void> {
  const { concurrency = 1, startsPerMinute } = limits;
  const gapMs = startsPerMinute === undefined ? 0 : 60_000 / startsPerMinute;
  let next = 0;
  let freeAt = 0;
  const faults: unknown[] = [];
  const worker = async (): Promise<void> => {
    while (faults.length === 0 && !signal.aborted) {
      const trial = queue[next];
      if (trial === undefined) return;
      next += 1;
      const now = clock.monotonicMs();
      freeAt = Math.max(freeAt, now) + gapMs;
      const waitMs = freeAt - gapMs - now;
      if (waitMs > 0) await clock.sleep(waitMs, signal);
      if (signal.aborted) return;
      try {
        await work(trial);
      } catch (fault) {
        faults.push(fault);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, queue.length) }, worker));
  if (faults.length > 0) throw faults[0];
}

async function removeWork({ folder }: Journal): Promise<void> {
  await rm(join(folder, 'work'), { recursive: true, force: true });
}

async function oneTrial(
  run: ExperimentRun,
  state: ExperimentState,
  trial: PlannedTrial,
  judge: TrialJudge,
  interrupted: number,
): Promise<Ended> {
  const item = itemOf(run, trial);
  const workspace = workFolder(run.journal, trial);
  const { side, repeat } = trial;
  await freshWorkspace(item.workspace, workspace);
  const surroundings = await lookAt(run.build, {
    agentFolder: run.agentFolders[side],
    source: item.workspace,
    copy: workspace,
  });
  const result = await run.execute({
    side,
    task: item.task,
    workspace,
    stamp: { experiment: state.id, item: item.id, side, repeat, surroundings },
    signal: run.signal,
  });
  const seen = await measure(run.store, result.run, run.canaries);
  // Cancelled: the trial has no outcome, and is begun anew when the experiment goes on.
  if (seen === undefined) return 'stopped';
  return finish(run, judge, { trial, seen, surroundings, interrupted, workspace });
}

interface Finished {
  readonly trial: PlannedTrial;
  readonly seen: Seen;
  readonly surroundings: Surroundings;
  readonly interrupted: number;
  /** Null where it is gone. */
  readonly workspace: string | null;
}

/** What became of an attempt: a trial; nothing, because nothing of it was sent; nothing, because the signal has aborted. */
type Ended = 'done' | 'unsent' | 'stopped';

/** Grades what is graded at once, and records trial and grade together. */
async function finish(run: ExperimentRun, judge: TrialJudge, finished: Finished): Promise<Ended> {
  const { trial, seen, surroundings, interrupted, workspace } = finished;
  const { journal, grader } = run;
  const item = itemOf(run, trial);
  const tried = { ...trial, ...seen.measured, surroundings };
  const looked = judge.look(tried);
  if (seen.nothingSent && looked.outcome === 'outage') {
    const { item: id, side, repeat } = trial;
    const attempt = { item: id, side, repeat, run: tried.run, reason: looked.reason ?? '' };
    await journal.append({ type: 'unsent', attempt });
    return 'unsent';
  }
  const isGraded = looked.outcome === 'answered' && grader.when === 'at-once';
  const grade = isGraded ? await gradeOf(run, item, seen, workspace) : undefined;
  if (grade === 'aborted') return 'stopped';
  // Judged and appended in one go: others may have ended while this one was graded, and the order of the lines decides.
  const verdict = judge.take(tried);
  const row: TrialRow = {
    ...tried,
    groups: item.groups,
    interrupted,
    unsent: unsentOf(journal.state()?.unsent ?? [], trial),
    environment: environmentOf(tried),
    ...verdict,
    score: null,
    grader: null,
    judging: null,
  };
  const counts = grade !== undefined && verdict.outcome === 'answered';
  await journal.append(
    { type: 'trial', row },
    ...(counts ? [{ type: 'grade' as const, grade: gradeEntry(row, grader, grade) }] : []),
  );
  if (workspace !== null) await rm(workspace, { recursive: true, force: true });
  return 'done';
}

async function gradeOf(
  { grader, signal }: ExperimentRun,
  item: Item,
  { answer, calls }: Seen,
  workspace: string | null,
): Promise<Grade | 'aborted'> {
  const grade = await grader.grade({ item, answer: answer ?? '', calls, workspace, signal });
  // A grader that was stopped has said nothing; the trial is graded when the experiment goes on.
  return grade.score === null && signal.aborted ? 'aborted' : grade;
}

function itemOf({ items }: Pick<ExperimentRun, 'items'>, { item }: TrialKey): Item {
  const found = items.find(({ id }) => id === item);
  if (found === undefined) throw new Error(`the plan has an item '${item}' that the experiment has not`);
  return found;
}

/**
 * Looks in the ledger for runs of this experiment that the journal does not have: a process may have been killed between
 * the end of a run and its line. One that has ended becomes its trial; the others are counted by trial.
 */
async function adopt(
  run: ExperimentRun,
  state: ExperimentState,
  plan: readonly PlannedTrial[],
  judge: TrialJudge,
): Promise<ReadonlyMap<string, number>> {
  const known = new Set([...state.rows, ...state.unsent].map((one) => one.run));
  const done = new Set(state.rows.map(keyOf));
  const planned = new Map(plan.map((trial) => [keyOf(trial), trial]));
  const cut = new Map<string, number>();
  const agents = new Set([state.registration.arms.control.agent, state.registration.arms.treatment.agent]);
  for (const agent of agents) {
    for (const record of [...(await run.store.runs({ agent }))].reverse()) {
      if (known.has(record.id)) continue;
      const stamp = stampOf((await run.store.session(record.session))?.origin);
      if (stamp === undefined || stamp.experiment !== state.id) continue;
      const trial = planned.get(keyOf(stamp));
      if (trial === undefined) continue;
      const key = keyOf(trial);
      const seen = done.has(key) ? undefined : await measure(run.store, record.id, run.canaries);
      if (seen === undefined) {
        cut.set(key, (cut.get(key) ?? 0) + 1);
        continue;
      }
      const ended = await finish(run, judge, {
        trial,
        seen,
        surroundings: stamp.surroundings,
        interrupted: cut.get(key) ?? 0,
        workspace: workFolder(run.journal, trial),
      });
      if (ended === 'done') done.add(key);
    }
  }
  return cut;
}

function stampOf(origin: { readonly [name: string]: unknown } | undefined): TrialStamp | undefined {
  const stamp = origin?.experiment;
  if (!isRecord(stamp)) return undefined;
  const { experiment, item, side, repeat } = stamp;
  const surroundings = surroundingsIn(stamp.surroundings);
  const right =
    typeof experiment === 'string' &&
    typeof item === 'string' &&
    (side === 'control' || side === 'treatment') &&
    typeof repeat === 'number' &&
    surroundings !== undefined;
  return right ? { experiment, item, side, repeat, surroundings } : undefined;
}
