/** Every error of proving something about a text; what a check finds wrong with an agent is a finding instead. */
import { type ErrorExtra, type ErrorTable, WritError } from '../../errors.ts';

export const proofErrors = {
  'proof.nothing-to-lock': { kind: 'input', about: 'The agent names no situation that could be pinned.' },
  'proof.open-situation': {
    kind: 'refused',
    about: 'A situation leaves a fact to the machine at hand, so its text cannot be pinned.',
  },
  'proof.bad-lock': { kind: 'input', about: 'writ.lock.json is not a lock that this version reads.' },
  'proof.no-git': { kind: 'failed', about: 'Git could not be run, or the folder is in no repository.' },
  'proof.no-revision': { kind: 'input', about: 'The revision, or the agent in it, does not exist.' },
  'proof.bad-revision': { kind: 'input', about: 'The agent of that revision cannot be read.' },
  'proof.bad-mark': {
    kind: 'input',
    about: 'A fragment mark in a prompt has no usable name, or one used twice.',
  },
  'proof.not-identical': {
    kind: 'failed',
    about: 'An imported prompt did not compose to the bytes it came from.',
  },
} as const satisfies ErrorTable;

export type ProofErrorCode = keyof typeof proofErrors;

export class ProofError extends WritError<ProofErrorCode> {
  constructor(code: ProofErrorCode, message: string, extra: ErrorExtra = {}) {
    super(proofErrors, code, message, extra);
  }
}
