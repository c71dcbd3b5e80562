/** The budget reminder: says once that a run is about to run out of turns, while there is still room to save what matters. */
import type { Policy } from './directive.ts';

export interface BudgetReminderOptions {
  /** Speaks when at most so many turns, or requests, are left. */
  readonly left: number;
  /** What the budget has left of a counter; null where there is no limit. */
  readonly of: (counter: 'turns' | 'modelCalls') => number | null;
}

export const reminderLeftUsual = 3;

/** Speaks at most once in a run. What has no limit never runs out. */
export function budgetReminder({ left: most, of }: BudgetReminderOptions): Policy {
  return (turns) => {
    if (turns.some(({ spoken }) => spoken.includes('budget-reminder'))) return undefined;
    const left = Math.min(
      of('turns') ?? Number.POSITIVE_INFINITY,
      of('modelCalls') ?? Number.POSITIVE_INFINITY,
    );
    // With nothing left nobody would read it.
    if (left > most || left < 1) return undefined;
    const many = left === 1 ? 'One more turn is' : `${left} more turns are`;
    const text = `${many} left in the budget of this run. Save first what must not be lost; then do what matters most, and say what stays open.`;
    return { policy: 'budget-reminder', source: 'reminder', strength: 1, do: 'speak', text };
  };
}
