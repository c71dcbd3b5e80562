/** Everything that can go wrong between naming a model and having its whole answer. */
import { type ErrorExtra, type ErrorTable, WritError } from '../../errors.ts';

export const modelErrors = {
  'model.bad-spec': { kind: 'input', about: 'A model is not written as provider/name.' },
  'model.unknown-provider': {
    kind: 'input',
    about: 'A provider is not one that Writ knows, and no base URL was given for it.',
  },
  'model.bad-base-url': {
    kind: 'input',
    about:
      'A base URL is no http or https address, holds more than an address, or would send a key in the clear.',
  },
  'model.missing-key': { kind: 'input', about: 'The environment variable with the key is not set.' },
  'model.bad-key': {
    kind: 'input',
    about: 'The name of a key variable is no variable name, or its value cannot be a key.',
  },
  'model.bad-attribution': {
    kind: 'input',
    about: 'A referer, title or session id for OpenRouter cannot be sent as a header.',
  },
  'model.bad-price': { kind: 'input', about: 'A price is not a number of US dollars from zero up.' },
  'model.unreachable': {
    kind: 'failed',
    about: 'No connection could be made: name not found, refused, or no route. Nothing was sent.',
  },
  'model.tls': {
    kind: 'failed',
    about: 'The server could not prove who it is, or does not speak TLS. Nothing was sent.',
  },
  'model.connection-lost': {
    kind: 'failed',
    about: 'The connection broke before an answer began; the provider may have worked on the request.',
  },
  'model.no-answer': { kind: 'failed', about: 'The provider did not begin to answer in time.' },
  'model.stalled': {
    kind: 'failed',
    about: 'The provider began to answer and then sent nothing for too long.',
  },
  'model.cut': { kind: 'failed', about: 'The answer ended before it was whole.' },
  'model.cancelled': {
    kind: 'failed',
    about: 'The request was cancelled; its connection was closed at once.',
  },
  'model.unauthorized': { kind: 'failed', about: 'The provider did not accept the key (HTTP 401).' },
  'model.no-credit': { kind: 'failed', about: 'The account has no credit or no quota left.' },
  'model.forbidden': { kind: 'failed', about: 'The key may not do this (HTTP 403).' },
  'model.not-found': { kind: 'failed', about: 'The server knows no such model, or no such path (HTTP 404).' },
  'model.rejected': {
    kind: 'failed',
    about: 'The provider refused the request itself (HTTP 400 and its kin).',
  },
  'model.request-too-large': {
    kind: 'failed',
    about: 'The request has too many bytes for the server (HTTP 413).',
  },
  'model.rate-limited': { kind: 'failed', about: 'Too many requests or tokens in a short time (HTTP 429).' },
  'model.server-error': {
    kind: 'failed',
    about: 'The server failed or was too busy (HTTP 408 or 5xx, or in words before an answer began).',
  },
  'model.redirected': {
    kind: 'failed',
    about:
      'The server pointed elsewhere (HTTP 3xx); a redirect is never followed, because the key would go along.',
  },
  'model.not-an-api': { kind: 'failed', about: 'A web page came back where a model should answer.' },
  'model.provider-error': {
    kind: 'failed',
    about: 'The provider reported an error inside a response that had begun with success.',
  },
  'model.bad-response': { kind: 'failed', about: 'The response is not what its protocol allows.' },
  'model.setting-dropped': {
    kind: 'failed',
    about: 'The AI SDK warned that a setting does not reach the model, and the caller asked for strictness.',
  },
  'model.setting-unsupported': {
    kind: 'input',
    about:
      'The protocol of the model has no words for a setting, such as a reasoning effort, or for its value.',
  },
  'model.response-too-large': { kind: 'failed', about: 'The response has more bytes than the limit allows.' },
} as const satisfies ErrorTable;

export type ModelErrorCode = keyof typeof modelErrors;

export class ModelError extends WritError<ModelErrorCode> {
  constructor(code: ModelErrorCode, message: string, extra: ErrorExtra = {}) {
    super(modelErrors, code, message, extra);
  }
}
