/** What the record of a run says of its children: which have ended, which are open, and what each has used. */
import { jsonDigest } from '../digest.ts';
import type { Store } from '../ledger/store.ts';
import { addAmounts, type BudgetAmount } from '../protocol/budget.ts';
import type { EventBody } from '../protocol/events.ts';
import type { Ticket } from '../protocol/ticket.ts';
import { summed } from './budget.ts';
import { openTicketOf, spentBy } from './derive.ts';

export type ChildStart = EventBody & { readonly type: 'child-start' };
export type ChildFinish = EventBody & { readonly type: 'child-finish' };

export interface ChildRecord {
  readonly start: ChildStart;
  /** Undefined while it is open. */
  readonly finish: ChildFinish | undefined;
}

/** The children of a run in the order in which they began. One that never came to exist gave its key to the next. */
export function childrenOf(events: readonly EventBody[]): readonly ChildRecord[] {
  const byKey = new Map<string, ChildRecord>();
  for (const event of events) {
    if (event.type === 'child-start') byKey.set(event.key, { start: event, finish: undefined });
    if (event.type !== 'child-finish') continue;
    const open = byKey.get(event.key);
    if (open?.start.child === event.child) byKey.set(event.key, { ...open, finish: event });
  }
  return [...byKey.values()];
}

/** A task under given instructions, whatever its white space: two runs of one fingerprint would do the same work. */
export function fingerprintOf(task: string, prompt: string): string {
  return jsonDigest({ task: task.trim().replace(/\s+/g, ' '), prompt });
}

/** What the open children of a run have drawn from its budget so far, as their own records tell it. */
export async function openSpent(store: Store, events: readonly EventBody[]): Promise<BudgetAmount> {
  const open = childrenOf(events).filter(({ finish }) => finish === undefined);
  const amounts = await Promise.all(
    open.map(async ({ start }) => {
      const own = await store.events(start.child);
      return addAmounts(summed(spentBy(own)), await openSpent(store, own));
    }),
  );
  return amounts.reduce(addAmounts, {});
}

/**
 * The run that waits for an answer: this one, or else one of its open children, at any depth; of several the one that asks
 * under the given ticket.
 */
export async function asking(store: Store, run: string, ticket?: string): Promise<Question | undefined> {
  const all = await questionsOf(store, run);
  return all.find((one) => ticket === undefined || one.ticket.id === ticket);
}

export interface Question {
  readonly run: string;
  readonly ticket: Ticket;
}

/** Every open question of a run and of its open children, at any depth. */
export async function questionsOf(store: Store, run: string): Promise<readonly Question[]> {
  const events = await store.events(run);
  const own = openTicketOf(events);
  const below = childrenOf(events).filter(({ finish }) => finish === undefined);
  const theirs = await Promise.all(below.map(({ start }) => questionsOf(store, start.child)));
  return [...(own === undefined ? [] : [{ run, ticket: own }]), ...theirs.flat()];
}

/** The same of the children alone; `events` are those of their parent. */
export async function askingBelow(
  store: Store,
  events: readonly EventBody[],
  ticket?: string,
): Promise<{ readonly run: string; readonly ticket: Ticket } | undefined> {
  for (const { start, finish } of childrenOf(events)) {
    const below = finish === undefined ? await asking(store, start.child, ticket) : undefined;
    if (below !== undefined) return below;
  }
  return undefined;
}
