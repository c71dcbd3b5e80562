/** The errors of delivering: requests that are none, refusals before anything is touched, and how a program ended badly. */
import { type ErrorExtra, type ErrorTable, WritError } from '../errors.ts';

export const deliverErrors = {
  'deliver.bad-request': { kind: 'input', about: 'A field of the request is not what it has to be.' },
  'deliver.bad-cells': { kind: 'input', about: 'A file of measurements is not what it has to be.' },
  'deliver.unknown-harness': {
    kind: 'refused',
    about: 'No adapter bears the name, so no intent is honoured.',
  },
  'deliver.no-control': { kind: 'refused', about: 'The harness has no control for the intent.' },
  'deliver.not-delivered': {
    kind: 'refused',
    about: 'The control was measured, and the text did not arrive.',
  },
  'deliver.unmeasured': {
    kind: 'refused',
    about: 'Nobody measured the control on this version, model family and login.',
  },
  'deliver.residue': {
    kind: 'refused',
    about: "Exact was asked for, and text of the vendor's stays beside ours.",
  },
  'deliver.text-altered': {
    kind: 'refused',
    about: 'The harness was measured to alter texts of this kind.',
  },
  'deliver.too-large': { kind: 'refused', about: 'A text is larger than the only way to the harness.' },
  'deliver.not-transportable': {
    kind: 'refused',
    about: 'A text holds what the only way to the harness cannot carry.',
  },
  'deliver.dimension-unsupported': {
    kind: 'refused',
    about: 'The harness has no native way for something the request asks for.',
  },
  'deliver.unmeasurable': {
    kind: 'refused',
    about: 'The run was to be measured first, and no measurement came of it.',
  },
  'deliver.no-resume': { kind: 'refused', about: 'The harness cannot continue a session.' },
  'deliver.workspace-speaks': {
    kind: 'refused',
    about: 'A file of the workspace would change the system prompt, and nothing keeps it out.',
  },
  'deliver.session-bound': {
    kind: 'refused',
    about: 'The session began with another intent, fidelity or other dimensions than are asked for now.',
  },
  'deliver.session-lost': {
    kind: 'refused',
    about: "The vendor's own session, which a continued one needs, is not known or not there.",
  },
  'deliver.not-redirectable': {
    kind: 'refused',
    about: 'The harness was to be metered, and nothing leads its requests to a recorder.',
  },
  'deliver.not-proven': {
    kind: 'failed',
    about: 'A metered program made a request in which the text did not stand as measured; it was not sent.',
  },
  'deliver.unpriced': {
    kind: 'failed',
    about: 'A metered program asked a model whose price is not known, and money is limited.',
  },
  'deliver.not-metered': {
    kind: 'failed',
    about: 'A program gave an answer, and none of its requests went through the meter.',
  },
  'deliver.not-started': { kind: 'failed', about: 'The program could not be started; nothing ran.' },
  'deliver.program-failed': {
    kind: 'failed',
    about: 'The program says that it failed, or ended as one that did.',
  },
  'deliver.no-answer': { kind: 'failed', about: 'The program ended well and gave no answer.' },
  'deliver.stopped': { kind: 'failed', about: 'The program was ended, with all that it had started.' },
  'deliver.outcome-unknown': {
    kind: 'unknown',
    about: 'The program was started, and nobody saw how it ended, or it could not be ended.',
  },
} as const satisfies ErrorTable;

export type DeliverErrorCode = keyof typeof deliverErrors;

export class DeliverError extends WritError<DeliverErrorCode> {
  constructor(code: DeliverErrorCode, message: string, extra?: ErrorExtra) {
    super(deliverErrors, code, message, extra);
  }
}
