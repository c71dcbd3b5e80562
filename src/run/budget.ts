/** The budget of a run: amounts are reserved before they are spent, charged after, and never admitted beyond what is left. */
import type { Reservation } from '../harness.ts';
import {
  type BudgetAmount,
  type BudgetCounter,
  type BudgetLimits,
  type BudgetReport,
  budgetCounters,
} from '../protocol/budget.ts';
import { RunError } from './errors.ts';

export interface Budget {
  /** All or nothing: either every counter of the amount has room, or nothing is set aside. */
  reserve(amount: BudgetAmount): Reservation;
  /**
   * Settles a reservation. A counter in `unknown`, or one that was reserved and is missing from `actual`, is charged as
   * reserved; what goes beyond the reservation is charged too, and reported as overrun.
   */
  charge(reservation: number, actual: BudgetAmount, unknown?: readonly BudgetCounter[]): readonly Overrun[];
  /** Charges what was used without having been set aside; what goes beyond what was left is overrun. */
  spend(amount: BudgetAmount): readonly Overrun[];
  /** What is left here and in every budget above. */
  left(counter: BudgetCounter): number | null;
  report(): BudgetReport;
}

export interface Overrun {
  readonly counter: BudgetCounter;
  readonly reserved: number;
  readonly actual: number;
}

interface Line {
  used: number;
  reserved: number;
  overrun: number;
}

const counters = Object.keys(budgetCounters) as readonly BudgetCounter[];

function isCounter(name: string): name is BudgetCounter {
  return name in budgetCounters;
}

/** Throws `run.bad-limit` for a limit that is negative, not finite, or not whole where its unit is. */
export function checkLimits(limits: BudgetLimits): void {
  for (const [counter, limit] of Object.entries(limits)) {
    if (!isCounter(counter)) {
      throw new RunError('run.bad-limit', `'${counter}' is no counter of a budget.`, {
        next: `Use one of: ${counters.join(', ')}.`,
      });
    }
    const whole = counter === 'costUsd' || Number.isInteger(limit);
    if (!Number.isFinite(limit) || limit < 0 || !whole) {
      throw new RunError(
        'run.bad-limit',
        `The limit of ${counter} must be a ${counter === 'costUsd' ? '' : 'whole '}number of zero or more; found ${limit}.`,
        {
          next: `Give ${counter} in ${budgetCounters[counter]}.`,
        },
      );
    }
  }
}

/** What a budget hands on to the one above: a child's own time passes beside its parent's, not after it. */
export function summed(amount: BudgetAmount): BudgetAmount {
  const { wallTimeMs: _time, depth: _depth, ...others } = amount;
  return others;
}

/**
 * A budget that starts with `spent` already used, as a resumed run does. Under `above`, each amount is drawn from both or
 * from neither, in one go; what is in `spent` was drawn above before.
 */
export function openBudget(limits: BudgetLimits, spent: BudgetAmount = {}, above?: Budget): Budget {
  checkLimits(limits);
  const lines = new Map<BudgetCounter, Line>();
  const open = new Map<number, { readonly amount: BudgetAmount; readonly above: number }>();
  let lastId = 0;
  const line = (counter: BudgetCounter): Line => {
    let found = lines.get(counter);
    if (found === undefined) {
      found = { used: 0, reserved: 0, overrun: 0 };
      lines.set(counter, found);
    }
    return found;
  };
  const ownLeft = (counter: BudgetCounter): number | null => {
    const limit = limits[counter];
    if (limit === undefined) return null;
    const at = line(counter);
    return Math.max(0, limit - at.used - at.reserved);
  };
  const left = (counter: BudgetCounter): number | null => {
    const own = ownLeft(counter);
    const shared = counter === 'wallTimeMs' || counter === 'depth' ? null : (above?.left(counter) ?? null);
    if (own === null || shared === null) return own ?? shared;
    return Math.min(own, shared);
  };
  for (const counter of counters) {
    if (limits[counter] !== undefined || spent[counter] !== undefined)
      line(counter).used = spent[counter] ?? 0;
  }

  return {
    left,
    reserve(amount) {
      for (const counter in amount) {
        if (!isCounter(counter)) continue;
        const wanted = amount[counter] ?? 0;
        const room = ownLeft(counter);
        if (room !== null && wanted > room) {
          return { granted: false, counter, limit: limits[counter] ?? 0, left: room, wanted };
        }
      }
      const drawn = above?.reserve(summed(amount));
      if (drawn?.granted === false) return drawn;
      for (const counter in amount) if (isCounter(counter)) line(counter).reserved += amount[counter] ?? 0;
      lastId += 1;
      open.set(lastId, { amount, above: drawn?.id ?? 0 });
      return { granted: true, id: lastId };
    },
    charge(reservation, actual, unknown = []) {
      const held = open.get(reservation);
      // Settled once already: a second settlement must not give room back twice.
      if (held === undefined) return [];
      open.delete(reservation);
      const { amount } = held;
      above?.charge(held.above, summed(actual), unknown);
      const overruns: Overrun[] = [];
      for (const counter in { ...amount, ...actual }) {
        if (!isCounter(counter)) continue;
        const reserved = amount[counter] ?? 0;
        const known = unknown.includes(counter) ? undefined : actual[counter];
        const used = known ?? reserved;
        if (used === 0 && reserved === 0) continue;
        const at = line(counter);
        at.reserved -= reserved;
        at.used += used;
        if (used > reserved && amount[counter] !== undefined) {
          at.overrun += used - reserved;
          overruns.push({ counter, reserved, actual: used });
        }
      }
      return overruns;
    },
    spend(amount) {
      const overruns: Overrun[] = [];
      for (const counter in amount) {
        if (!isCounter(counter)) continue;
        const actual = amount[counter] ?? 0;
        const room = left(counter);
        const at = line(counter);
        at.used += actual;
        if (room === null || actual <= room) continue;
        at.overrun += actual - room;
        overruns.push({ counter, reserved: room, actual });
      }
      above?.spend(summed(amount));
      return overruns;
    },
    report() {
      const report: { [C in BudgetCounter]?: BudgetReport[C] } = {};
      for (const counter of counters) {
        const at = lines.get(counter);
        if (at === undefined) continue;
        report[counter] = { limit: limits[counter] ?? null, ...at, left: left(counter) };
      }
      return report;
    },
  };
}
