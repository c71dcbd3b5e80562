/** What makes the calls of an answer unusable, in the words that all protocols share. */
import type { wireErrors } from './errors.ts';

/** No model asks for so much at once; a server that does is broken or hostile, and each call costs memory and a record. */
export const callsMax = 512;

export interface CallFault {
  readonly code: keyof typeof wireErrors;
  readonly message: string;
}

/** A call without an id or a name: neither is ever made up. */
export function badCall(message: string): CallFault {
  return { code: 'wire.bad-response', message };
}

/** More calls than one answer may have. */
export const tooManyCalls: CallFault = {
  code: 'wire.too-many-calls',
  message: `Expected at most ${callsMax} tool calls in one answer; more came.`,
};
