/** The errors of plans: what makes one invalid, what it may not do, and how its execution can end. */
import { type ErrorExtra, type ErrorTable, WritError } from '../../errors.ts';

export const planErrors = {
  'plan.unreadable': { kind: 'input', about: 'The text holds no plan that can be read.' },
  'plan.invalid': { kind: 'input', about: 'The plan breaks a rule of plans.' },
  'plan.capability-missing': {
    kind: 'refused',
    about: 'A step of the plan needs a capability that is not held.',
  },
  'plan.over-budget': { kind: 'refused', about: 'At its worst the plan needs more than its limits allow.' },
  'plan.bad-limit': { kind: 'input', about: 'A limit of plans is unknown or out of range.' },
  'plan.bad-skill': {
    kind: 'input',
    about:
      'A skill for decisions or for model steps has a bad name, is given twice, or is empty or too long.',
  },
  'plan.decision-rejected': {
    kind: 'failed',
    about: 'No answer of the model was a direct answer or a valid plan.',
  },
  'plan.missing-field': { kind: 'failed', about: 'A value does not have the field that a step asks for.' },
  'plan.wrong-value': { kind: 'failed', about: 'A step got a value of another type than it takes.' },
  'plan.context-failed': { kind: 'failed', about: 'An operation on a context failed.' },
  'plan.tool-failed': { kind: 'failed', about: 'A tool step did not succeed.' },
  'plan.tool-unknown-outcome': {
    kind: 'unknown',
    about: 'A tool step was sent, and what it did was not seen.',
  },
  'plan.approval-missing': {
    kind: 'refused',
    about: 'A tool step needs approval and nobody is there to give it.',
  },
  'plan.model-failed': { kind: 'failed', about: 'The conversation of a model step ended without an answer.' },
  'plan.budget-exhausted': { kind: 'failed', about: 'A limit of the plan leaves no room for the next step.' },
  'plan.time-limit': { kind: 'failed', about: 'The plan was not done within its time.' },
  'plan.record-changed': {
    kind: 'failed',
    about: 'A recorded value of the plan is no longer in the ledger as it was.',
  },
} as const satisfies ErrorTable;

export type PlanErrorCode = keyof typeof planErrors;

export class PlanError extends WritError<PlanErrorCode> {
  constructor(code: PlanErrorCode, message: string, extra?: ErrorExtra) {
    super(planErrors, code, message, extra);
  }
}
