/** The errors of the native harness: how a conversation with a model can end other than by an answer. */
import { type ErrorExtra, type ErrorTable, WritError } from '../errors.ts';

export const nativeErrors = {
  'native.stalled-in-tool': {
    kind: 'failed',
    about: 'An answer stood still in which the provider had begun to run a tool of its own.',
  },
  'native.tool-name-clash': { kind: 'input', about: 'Two tools of one session bear the same name.' },
  'native.message-lost': {
    kind: 'failed',
    about: 'A message that the session sent is no longer in the ledger as it was.',
  },
  'native.answer-empty': {
    kind: 'failed',
    about: 'The model ended its turn without text and without a call.',
  },
  'native.answer-cut-off': {
    kind: 'failed',
    about: 'The output limit cut the answer off; nothing of it was executed.',
  },
  'native.answer-filtered': { kind: 'failed', about: "The provider's filter withheld the answer." },
  'native.batch-mismatch': {
    kind: 'failed',
    about: 'The response says it calls tools, and its message holds no call.',
  },
  'native.call-id-reused': {
    kind: 'failed',
    about: 'A call bears an id that this session has already seen.',
  },
  'native.approval-missing': {
    kind: 'refused',
    about: 'A call needs approval and nobody is there to give it.',
  },
  'native.setup-unavailable': {
    kind: 'failed',
    about: 'What a call needs is not there, with proof that nothing was sent; the run waits.',
  },
  'native.cancelled': { kind: 'failed', about: 'The run was cancelled while the harness was at work.' },
  'native.policy-stopped': { kind: 'failed', about: 'A policy of the agent ended the run.' },
  'native.retry-too-late': {
    kind: 'failed',
    about: 'The provider asks for a longer wait than the run may take.',
  },
} as const satisfies ErrorTable;

/** What the runtime itself says of a call, in the words that the model reads: `failed(tool.denied): …`. */
export const callErrors = {
  'tool.unknown': { kind: 'failed', about: 'The session shows no tool of this name.' },
  'tool.unavailable': {
    kind: 'failed',
    about: 'The session shows the tool, and this process does not have it.',
  },
  'tool.capability-missing': { kind: 'refused', about: "The run does not hold the tool's capability." },
  'tool.denied': { kind: 'refused', about: 'A person denied the call.' },
  'tool.not-run': { kind: 'failed', about: 'The batch ended before the call.' },
  'tool.not-dispatched': { kind: 'failed', about: 'Nothing was begun, with proof.' },
  'tool.failed': { kind: 'failed', about: 'A read threw.' },
  'tool.timeout': { kind: 'failed', about: 'A read did not answer within its limit.' },
  'tool.cancelled': { kind: 'failed', about: 'A read was stopped with the run.' },
  'tool.outcome-unknown': { kind: 'unknown', about: 'A write was sent, and what it did was not seen.' },
} as const satisfies ErrorTable;

export type CallErrorCode = keyof typeof callErrors;

export type NativeErrorCode = keyof typeof nativeErrors;

export class NativeError extends WritError<NativeErrorCode> {
  constructor(code: NativeErrorCode, message: string, extra?: ErrorExtra) {
    super(nativeErrors, code, message, extra);
  }
}
