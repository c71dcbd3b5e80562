/** Exit codes: one table for how runs end and one for errors, and nothing else in the command line decides one. */
import type { ErrorKind } from '../errors.ts';
import type { RunStatus } from '../protocol/outcome.ts';

/** What the process returns for each end of a run. */
export const exitCodes = {
  completed: 0,
  failed: 1,
  refused: 3,
  unknown: 4,
  paused: 5,
  cancelled: 130,
} as const satisfies Readonly<Record<RunStatus, number>>;

/** What the process returns for each kind of error. */
export const errorExitCodes = {
  failed: 1,
  input: 2,
  refused: 3,
  unknown: 4,
} as const satisfies Readonly<Record<ErrorKind, number>>;

/** The command line was not understood. */
export const usageExitCode = errorExitCodes.input;
