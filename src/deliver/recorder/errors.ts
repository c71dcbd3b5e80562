/** The errors of the recorder: where it cannot stand, and where its record cannot be kept. */
import { type ErrorExtra, type ErrorTable, WritError } from '../../errors.ts';

export const recorderErrors = {
  'recorder.bad-upstream': { kind: 'input', about: 'What was given as an upstream is not an HTTP base URL.' },
  'recorder.no-port': { kind: 'failed', about: 'The recorder cannot listen at this host and port.' },
  'recorder.folder-not-empty': { kind: 'refused', about: 'A recording needs a folder with nothing in it.' },
  'recorder.unwritable': {
    kind: 'failed',
    about: 'An exchange cannot be written into the folder of the record.',
  },
} as const satisfies ErrorTable;

export class RecorderError extends WritError<keyof typeof recorderErrors> {
  constructor(code: keyof typeof recorderErrors, message: string, extra?: ErrorExtra) {
    super(recorderErrors, code, message, extra);
  }
}
