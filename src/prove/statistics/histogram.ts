/** Counts of resampled values in equal bins, for plots. */

export interface Histogram {
  /** Ascending, one more than counts: bin i holds what lies in [edges[i], edges[i + 1]), the last one its upper edge too. */
  readonly edges: readonly number[];
  readonly counts: readonly number[];
  /** The value that was observed, which the plot marks. */
  readonly observed: number;
}

/** Bins around 0, the same number on both sides and one in the middle, so that a symmetric distribution looks it. */
export function histogramOf(values: Float64Array, observed: number, binsEachSide = 20): Histogram {
  let most = Math.abs(observed);
  for (const value of values) if (Math.abs(value) > most && Number.isFinite(value)) most = Math.abs(value);
  const bins = 2 * binsEachSide + 1;
  // A distribution of zeros alone still needs bins of some width.
  const width = most === 0 ? 1 : (2 * most) / (bins - 1);
  const first = -(bins / 2) * width;
  const counts = new Array<number>(bins).fill(0);
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    const bin = Math.min(bins - 1, Math.max(0, Math.floor((value - first) / width)));
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  return { edges: Array.from({ length: bins + 1 }, (_, at) => first + at * width), counts, observed };
}
