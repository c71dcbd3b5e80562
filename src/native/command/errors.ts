/** How a call of a command tool can fail, in the words that the model reads. */
import type { ErrorTable } from '../../errors.ts';

export const commandErrors = {
  'command.rejected': {
    kind: 'input',
    about: 'A command could not be executed, with proof that it was not.',
  },
  'command.not-running': { kind: 'input', about: 'Input was meant for a command that does not run.' },
  'command.input-refused': {
    kind: 'input',
    about: 'A command takes no input, or none now; nothing was sent.',
  },
} as const satisfies ErrorTable;

export type CommandErrorCode = keyof typeof commandErrors;
