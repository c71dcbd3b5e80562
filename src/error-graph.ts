/** Looks into an error, its causes and its parts within fixed bounds, without running any code of what it looks at. */
import { types } from 'node:util';

/** One set of bounds for every question. */
export const graphBounds = { depth: 8, nodes: 64, parts: 32 } as const;

export interface ErrorGraph {
  /**
   * All that was come upon, the first value first: objects once, and also what is no object or was not looked into.
   */
  readonly met: readonly unknown[];
  /** What was looked into, from the top down. */
  readonly nodes: readonly object[];
  /** What ends a way down: there is nothing below it, or whoever asks wanted to stop there. */
  readonly leaves: readonly object[];
  /** False where something was beyond the bounds or could not be read without running its code. */
  readonly whole: boolean;
  /** True where one object was met twice. */
  readonly repeated: boolean;
}

type Found = { readonly readable: boolean; readonly value: unknown };

const nothing: Found = { readable: true, value: undefined };

/** An own data property. A getter is not run, and a proxy is not asked: neither is `readable`. */
export function ownData(node: object, name: string | number): Found {
  if (types.isProxy(node)) return { readable: false, value: undefined };
  const property = Object.getOwnPropertyDescriptor(node, name);
  if (property === undefined) return nothing;
  return 'value' in property
    ? { readable: true, value: property.value }
    : { readable: false, value: undefined };
}

/** All that a thrown value holds by `cause` and `errors`, within the bounds. `ends` says of a node that it is a leaf. */
export function errorGraph(root: unknown, ends: (node: object) => boolean = () => false): ErrorGraph {
  const met: unknown[] = [];
  const nodes: object[] = [];
  const leaves: object[] = [];
  const seen = new Set<unknown>();
  let whole = true;
  let repeated = false;
  const queue: { value: unknown; depth: number; below: boolean }[] = [
    { value: root, depth: 1, below: false },
  ];
  for (let at = queue.shift(); at !== undefined; at = queue.shift()) {
    const { value, depth, below } = at;
    if (seen.has(value)) {
      repeated = true;
      continue;
    }
    met.push(value);
    if (
      (typeof value !== 'object' && typeof value !== 'function') ||
      value === null ||
      types.isProxy(value)
    ) {
      whole = false;
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
    const last = ends(value);
    if (!below && (last || parts.values.length === 0)) leaves.push(value);
    for (const part of parts.values) queue.push({ value: part, depth: depth + 1, below: below || last });
  }
  return { met, nodes, leaves, whole, repeated };
}

function partsOf(node: object): { readonly values: readonly unknown[]; readonly readable: boolean } {
  const values: unknown[] = [];
  const cause = ownData(node, 'cause');
  const errors = ownData(node, 'errors');
  let readable = cause.readable && errors.readable;
  if (cause.value !== undefined) values.push(cause.value);
  if (errors.value !== undefined) {
    const list = errors.value;
    const size = typeof list === 'object' && list !== null ? ownData(list, 'length').value : undefined;
    const counted = typeof size === 'number' && size >= 1 && size <= graphBounds.parts;
    readable &&= counted;
    for (let i = 0; counted && i < size; i += 1) {
      const part = ownData(list as object, i);
      // A hole reads as undefined, which is no object and so never a leaf.
      readable &&= part.readable;
      values.push(part.value);
    }
  }
  return { values, readable };
}
