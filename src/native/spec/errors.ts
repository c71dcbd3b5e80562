/** The errors of specifications: what cannot be read, frozen or trusted. A requirement that is not met is a result, no error. */
import { type ErrorExtra, type ErrorTable, WritError } from '../../errors.ts';

export const specErrors = {
  'spec.unreadable': { kind: 'input', about: 'A specification has not the closed form.' },
  'spec.unknown-assertion': {
    kind: 'input',
    about: 'A specification names an assertion that the registry does not have.',
  },
  'spec.bad-arguments': { kind: 'input', about: 'The arguments of an assertion are not what it takes.' },
  'spec.policy-empty': {
    kind: 'refused',
    about: 'No evidence could satisfy a requirement and its assertion both.',
  },
  'spec.bad-assertion': { kind: 'input', about: 'An assertion was defined in a way that would mislead.' },
  'spec.altered': {
    kind: 'refused',
    about: 'A frozen specification is not what its fingerprint was made of.',
  },
  'spec.not-met': {
    kind: 'failed',
    about: 'A run has ended and what had to be true was not seen to be so.',
  },
  'spec.version-taken': {
    kind: 'refused',
    about: 'A changed specification needs a higher version in its series.',
  },
} as const satisfies ErrorTable;

export class SpecError extends WritError<keyof typeof specErrors> {
  constructor(code: keyof typeof specErrors, message: string, extra: ErrorExtra = {}) {
    super(specErrors, code, message, extra);
  }
}
