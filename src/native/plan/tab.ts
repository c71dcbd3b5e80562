/** What a conversation has used of a plan's counters: held while it goes on, and charged in one check when it has ended. */
import type { BudgetShare, Reservation } from '../../harness.ts';
import { addAmounts, type BudgetAmount, type BudgetCounter } from '../../protocol/budget.ts';

const ofPlans = ['steps', 'modelCalls', 'toolCalls', 'contextOps', 'outputBytes'] as const;
const none: BudgetAmount = Object.fromEntries(ofPlans.map((counter) => [counter, 0]));

export interface Tab {
  /**
   * Settles a reservation: what it used of the plan's counters stays set aside, where no other branch can take it, and all
   * else is charged. `reserved` is the amount of the reservation.
   */
  charge(id: number, reserved: BudgetAmount, actual: BudgetAmount, unknown?: readonly BudgetCounter[]): void;
  /**
   * Charges all that is held, and the bytes of a value with it: both or, where the value has no room, only what is held. To
   * be called once.
   */
  settle(valueBytes: number): Reservation;
}

export function openTab(allotment: BudgetShare): Tab {
  const held: number[] = [];
  let total: BudgetAmount = none;
  return {
    charge(id, reserved, actual, unknown) {
      const used: BudgetAmount = Object.fromEntries(
        ofPlans.map((counter) => [counter, actual[counter] ?? reserved[counter] ?? 0]),
      );
      allotment.charge(id, { ...actual, ...none }, unknown);
      // Given back and taken again in one breath: nobody could have come between.
      const again = allotment.reserve(used);
      if (again.granted) {
        held.push(again.id);
        total = addAmounts(total, used);
      } else allotment.spend(used);
    },
    settle(valueBytes) {
      for (const id of held) allotment.charge(id, none);
      const all = addAmounts(total, { outputBytes: valueBytes });
      const room = allotment.reserve(all);
      if (room.granted) allotment.charge(room.id, all);
      else allotment.spend(total);
      return room;
    },
  };
}
