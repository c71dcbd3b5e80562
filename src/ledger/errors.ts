/** What can go wrong with the ledger: its codes, its error class, and the refusals that every store words alike. */
import type { ErrorExtra, ErrorTable } from '../errors.ts';
import { WritError } from '../errors.ts';
import type { Lease } from './store.ts';

export const ledgerErrors = {
  'ledger.fenced': { kind: 'refused', about: 'The run was taken over; this lease may no longer write it.' },
  'ledger.lease-held': { kind: 'refused', about: 'A living holder is writing the run.' },
  'ledger.no-run': { kind: 'input', about: 'The ledger has no run of this id.' },
  'ledger.no-session': { kind: 'input', about: 'The ledger has no session of this id.' },
  'ledger.already-exists': {
    kind: 'input',
    about: 'A session or run of this id or place is already recorded.',
  },
  'ledger.unserialisable': {
    kind: 'failed',
    about: 'A record holds a value that JSON cannot carry unchanged.',
  },
  'ledger.not-a-ledger': { kind: 'input', about: 'The path names something that is not a ledger of Writ.' },
  'ledger.newer-schema': { kind: 'input', about: 'The ledger was written by a newer Writ.' },
  'ledger.damaged': { kind: 'failed', about: 'The ledger file is cut off, overwritten or inconsistent.' },
  'ledger.unwritable': { kind: 'input', about: 'The ledger cannot be created or written at this place.' },
  'ledger.busy': { kind: 'failed', about: 'Another process kept the ledger locked for too long.' },
  'ledger.disk-full': { kind: 'failed', about: 'No room is left for the ledger to grow.' },
  'ledger.store-failed': {
    kind: 'failed',
    about: 'The store could not do its work for a reason of its own.',
  },
  'ledger.secret-in-record': {
    kind: 'input',
    about: 'The value of a key stands in what must be stored as it is.',
  },
  'ledger.closed': { kind: 'failed', about: 'The ledger was used after it was closed.' },
} as const satisfies ErrorTable;

export type LedgerCode = keyof typeof ledgerErrors;

/** Thrown by everything in this folder; a store's methods reject with it. */
export class LedgerError extends WritError<LedgerCode> {
  constructor(code: LedgerCode, message: string, extra: ErrorExtra = {}) {
    super(ledgerErrors, code, message, extra);
  }
}

/** The lease is older than the run's newest. */
export function fenced(lease: Lease, newest: number): LedgerError {
  return new LedgerError(
    'ledger.fenced',
    `Run ${lease.run} is written under epoch ${newest}; this lease has epoch ${lease.epoch}.`,
    {
      next: 'Stop writing this run: acquire it again or leave it to its new holder.',
      details: { run: lease.run, epoch: lease.epoch, newest },
    },
  );
}

/** Somebody alive has the run until `expires` (milliseconds since the Unix epoch). */
export function leaseHeld(run: string, holder: string, expires: number): LedgerError {
  return new LedgerError('ledger.lease-held', `Run ${run} is being written by ${holder}.`, {
    next: 'Wait until it ends or is cancelled, then try again.',
    details: { run, holder, expires },
  });
}

export function noRun(run: string): LedgerError {
  return new LedgerError('ledger.no-run', `The ledger has no run '${run}'.`, {
    next: 'List the runs it has with: writ runs list.',
    details: { run },
  });
}

export function noSession(session: string): LedgerError {
  return new LedgerError('ledger.no-session', `The ledger has no session '${session}'.`, {
    next: 'Create the session before its runs, or name an existing one.',
    details: { session },
  });
}

/** `what` says which record, for instance `session s_1`. */
export function alreadyExists(what: string): LedgerError {
  return new LedgerError('ledger.already-exists', `The ledger already has ${what}.`, {
    next: 'Use a new id; records are never overwritten.',
  });
}

export function closed(name: string): LedgerError {
  return new LedgerError('ledger.closed', `The ${name} store was closed; it takes no further calls.`, {
    next: 'Open the ledger again.',
  });
}
