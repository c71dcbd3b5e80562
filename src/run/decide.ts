/** Decisions of people about a run that waits: they are only appended; resuming the run acts on them. */
import type { Store } from '../ledger/store.ts';
import type { RunEvent } from '../protocol/events.ts';
import type { Ticket, TicketAnswer } from '../protocol/ticket.ts';
import { forgedTicket, secretMark, ticketDigest } from './approval.ts';
import { questionsOf } from './child-record.ts';
import { lastOf, openTicketOf } from './derive.ts';
import { RunError, unknownRun } from './errors.ts';
import { underLease } from './lease.ts';

export interface Decision {
  readonly run: string;
  /** The one open question where it is left out. */
  readonly ticket?: string;
  readonly decision: TicketAnswer['decision'];
  readonly by: string;
  readonly reason: string;
}

/**
 * Answers the open question of a paused run. Throws `run.unknown-run`, `run.unknown-ticket` where the run asks nothing,
 * something else, or several things and none is named, `run.forged-ticket` where the question in the record is not the one that was asked, and
 * `ledger.lease-held` while a process is at work on the run.
 */
export async function answerTicket(store: Store, holder: string, decision: Decision): Promise<Ticket> {
  if ((await store.run(decision.run)) === undefined) throw unknownRun(decision.run);
  // A run waits for its children: who answers the run answers the child that asks.
  const questions = await questionsOf(store, decision.run);
  const wanted = decision.ticket ?? (questions.length === 1 ? questions[0]?.ticket.id : undefined);
  const run = questions.find(({ ticket }) => ticket.id === wanted)?.run ?? decision.run;
  return underLease(store, run, holder, async (lease) => {
    // Read under the lease, so that two people cannot both answer.
    const events = await store.events(run);
    const open = openTicketOf(events);
    if (open === undefined || open.id !== wanted)
      throw notAsked(
        decision,
        events,
        questions.map(({ ticket }) => ticket.id),
      );
    // A person answers to the words; whoever changed them would have the answer count for other ones. Where a secret was
    // taken out of them they cannot be compared here; they do not count when the run goes on, unless they are the same.
    const prompt = lastOf(events, 'run-start')?.prompt ?? '';
    const whole = !secretMark.test(JSON.stringify([open.arguments, open.files]));
    const { id: _, digest, ...words } = open;
    if (whole && ticketDigest({ run, prompt }, words) !== digest)
      throw forgedTicket(run, open.id, 'its words are not those that its digest was made of');
    const { by, reason } = decision;
    await store.append(
      lease,
      [
        {
          type: 'approval-answer',
          ticket: open.id,
          digest: open.digest,
          decision: decision.decision,
          by,
          reason,
        },
      ],
      { power: true },
    );
    return open;
  });
}

/** Nobody asks this: because nothing is asked, something else is, or somebody has answered it. */
function notAsked(
  { run, ticket }: Decision,
  events: readonly RunEvent[],
  asked: readonly string[],
): RunError {
  const answered = events.findLast(
    (event) => event.type === 'approval-answer' && (ticket === undefined || event.ticket === ticket),
  );
  if (asked.length === 0 && answered?.type === 'approval-answer') {
    const { decision, by } = answered;
    return new RunError(
      'run.unknown-ticket',
      `Ticket ${answered.ticket} of run ${run} was already ${decision} by ${by}.`,
      { next: `See how the run goes on with: writ runs show ${run}`, details: { decision, by } },
    );
  }
  const asks = asked.length === 0 ? 'has no open ticket' : `asks ${asked.join(', ')}`;
  return new RunError('run.unknown-ticket', `Run ${run} ${asks}; found ${ticket ?? 'none named'}.`, {
    next: `See what it asks with: writ runs show ${run}`,
  });
}
