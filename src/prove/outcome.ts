/** What the registered rules make of a trial: a result, an outage, or no trial of this experiment at all. */
import type { Registration } from './registration.ts';
import type { TrialOutcome, Tried } from './trial.ts';
import { invalidity, openPrecedents } from './validity.ts';

export interface Verdict {
  readonly outcome: TrialOutcome;
  readonly reason: string | null;
}

/** Judges trials one after the other. */
export interface TrialJudge {
  /** What the trial would be if it were the next. */
  look(trial: Tried): Verdict;
  /** Judges the next trial; later ones are held against it. */
  take(trial: Tried): Verdict;
}

/**
 * Decides by the record alone, so that a report can be checked. What makes a trial invalid comes first: an outage of
 * another experiment is none of this one. A trial is never counted for the arm whose text it happens to have. What
 * registration cannot know a trial is held to as the first valid one had it, so all are to be taken in the order of the
 * journal.
 */
export function trialJudge(registration: Registration): TrialJudge {
  const precedents = openPrecedents();
  const look = (trial: Tried): Verdict => {
    const wrong = invalidity(registration, trial, precedents);
    return wrong === undefined ? ended(registration, trial) : { outcome: 'invalid', reason: wrong };
  };
  return {
    look,
    take(trial) {
      const verdict = look(trial);
      precedents.add(trial, verdict.outcome !== 'invalid');
      return verdict;
    },
  };
}

/** How a valid trial ended. */
function ended(registration: Registration, { status, code, callCodes }: Tried): Verdict {
  const outages = [...(code === null ? [] : [code]), ...callCodes].filter((one) =>
    isOutage(registration, one),
  );
  // Whether it answered all the same is not looked at: the rule must not know which way the answer went.
  if (outages.length > 0) return { outcome: 'outage', reason: outages.join(', ') };
  if (status === 'completed') return { outcome: 'answered', reason: null };
  if (status === 'unknown') return { outcome: 'outage', reason: code ?? 'the outcome of a call is unknown' };
  return { outcome: 'agent-failure', reason: code ?? status };
}

/** Whether a code is nobody's answer by the registered rules; `model.*` stands for all of a family. */
function isOutage({ errors }: Pick<Registration, 'errors'>, code: string): boolean {
  return errors.outage.some((rule) =>
    rule.endsWith('*') ? code.startsWith(rule.slice(0, -1)) : code === rule,
  );
}
