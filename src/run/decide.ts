/** Decisions of people about a run that waits: they are only appended; resuming the run acts on them. */
import type { Store } from '../ledger/store.ts';
import type { Ticket, TicketAnswer } from '../protocol/ticket.ts';
import { forgedTicket, secretMark, ticketDigest } from './approval.ts';
import { asking } from './child-record.ts';
import { lastOf, openTicketOf } from './derive.ts';
import { RunError, unknownRun } from './errors.ts';
import { underLease } from './lease.ts';

export interface Decision {
  readonly run: string;
  readonly ticket: string;
  readonly decision: TicketAnswer['decision'];
  readonly by: string;
  readonly reason: string;
}

/**
 * Answers the open question of a paused run. Throws `run.unknown-run`, `run.unknown-ticket` where the run asks nothing
 * or something else, `run.forged-ticket` where the question in the record is not the one that was asked, and
 * `ledger.lease-held` while a process is at work on the run.
 */
export async function answerTicket(store: Store, holder: string, decision: Decision): Promise<Ticket> {
  if ((await store.run(decision.run)) === undefined) throw unknownRun(decision.run);
  // A run waits for its children: who answers the run answers the child that asks.
  const run = (await asking(store, decision.run, decision.ticket))?.run ?? decision.run;
  return underLease(store, run, holder, async (lease) => {
    // Read under the lease, so that two people cannot both answer.
    const events = await store.events(run);
    const open = openTicketOf(events);
    if (open === undefined || open.id !== decision.ticket) {
      throw new RunError(
        'run.unknown-ticket',
        `Run ${decision.run} ${open === undefined ? 'has no open ticket' : `asks ${open.id}`}; found ${decision.ticket}.`,
        { next: `See what it asks with: writ runs show ${decision.run}` },
      );
    }
    // A person answers to the words; whoever changed them would have the answer count for other ones. Where a secret was
    // taken out of them they cannot be compared here; they do not count when the run goes on, unless they are the same.
    const prompt = lastOf(events, 'run-start')?.prompt ?? '';
    const whole = !secretMark.test(JSON.stringify([open.arguments, open.files]));
    const { id: _, digest, ...words } = open;
    if (whole && ticketDigest({ run, prompt }, words) !== digest)
      throw forgedTicket(run, open.id, 'its words are not those that its digest was made of');
    const { ticket, by, reason } = decision;
    await store.append(
      lease,
      [{ type: 'approval-answer', ticket, digest: open.digest, decision: decision.decision, by, reason }],
      { power: true },
    );
    return open;
  });
}
