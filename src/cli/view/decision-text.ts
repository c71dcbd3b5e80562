/** What was decided about a call whose outcome nobody knew, and who did, in words. */
import type { DecisionView } from '../../run/call-view.ts';
import { visible } from './visible.ts';

const decided: Readonly<Record<DecisionView['decision'], string>> = {
  observed: 'it happened',
  'not-dispatched': 'it did not happen',
  unknown: 'it cannot be told',
  abandoned: 'given up as unknown',
  'retry-authorized': 'it may be sent again',
};

/** One line: `decided by ann: it happened (I saw it)`. */
export function decisionText({ decision, by, reason }: Omit<DecisionView, 'text'>): string {
  const who = by === null ? 'its tool looked' : `decided by ${visible(by)}`;
  return `${who}: ${decided[decision]}${reason === '' ? '' : ` (${visible(reason)})`}`;
}
