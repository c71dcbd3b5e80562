/** What the registered rules make of a trial: a result, an outage, or no trial of this experiment at all. */
import type { Registration } from './registration.ts';
import type { Side } from './statistics/trials.ts';
import type { Measured, TrialOutcome } from './trial.ts';

export interface Verdict {
  readonly outcome: TrialOutcome;
  readonly reason: string | null;
}

/**
 * Decides by the record alone, so that a report can be checked. `seenBefore` are the responses of earlier trials. What
 * makes a trial invalid comes first: an outage of another experiment is none of this one. A trial is never counted for
 * the arm whose text it happens to have.
 */
export function outcomeOf(
  registration: Registration,
  side: Side,
  trial: Measured,
  seenBefore: ReadonlySet<string>,
): Verdict {
  const wrong = invalidity(registration, side, trial, seenBefore);
  if (wrong !== undefined) return { outcome: 'invalid', reason: wrong };
  const { status, code, callCodes } = trial;
  const outages = [...(code === null ? [] : [code]), ...callCodes].filter((one) =>
    isOutage(registration, one),
  );
  // Whether it answered all the same is not looked at: the rule must not know which way the answer went.
  if (outages.length > 0) return { outcome: 'outage', reason: outages.join(', ') };
  if (status === 'completed') return { outcome: 'answered', reason: null };
  if (status === 'unknown') return { outcome: 'outage', reason: code ?? 'the outcome of a call is unknown' };
  return { outcome: 'agent-failure', reason: code ?? status };
}

/** Judges trials that are given in the order in which they ended: what one was answered is seen before for the next. */
export function judgeInOrder(
  registration: Registration,
): (trial: Measured & { readonly side: Side }) => Verdict {
  const seen = new Set<string>();
  return (trial) => {
    const verdict = outcomeOf(registration, trial.side, trial, seen);
    for (const response of trial.responses) seen.add(response);
    return verdict;
  };
}

/** Whether a code is nobody's answer by the registered rules; `model.*` stands for all of a family. */
function isOutage({ errors }: Pick<Registration, 'errors'>, code: string): boolean {
  return errors.outage.some((rule) =>
    rule.endsWith('*') ? code.startsWith(rule.slice(0, -1)) : code === rule,
  );
}

/** How a run ends whose requests were not those of its arm. */
const unproven = new Set(['deliver.not-proven', 'deliver.not-metered']);

function invalidity(
  registration: Registration,
  side: Side,
  trial: Measured,
  seenBefore: ReadonlySet<string>,
): string | undefined {
  const arm = registration.arms[side];
  if (trial.prompt !== arm.prompt) return 'its text is not the one of its arm';
  if (trial.promptSent !== null && trial.promptSent !== arm.prompt)
    return 'the text that was sent is not the one of its arm';
  if (trial.code !== null && unproven.has(trial.code))
    return `nothing shows that the text of its arm was sent (${trial.code})`;
  const model = arm.harness === undefined ? arm.model : arm.harness.model;
  if (trial.model !== model)
    return `its model is ${trial.model ?? 'unknown'}, registered was ${model ?? "the harness's own choice"}`;
  const { modelSeen } = registration;
  const other = modelSeen === null ? undefined : trial.modelsSeen.find((one) => one !== modelSeen);
  if (other !== undefined) return `${other} answered, registered was ${modelSeen}`;
  if (trial.harness !== (arm.harness?.name ?? registration.build.harness))
    return `its harness is ${trial.harness}`;
  if (trial.canaries.length > 0) return `it was sent a canary: ${trial.canaries.join(', ')}`;
  if (trial.responses.some((response) => seenBefore.has(response)))
    return 'an answer is that of another trial to the last byte, as out of a cache';
  return undefined;
}
