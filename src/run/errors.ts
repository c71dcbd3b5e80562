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
  'run.unknown-ticket': { kind: 'input', about: 'The run has no open ticket of this id.' },
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

/** The one error of a run that the ledger does not have. */
export function unknownRun(run: string): RunError {
  return new RunError('run.unknown-run', `There is no run ${run} in this ledger.`, {
    next: 'List the runs with: writ runs list, or name another ledger with --ledger.',
  });
}
