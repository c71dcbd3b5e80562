/** Draws who allowed a call, each time that it was sent, what people decided about it, and where it stands. */
import type { EffectState } from '../../protocol/effect.ts';
import type { AttemptView, CallView, DecisionView } from '../../run/call-view.ts';
import type { RunState } from '../../run/derive.ts';
import type { StepCallView } from '../../run/plan-view.ts';
import { decisionText } from './decision-text.ts';
import { moment } from './figures.ts';
import { callResultText } from './progress-lines.ts';
import type { Branch } from './tree.ts';
import { visible } from './visible.ts';

/** What happened to a call before its result, in its order. An attempt is named where there are several. */
export function historyBranches({ approval, attempts, replayOf }: StepCallView): readonly Branch[] {
  const branches: Branch[] = [];
  if (approval !== null) {
    const { answer } = approval;
    const why = answer?.reason ? `: ${visible(answer.reason)}` : '';
    const said =
      answer === null ? 'nobody has answered' : `${answer.decision} by ${visible(answer.by)}${why}`;
    branches.push({ text: `needed an approval (${approval.ticket}): ${said}` });
  }
  const [only, second] = attempts;
  if (only !== undefined && second === undefined) branches.push(...attemptBranches(only));
  else
    for (const attempt of attempts) {
      const { sentAt, state } = attempt;
      const text = `attempt ${attempt.attempt}, sent ${moment(sentAt)}: ${came[state]}`;
      branches.push({ text, branches: attemptBranches(attempt) });
    }
  if (replayOf !== null) {
    const { turn, position } = replayOf;
    branches.push({
      text: `nothing was sent for it: it got what the equal call ${turn}.${position} brought`,
    });
  }
  return branches;
}

/** How a call stands in the end. */
export function endText({ attempts, result }: CallView, state: RunState): string {
  const last = attempts.at(-1);
  if (result !== null) {
    // What was learned after the model had read that nobody knows.
    const later = result.status === 'unknown' && last !== undefined && (last.late !== null || decided(last));
    return `${later ? 'what the model read: ' : ''}${callResultText(result)}`;
  }
  if (last === undefined) return 'not run yet';
  if (state === 'running' && last.state === 'dispatching') return 'sent; its answer has not come yet';
  const goesOn = state === 'running' || state === 'interrupted' || state === 'paused';
  return `${stands[last.state]}${goesOn ? (then[last.state] ?? '') : ''}`;
}

const came: Readonly<Record<EffectState, string>> = {
  admitted: 'not sent',
  dispatching: 'no result was recorded',
  'cancel-requested': 'no result was recorded',
  unknown: 'what it did is not known',
  observed: 'its outcome was seen',
  'not-dispatched': 'it did not happen',
  'retry-authorized': 'it may have happened',
  abandoned: 'given up as unknown',
};

const stands: Readonly<Record<EffectState, string>> = {
  ...came,
  dispatching: 'sent; what it did is not known',
  'cancel-requested': 'sent; what it did is not known',
  unknown: 'sent; what it did is not known',
};

/** What a run that goes on does with it. */
const then: Partial<Readonly<Record<EffectState, string>>> = {
  observed: '; the model has not read it yet',
  'not-dispatched': '; the run sends it when it goes on',
  'retry-authorized': '; the run sends it again when it goes on',
  abandoned: '; the model has not read so yet',
};

function decided({ decisions }: AttemptView): boolean {
  return decisions.length > 0;
}

function attemptBranches({ unknown, decisions, late }: AttemptView): readonly Branch[] {
  return [
    ...(unknown === null ? [] : [{ text: `its outcome became unknown: ${visible(unknown)}` }]),
    ...decisions.map(decisionBranch),
    ...(late === null ? [] : [{ text: `seen later: it ${late}` }]),
  ];
}

function decisionBranch({ text, ...decision }: DecisionView): Branch {
  return {
    text: decisionText(decision),
    ...(text === undefined ? {} : { branches: [{ text: visible(text).trimEnd() }] }),
  };
}
