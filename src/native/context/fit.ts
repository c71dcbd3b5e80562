/** Fits values into the bytes that an answer may have: whole items while they fit, a preview where not even one does. */
import type { Json } from '../../protocol/json.ts';

/** UTF-8 bytes of a value written as JSON. */
export function jsonBytes(value: Json): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** The longest beginning, or with `end` the longest ending, of a text that takes at most so many bytes as JSON. */
export function fitText(text: string, bytesMax: number, side: 'beginning' | 'end' = 'beginning'): string {
  // A character takes at least one byte, and two stand around the text: more units than this cannot fit.
  const unitsMax = Math.max(0, bytesMax - 2);
  const near =
    side === 'beginning' ? text.slice(0, unitsMax) : text.slice(Math.max(0, text.length - unitsMax));
  // A cut may have halved a pair, and half a character is none.
  const characters = [...near.replace(/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/g, '')];
  if (side === 'end') characters.reverse();
  let left = unitsMax;
  let fitting = 0;
  for (const character of characters) {
    left -= jsonBytes(character) - 2;
    if (left < 0) break;
    fitting += 1;
  }
  const kept = characters.slice(0, fitting);
  return (side === 'end' ? kept.reverse() : kept).join('');
}

/** Collects the items of one answer under its limits on number and bytes. */
export interface Basket<Item extends Json> {
  readonly items: Item[];
  /** False if the item does not fit; then nothing more should be offered. */
  offer(item: Item): boolean;
  /** Bytes that are left for the next item. */
  room(): number;
}

/** An empty list and what surrounds it in the answer take `frame` bytes. */
export function openBasket<Item extends Json>(resultsMax: number, bytesMax: number, frame = 2): Basket<Item> {
  const items: Item[] = [];
  let left = bytesMax - frame;
  const comma = () => (items.length === 0 ? 0 : 1);
  return {
    items,
    offer(item) {
      const bytes = jsonBytes(item) + comma();
      if (items.length >= resultsMax || bytes > left) return false;
      left -= bytes;
      items.push(item);
      return true;
    },
    room: () => (items.length >= resultsMax ? 0 : Math.max(0, left - comma())),
  };
}
