/** Grades the answers that have no grade of the grader yet: those of a judge, and all of them when the grader is new. */
import { sha256 } from '../digest.ts';
import type { ExperimentRun } from './experiment-run.ts';
import { gradeEntry } from './journal.ts';
import { measure } from './measure.ts';
import { shuffled } from './plan.ts';
import { stream } from './statistics/generator.ts';
import { keyOf } from './trial.ts';
import { answerWithoutFolder } from './work-folder.ts';

/**
 * In an order drawn from the seed and the grader, in which the arms are mixed. Each grade is recorded before the next is
 * asked for, so that a stop loses none. Answers come from the ledger; a workspace is gone by then.
 */
export async function gradeLeft(run: ExperimentRun): Promise<void> {
  const { journal, grader, store, items, signal } = run;
  const state = journal.state();
  if (state === undefined) return;
  const graded = new Set(
    state.grades.filter((grade) => grade.grader === grader.digest).map((grade) => keyOf(grade)),
  );
  const left = state.rows.filter((row) => row.outcome === 'answered' && !graded.has(keyOf(row)));
  const sorted = [...left].sort((a, b) => (sha256(keyOf(a)) < sha256(keyOf(b)) ? -1 : 1));
  const order = shuffled(sorted, stream(state.registration.seed, `grading ${grader.digest}`));
  for (const row of order) {
    if (signal.aborted) return;
    const item = items.find(({ id }) => id === row.item);
    const seen = await measure(store, row.run, []);
    const grade =
      item === undefined || seen?.answer == null
        ? { score: null, reason: 'its answer is no longer in the ledger' }
        : await grader.grade({
            item,
            answer: await answerWithoutFolder(journal, row, seen.answer),
            calls: seen.calls,
            workspace: null,
            signal,
          });
    if (signal.aborted && grade.score === null) return;
    await journal.append({ type: 'grade', grade: gradeEntry(row, grader, grade) });
  }
}
