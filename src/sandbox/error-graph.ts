/** Looks into an error, its causes and its parts within fixed bounds, without running any code of what it looks at. */
import { types } from 'node:util';
import type { Locator } from './locator.ts';
import { proofOf, type StartProof } from './start-outcome.ts';

/** One set of bounds for every question. */
export const graphBounds = { depth: 8, nodes: 64, parts: 32 } as const;

interface Graph {
  readonly nodes: readonly object[];
  /** What carries a proof, or has nothing below it. */
  readonly leaves: readonly object[];
  /** False where something was beyond the bounds or could not be read without running its code. */
  readonly whole: boolean;
  /** True where one object was met twice. */
  readonly repeated: boolean;
}

type Found = { readonly readable: boolean; readonly value: unknown };

const nothing: Found = { readable: true, value: undefined };

/** An own data property. A getter is not run, and a proxy is not asked. */
function own(node: object, name: string | number): Found {
  if (types.isProxy(node)) return { readable: false, value: undefined };
  const property = Object.getOwnPropertyDescriptor(node, name);
  if (property === undefined) return nothing;
  return 'value' in property
    ? { readable: true, value: property.value }
    : { readable: false, value: undefined };
}

function walk(root: unknown): Graph {
  const nodes: object[] = [];
  const leaves: object[] = [];
  const seen = new Set<object>();
  let whole = true;
  let repeated = false;
  const queue: { value: unknown; depth: number; below: boolean }[] = [
    { value: root, depth: 1, below: false },
  ];
  for (let at = queue.shift(); at !== undefined; at = queue.shift()) {
    const { value, depth, below } = at;
    if (
      (typeof value !== 'object' && typeof value !== 'function') ||
      value === null ||
      types.isProxy(value)
    ) {
      whole = false;
      continue;
    }
    if (seen.has(value)) {
      repeated = true;
      continue;
    }
    if (depth > graphBounds.depth || nodes.length >= graphBounds.nodes) {
      whole = false;
      continue;
    }
    seen.add(value);
    nodes.push(value);
    const parts = partsOf(value);
    whole &&= parts.readable;
    const proven = proofOf(value) !== undefined;
    // What lies below a proof was told with it: it can contradict it, and is no leaf of its own.
    if (!below && (proven || parts.values.length === 0)) leaves.push(value);
    for (const part of parts.values) queue.push({ value: part, depth: depth + 1, below: below || proven });
  }
  return { nodes, leaves, whole, repeated };
}

function partsOf(node: object): { readonly values: readonly unknown[]; readonly readable: boolean } {
  const values: unknown[] = [];
  const cause = own(node, 'cause');
  const errors = own(node, 'errors');
  let readable = cause.readable && errors.readable;
  if (cause.value !== undefined) values.push(cause.value);
  if (errors.value !== undefined) {
    const list = errors.value;
    const size = typeof list === 'object' && list !== null ? own(list, 'length').value : undefined;
    const counted = typeof size === 'number' && size >= 1 && size <= graphBounds.parts;
    readable &&= counted;
    for (let i = 0; counted && i < size; i += 1) {
      const part = own(list as object, i);
      // A hole reads as undefined, which is no object and so never a leaf.
      readable &&= part.readable;
      values.push(part.value);
    }
  }
  return { values, readable };
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
