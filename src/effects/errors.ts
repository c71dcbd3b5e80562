/** What can go wrong with effects beside their outcomes: codes and the error class. */
import type { ErrorExtra, ErrorTable } from '../errors.ts';
import { WritError } from '../errors.ts';

export const effectsErrors = {
  'effects.impossible-event': {
    kind: 'failed',
    about: 'The record has an event that its effect cannot have had.',
  },
  'effects.other-call': { kind: 'failed', about: 'Another call already stands at this turn and position.' },
  'effects.observation-lost': {
    kind: 'failed',
    about: 'The text of a recorded observation is no longer stored.',
  },
} as const satisfies ErrorTable;

export class EffectsError extends WritError<keyof typeof effectsErrors> {
  constructor(code: keyof typeof effectsErrors, message: string, extra: ErrorExtra = {}) {
    super(effectsErrors, code, message, extra);
  }
}
