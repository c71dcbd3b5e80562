/** What the errors of a sandbox prove about a start, whatever they are wrapped in and whatever stands beside them. */
import { type ErrorGraph, errorGraph, ownData as own } from '../error-graph.ts';
import type { Locator } from './locator.ts';
import { proofOf, type StartProof } from './start-outcome.ts';

/** What lies below a proof was told with it: it can contradict it, and is no leaf of its own. */
function walk(thrown: unknown): ErrorGraph {
  return errorGraph(thrown, (node) => proofOf(node) !== undefined);
}

/** True only if every leaf of a graph that was read whole is proven unavailable and nothing in it says otherwise. */
export function provenUnavailable(thrown: unknown): boolean {
  const { nodes, leaves, whole, repeated } = walk(thrown);
  return (
    whole &&
    !repeated &&
    leaves.every((leaf) => proofOf(leaf)?.kind === 'unavailable') &&
    nodes.every((node) => (proofOf(node)?.kind ?? 'unavailable') === 'unavailable' && !answered(node))
  );
}

/** True if a start of unknown outcome is anywhere in it, and also if not all of it could be read. */
export function mayHoldUnknownStart(thrown: unknown): boolean {
  const { nodes, whole } = walk(thrown);
  return !whole || nodes.some((node) => proofOf(node)?.kind === 'unknown');
}

/** The one command that an error is about; null if there is none, more than one, or not all could be read. */
export function locatorIn(thrown: unknown): Locator | null {
  const { nodes, whole } = walk(thrown);
  const found = nodes.map(proofOf).filter((proof) => proof?.kind === 'unknown');
  const [only] = found;
  return whole && found.length === 1 && only?.kind === 'unknown' ? only.locator : null;
}

/** The proof of an error that is about nothing else; undefined if there is none, or parts of it disagree. */
export function soleProof(thrown: unknown): StartProof | undefined {
  if (provenUnavailable(thrown)) return { kind: 'unavailable' };
  const { nodes, leaves, whole } = walk(thrown);
  const [leaf] = leaves;
  const proof = leaf === undefined ? undefined : proofOf(leaf);
  const others = nodes.filter((node) => node !== leaf && proofOf(node) !== undefined);
  return whole && leaves.length === 1 && others.length === 0 && proof?.kind !== 'unavailable'
    ? proof
    : undefined;
}

const transportCodes = /^(ECONN[A-Z]+|EAI_AGAIN|ENOTFOUND|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)$/;

/** True if every leaf is a fault of the connection: an observation may be repeated then. It proves nothing of a start. */
export function isTransportFault(thrown: unknown): boolean {
  const { leaves, whole } = walk(thrown);
  return (
    whole &&
    leaves.every((leaf) => {
      const { value } = own(leaf, 'code');
      return typeof value === 'string' && transportCodes.test(value);
    })
  );
}

// A server that answered was reached, whatever a proof beside it says.
function answered(node: object): boolean {
  const response = own(node, 'response');
  const places = [
    node,
    ...(typeof response.value === 'object' && response.value !== null ? [response.value] : []),
  ];
  return (
    !response.readable ||
    places.some((place) =>
      ['status', 'statusCode', 'httpStatus', 'httpStatusCode'].some((name) => {
        const { readable, value } = own(place, name);
        return !readable || (typeof value === 'number' && value >= 100 && value <= 599);
      }),
    )
  );
}
