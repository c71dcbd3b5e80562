/** A composition of one given text: for callers who have a prompt and no agent folder. */
import { sha256 } from '../digest.ts';
import type { Composition } from '../protocol/composition.ts';
import { layerOf, sizesOf, tokenMethod } from './layers.ts';

/** The text as the whole contract, byte for byte; it has no conditions, so all of it is the stable prefix. */
export function plainComposition(agent: string, text: string): Composition {
  const sizes = sizesOf(text);
  return {
    agent,
    profile: 'default',
    digest: sha256(text),
    ...sizes,
    tokenMethod,
    text,
    stablePrefixBytes: sizes.bytes,
    layers: text === '' ? [] : [layerOf('contract', '', text, [])],
    decisions: [],
  };
}
