/** Types of the judgement of a benchmark, which a test holds. */
export interface CostPoint {
  readonly bytes: number;
  readonly cpu: number;
}

export function isLinear(points: readonly CostPoint[]): {
  readonly slope: number;
  readonly base: number;
  readonly explained: number;
  readonly steeper: number;
  readonly linear: boolean;
};
