/** How each protocol says no, so that a client takes our refusal for its provider's own and does not ask again. */

import type { Protocol } from '../recorder/model-request.ts';
import type { HeldBack } from '../recorder/recorder.ts';

/**
 * 400 in all of them: the providers say by it that an account may spend no more, and no client sends the same request
 * again after it, as it does after 429 and 5xx.
 */
const status = 400;

/** An answer of the protocol in the upstream's place; null where the protocol is not known. */
export function refusalOf(protocol: Protocol | null, message: string): HeldBack {
  return { status, body: JSON.stringify(bodyOf(protocol, message)), message };
}

/** The answer to what is no request to a model: the upstream might take it for one that costs. */
export function notHere(message: string): HeldBack {
  return { status: 404, body: JSON.stringify(bodyOf(null, message)), message };
}

function bodyOf(protocol: Protocol | null, message: string) {
  switch (protocol) {
    case 'anthropic':
      return { type: 'error', error: { type: 'invalid_request_error', message } };
    case 'gemini':
      return { error: { code: status, message, status: 'FAILED_PRECONDITION' } };
    case 'openai-chat':
    case 'openai-responses':
    case null:
      return {
        error: { message, type: 'invalid_request_error', param: null, code: 'billing_hard_limit_reached' },
      };
  }
}
