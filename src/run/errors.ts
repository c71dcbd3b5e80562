/** The errors of running: what makes a run impossible, or ends it from outside the harness. */
import { type ErrorExtra, type ErrorTable, WritError } from '../errors.ts';

export const runErrors = {
  'run.limit-unkeepable': {
    kind: 'refused',
    about: 'A limit was set that this harness or model cannot keep.',
  },
  'run.guarantee-missing': { kind: 'refused', about: 'The harness does not enforce what this run needs.' },
  'run.bad-limit': { kind: 'input', about: 'A budget limit is not a number of its unit.' },
  'run.task-empty': { kind: 'input', about: 'There is no task text.' },
  'run.unknown-run': { kind: 'input', about: 'The ledger has no run of this id.' },
  'run.unknown-session': { kind: 'input', about: 'The ledger has no session of this id.' },
  'run.session-busy': { kind: 'refused', about: 'The newest run of the session has not ended.' },
  'run.session-mismatch': { kind: 'refused', about: 'The session belongs to another agent or harness.' },
  'run.already-ended': { kind: 'refused', about: 'The run has ended and cannot go on.' },
  'run.record-damaged': {
    kind: 'failed',
    about: 'A stored part that the run needs is missing or was altered.',
  },
  'run.is-child': { kind: 'refused', about: 'A child goes on and ends with its parent only.' },
  'run.child-widens': { kind: 'refused', about: 'A child was to have what its parent has not.' },
  'run.child-duplicate': {
    kind: 'refused',
    about: 'A child was to do what a run above it is doing, or another child has done.',
  },
  'run.child-no-progress': {
    kind: 'refused',
    about: 'The last children of the run ended without an answer, so no more are made.',
  },
  'run.unknown-ticket': { kind: 'input', about: 'The run has no open ticket of this id.' },
  'run.forged-ticket': {
    kind: 'refused',
    about: 'A question or its answer in the record is not what was asked.',
  },
  'run.event-reserved': {
    kind: 'failed',
    about: 'A harness tried to write what only the runtime may write.',
  },
  'run.unknown-effect': { kind: 'input', about: 'The run has no effect at this place.' },
  'run.effect-settled': {
    kind: 'refused',
    about: 'The effect is not unknown, so there is nothing to decide.',
  },
  'run.effects-open': { kind: 'refused', about: 'What the session did outside is still unknown.' },
  'run.reason-missing': { kind: 'input', about: 'A decision was given without who or why.' },
  'run.lease-lost': {
    kind: 'unknown',
    about: 'Another process took the run over; its record says how it goes on.',
  },
  'run.cancelled': { kind: 'failed', about: 'The run was cancelled.' },
  'run.harness-fault': { kind: 'failed', about: 'The harness broke a rule of its port or failed inside.' },
} as const satisfies ErrorTable;

export type RunErrorCode = keyof typeof runErrors;

export class RunError extends WritError<RunErrorCode> {
  constructor(code: RunErrorCode, message: string, extra?: ErrorExtra) {
    super(runErrors, code, message, extra);
  }
}

/** The error of what can only be done with the run above: alone a child would spend beside the budget that it shares. */
export function childRun(run: string, parent: string): RunError {
  return new RunError('run.is-child', `Run ${run} is a child of run ${parent}.`, {
    next: `Go on with, or end, its parent: writ runs show ${parent}`,
    details: { parent },
  });
}

/** The one error of a run that the ledger does not have. */
export function unknownRun(run: string): RunError {
  return new RunError('run.unknown-run', `There is no run ${run} in this ledger.`, {
    next: 'List the runs with: writ runs list, or name another ledger with --ledger.',
  });
}
