/** Figures as a program reads them: an amount of which nothing is known is null and never zero. */
import { isRecord } from '../../protocol/json.ts';

const amounts = [
  ['totalTokens', 'tokens'],
  ['costUsd', 'costUsd'],
] as const;

/**
 * The same value, in which every `known`, `spent` and `budget` beside a `usage` says null for tokens or costs that no part of that
 * usage told. What was told in part stays: it was at least so much.
 */
export function unknownIsNull(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unknownIsNull);
  if (!isRecord(value)) return value;
  const all = Object.fromEntries(Object.entries(value).map(([name, one]) => [name, unknownIsNull(one)]));
  const { usage, budget } = all;
  if (!isRecord(usage)) return all;
  for (const [name, counter] of amounts) {
    if (usage[name] !== null) continue;
    for (const [sum, of] of [
      ['known', name],
      ['spent', counter],
    ] as const) {
      const amount = all[sum];
      if (isRecord(amount) && amount[of] === 0) all[sum] = { ...amount, [of]: null };
    }
    const line = isRecord(budget) ? budget[counter] : undefined;
    if (isRecord(line) && line.used === 0)
      all.budget = { ...(all.budget as object), [counter]: { ...line, used: null } };
  }
  return all;
}
