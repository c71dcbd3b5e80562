/** The errors of the command line itself: how it was called, and what it cannot do with a record. */
import { type ErrorExtra, type ErrorTable, WritError } from '../errors.ts';

export const cliErrors = {
  'cli.unknown-command': { kind: 'input', about: 'There is no command of this name.' },
  'cli.unknown-option': { kind: 'input', about: 'The command has no option of this name.' },
  'cli.missing-argument': { kind: 'input', about: 'A command or an option lacks its value.' },
  'cli.too-many-arguments': { kind: 'input', about: 'The command takes fewer arguments.' },
  'cli.bad-value': { kind: 'input', about: 'The value of an option has another form than it should.' },
  'cli.no-current-folder': { kind: 'input', about: 'The folder in which the command was called is gone.' },
  'cli.unreadable': {
    kind: 'input',
    about: 'A file named on the command line cannot be read as UTF-8 text.',
  },
  'cli.no-model': { kind: 'input', about: 'Neither the command line nor the agent names a model.' },
  'cli.unsupported': {
    kind: 'refused',
    about: 'The agent asks for something that this harness cannot keep.',
  },
  'cli.no-program': { kind: 'failed', about: 'The program of a harness is not on PATH.' },
  'cli.folder-not-empty': { kind: 'refused', about: 'A new agent needs a folder with nothing in it.' },
  'cli.unwritable': { kind: 'failed', about: 'A file or folder could not be written.' },
  'cli.ambiguous-run': { kind: 'input', about: 'A part of an id fits several runs.' },
  'cli.not-rebuildable': { kind: 'refused', about: 'The session was not started by the command line.' },
  'cli.held-elsewhere': { kind: 'refused', about: 'A process of another machine is at work on the run.' },
  'cli.still-running': { kind: 'unknown', about: 'A run was asked to end and has not ended yet.' },
  'cli.untrusted': {
    kind: 'refused',
    about: 'An agent would run code of its folder that nobody accepted on this machine.',
  },
  'cli.trust-unreadable': { kind: 'refused', about: 'What was accepted on this machine cannot be told.' },
  'cli.foreign-ledger': {
    kind: 'refused',
    about: 'A run of a ledger in a workspace would go on that was not made by this user on this machine.',
  },
  'cli.tools-unreadable': { kind: 'refused', about: 'The tools/ of an agent hold what is no regular file.' },
  'cli.bad-tool': { kind: 'input', about: 'A file of tools/ does not make the tools it should.' },
  'cli.other-capability': {
    kind: 'refused',
    about: 'A file of tools/ asks for another capability than agent.yaml says.',
  },
  'cli.unknown-capability': { kind: 'input', about: 'An agent holds a capability that no tool has.' },
  'cli.not-confirmed': {
    kind: 'refused',
    about: 'Something would be removed for good, and --yes is missing.',
  },
} as const satisfies ErrorTable;

export type CliErrorCode = keyof typeof cliErrors;

export class CliError extends WritError<CliErrorCode> {
  constructor(code: CliErrorCode, message: string, extra?: ErrorExtra) {
    super(cliErrors, code, message, extra);
  }
}
