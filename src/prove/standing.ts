/** How far an experiment is: counts over both arms together, from which nothing can be told of how the question will end. */
import type { ExperimentState } from './journal.ts';
import { planTrials } from './plan.ts';
import { reportRows } from './report.ts';
import { isResult } from './trial.ts';

export interface Standing {
  readonly trials: number;
  /** Trials that have an outcome. */
  readonly done: number;
  /** Answers without a grade of the registered grader. */
  readonly toGrade: number;
  /** Of those that are done: outages and invalid trials. */
  readonly lost: number;
  /** Attempts that ended before anything was sent; their trials begin anew. */
  readonly unsent: number;
  readonly complete: boolean;
  readonly exploratory: boolean;
}

/** Counts by the record alone. */
export function standingOf(state: ExperimentState): Standing {
  const trials = planTrials(state.registration).length;
  const rows = reportRows(state);
  const toGrade = rows.filter(({ outcome, grader }) => outcome === 'answered' && grader === null).length;
  return {
    trials,
    done: rows.length,
    toGrade,
    lost: rows.filter((row) => !isResult(row)).length,
    unsent: state.unsent.length,
    complete: rows.length === trials && toGrade === 0,
    exploratory: state.deviations.length > 0,
  };
}
