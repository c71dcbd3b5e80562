/** The k-th smallest of many numbers without sorting them all: an interval needs four of twenty thousand. */

/**
 * Moves the finite numbers to the front, in their order, and returns that part of the same memory.
 */
export function finitePart(values: Float64Array): Float64Array {
  let kept = 0;
  for (let at = 0; at < values.length; at += 1) {
    const value = values[at] as number;
    if (Number.isFinite(value)) values[kept++] = value;
  }
  return values.subarray(0, kept);
}

/**
 * The number that sorting would put at `index`; undefined outside. Rearranges the values so that none before it is
 * larger and none behind it smaller. Numbers only: NaN has no place in an order.
 * Source: Hoare, Algorithm 65 (Find), Communications of the ACM 4, 1961.
 */
export function select(values: Float64Array, index: number): number | undefined {
  let left = 0;
  let right = values.length - 1;
  while (left < right && index >= left && index <= right) {
    const pivot = values[(left + right) >> 1] as number;
    let low = left;
    let high = right;
    while (low <= high) {
      while ((values[low] as number) < pivot) low += 1;
      while ((values[high] as number) > pivot) high -= 1;
      if (low > high) break;
      const held = values[low] as number;
      values[low] = values[high] as number;
      values[high] = held;
      low += 1;
      high -= 1;
    }
    if (index <= high) right = high;
    else if (index >= low) left = low;
    else break;
  }
  return values[index];
}

/** The smallest number from `index` on; undefined where there is none. After `select(values, index - 1)` it is the next in order. */
export function leastFrom(values: Float64Array, index: number): number | undefined {
  let least = values[index];
  if (least === undefined) return undefined;
  for (let at = index + 1; at < values.length; at += 1) {
    const value = values[at] as number;
    if (value < least) least = value;
  }
  return least;
}
