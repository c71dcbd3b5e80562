/** What can be wrong with a request that is to be written, or with a response that is being read. */
import { type ErrorExtra, type ErrorTable, WritError } from '../errors.ts';

export const wireErrors = {
  'wire.bad-parameter': {
    kind: 'input',
    about:
      'A model parameter has a name that the wire writes itself or does not know, or a value that JSON cannot hold.',
  },
  'wire.foreign-message': {
    kind: 'input',
    about: 'A recorded message is not of the protocol that is to send it.',
  },
  'wire.event-too-large': {
    kind: 'failed',
    about: 'One event of a response stream is longer than the limit.',
  },
  'wire.too-many-calls': { kind: 'failed', about: 'One answer holds more tool calls than the limit.' },
  'wire.bad-response': {
    kind: 'failed',
    about: 'A response is not what its protocol allows: no JSON, or a tool call without id or name.',
  },
} as const satisfies ErrorTable;

export class WireError extends WritError<keyof typeof wireErrors> {
  constructor(code: keyof typeof wireErrors, message: string, extra: ErrorExtra = {}) {
    super(wireErrors, code, message, extra);
  }
}

/** The refusal of a recorded message that the protocol has not written. */
export function foreignMessage(protocol: string, message: string): WireError {
  return new WireError(
    'wire.foreign-message',
    `Expected a message as ${protocol} writes it; found one that begins with ${JSON.stringify(message.slice(0, 60))}.`,
    { next: 'Continue the session with the protocol it began with, or start a new one.' },
  );
}
