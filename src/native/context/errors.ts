/** The errors of contexts: thrown where a program or a person has to mend them, returned where the model has to. */
import { type ErrorExtra, type ErrorTable, WritError } from '../../errors.ts';

export const contextErrors = {
  'context.bad-source': { kind: 'input', about: 'Something that is no source of a context was registered.' },
  'context.bad-alias': { kind: 'input', about: 'An alias is malformed, kept for results, or taken.' },
  'context.file-refused': {
    kind: 'refused',
    about: 'A file of a context cannot be opened where it was named.',
  },
  'context.not-text': { kind: 'input', about: 'The bytes of a context are no UTF-8 text.' },
  'context.capability-missing': { kind: 'refused', about: "The run does not hold the capability 'context'." },
  'context.invalid-limit': { kind: 'input', about: 'A limit is not a whole number above zero.' },
  'context.unknown': { kind: 'input', about: 'No context has this alias or id.' },
  'context.stale': { kind: 'input', about: 'The context was deleted, or its session has ended.' },
  'context.out-of-range': { kind: 'input', about: 'A position lies beyond the end of the context.' },
  'context.invalid-pattern': {
    kind: 'input',
    about: 'A search pattern is empty, too long or no expression.',
  },
  'context.invalid-argument': { kind: 'input', about: 'Another argument of an operation is wrong.' },
  'context.unsupported-operation': {
    kind: 'input',
    about: 'Contexts of this kind do not have the operation.',
  },
  'context.time-limit': { kind: 'failed', about: 'An operation came to nothing within its time.' },
  'context.changed': { kind: 'failed', about: 'The file behind a context was rewritten or cut short.' },
  'context.lost': { kind: 'failed', about: 'A result that was kept is no longer in the ledger as it was.' },
} as const satisfies ErrorTable;

export type ContextErrorCode = keyof typeof contextErrors;

/** Thrown for misuse; inside an operation also for what the model must mend, and then turned into its answer. */
export class ContextError extends WritError<ContextErrorCode> {
  constructor(code: ContextErrorCode, message: string, extra?: ErrorExtra) {
    super(contextErrors, code, message, extra);
  }
}
