/** What is thrown about sandboxes and commands; how a start ended is returned, never thrown. */
import type { ErrorExtra, ErrorTable } from '../errors.ts';
import { WritError } from '../errors.ts';

export const sandboxErrors = {
  'sandbox.bad-option': { kind: 'input', about: 'An option of a sandbox is missing or wrong.' },
  'sandbox.bad-locator': { kind: 'input', about: 'A text does not name a command.' },
  'sandbox.unavailable': { kind: 'refused', about: 'The sandbox that was asked for does not work here.' },
  'sandbox.no-supervisor': { kind: 'failed', about: 'The supervisor program is not where it was built.' },
  'sandbox.not-found': { kind: 'input', about: 'Nothing is known here of a command.' },
  'sandbox.not-launched-here': {
    kind: 'refused',
    about: 'A command may be released only by the process that launched it.',
  },
  'sandbox.capture-inside': {
    kind: 'input',
    about: 'A capture of a workspace was asked for inside of an operation on it.',
  },
  'sandbox.lost-sight': { kind: 'unknown', about: 'A command could not be looked at; it may be running.' },
  'sandbox.input-unknown': { kind: 'unknown', about: 'Whether bytes reached a command is not known.' },
} as const satisfies ErrorTable;

export type SandboxErrorCode = keyof typeof sandboxErrors;

export class SandboxError extends WritError<SandboxErrorCode> {
  constructor(code: SandboxErrorCode, message: string, extra: ErrorExtra = {}) {
    super(sandboxErrors, code, message, extra);
  }
}
