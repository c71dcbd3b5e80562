/** How a start can end, and the proofs behind it, which only code that really stopped in time can make. */
import type { NonDispatch } from '../protocol/effect.ts';
import type { Locator } from './locator.ts';

/** What an authenticated answer to the start itself said. */
export const rejectionCodes = [
  'invalid-argument',
  'not-found',
  'permission-denied',
  'unauthenticated',
  'unimplemented',
] as const;
export type RejectionCode = (typeof rejectionCodes)[number];

/**
 * The five ends of a start. Nobody repeats `rejected` and `not-dispatched` by himself; only `unavailable`, which is
 * proven, may be tried again, a few times. `unknown` is looked at by its locator and never sent again.
 */
export type StartOutcome =
  | { readonly outcome: 'rejected'; readonly code: RejectionCode; readonly message: string }
  | { readonly outcome: 'unavailable'; readonly nonDispatch: NonDispatch }
  | {
      readonly outcome: 'not-dispatched';
      readonly why: 'cancelled' | 'closed' | 'invalid' | 'not-recorded';
      readonly nonDispatch: NonDispatch;
    }
  | { readonly outcome: 'unknown'; readonly locator: Locator; readonly message: string }
  | { readonly outcome: 'started'; readonly locator: Locator };

/** What is proven about a start by the part of a sandbox that threw. */
export type StartProof =
  | { readonly kind: 'rejected'; readonly code: RejectionCode }
  | { readonly kind: 'unavailable' }
  | { readonly kind: 'not-dispatched'; readonly why: 'cancelled' | 'closed' | 'invalid' }
  | { readonly kind: 'unknown'; readonly locator: Locator };

// A proof lies in no property: nothing that a server says, a program prints or an object inherits can look like one.
const proofs = new WeakMap<object, StartProof>();

/** An error that carries a proof. For adapters of sandboxes only. */
export function startFault(proof: StartProof, message: string, cause?: unknown): Error {
  const fault = new Error(message, cause === undefined ? {} : { cause });
  proofs.set(fault, Object.freeze({ ...proof }));
  return fault;
}

/** The proof that an error carries; undefined for every other value. */
export function proofOf(value: object): StartProof | undefined {
  return proofs.get(value);
}
