/** What can be wrong with an experiment, its record or its report: codes and the error class. */
import { type ErrorExtra, type ErrorTable, WritError } from '../errors.ts';

export const proveErrors = {
  'prove.not-registered': { kind: 'refused', about: 'An experiment has no registration yet.' },
  'prove.changed': {
    kind: 'refused',
    about: 'The experiment is no longer what was registered, and no deviation was declared.',
  },
  'prove.same-arms': { kind: 'input', about: 'Both arms compose to the same text with the same settings.' },
  'prove.arm-varies': { kind: 'input', about: 'One arm composes to different texts over its items.' },
  'prove.outside-cell': { kind: 'input', about: 'An arm does not lie inside the cell that was named.' },
  'prove.unreachable-alpha': {
    kind: 'refused',
    about: 'Whatever the outcome, the design cannot give a p that counts.',
  },
  'prove.bad-fixture': { kind: 'input', about: 'A file or folder that the experiment names cannot be used.' },
  'prove.busy': { kind: 'refused', about: 'Another process is at work on the experiment.' },
  'prove.record-damaged': { kind: 'failed', about: "An experiment's record was altered or cut." },
  'prove.grader-changed': {
    kind: 'refused',
    about: 'A file of the grader is not the one that was registered.',
  },
  'prove.grader-in-reach': {
    kind: 'refused',
    about: 'A file of the grader lies where an agent that it grades can read or write it.',
  },
  'prove.mixed-graders': { kind: 'refused', about: 'Trials to compare were graded by different graders.' },
  'prove.no-judge': { kind: 'refused', about: 'The grader is a model and no model was given to judge.' },
  'prove.outages': { kind: 'failed', about: 'Several trials in a row ended in outages.' },
  'prove.not-ended': {
    kind: 'refused',
    about: 'A report was asked for before all trials are done and graded, and no reason was given.',
  },
  'prove.no-trials': { kind: 'refused', about: 'There is nothing to report yet.' },
  'prove.not-a-report': { kind: 'input', about: 'A file is no report of an experiment.' },
} as const satisfies ErrorTable;

export type ProveErrorCode = keyof typeof proveErrors;

export class ProveError extends WritError<ProveErrorCode> {
  constructor(code: ProveErrorCode, message: string, extra: ErrorExtra = {}) {
    super(proveErrors, code, message, extra);
  }
}
