/** How a call that changes a file can fail, in the words that the model reads. */
import type { ErrorTable } from '../../errors.ts';

export const editErrors = {
  'edit.exists': {
    kind: 'input',
    about: 'A file is there already, and it was not said that it may be replaced.',
  },
  'edit.misfit': {
    kind: 'input',
    about: 'A text to replace does not occur in the file exactly once, or a text does not fit a UTF-8 file.',
  },
  'edit.changed': { kind: 'failed', about: 'The file changed while it was edited; nothing was written.' },
  'edit.not-writable': { kind: 'failed', about: 'The system does not let the file be written.' },
} as const satisfies ErrorTable;

export type EditErrorCode = keyof typeof editErrors;
