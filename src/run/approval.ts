/** Approvals: a call that needs a person is asked about once, and the answer counts for exactly that call. */
import type { Clock } from '../clock.ts';
import { canonicalJson, jsonDigest } from '../digest.ts';
import type { Approval } from '../harness.ts';
import type { ApproveMode, Ticket, TicketAnswer } from '../protocol/ticket.ts';
import { RunError } from './errors.ts';
import type { Line } from './line.ts';

/** Asks a person. Resolves with an answer, or `undefined` where it was cancelled before one was given. */
export type Ask = (ticket: Ticket, signal: AbortSignal) => Promise<Answer | undefined>;

export type Answer = Pick<TicketAnswer, 'decision' | 'by' | 'reason'>;

export interface ApprovalDesk {
  /** `signal` ends the asking; that of the run where it is left out. */
  approve(
    question: Omit<Ticket, 'id' | 'digest'>,
    signal?: AbortSignal,
  ): Promise<Approval & { readonly ticket: Ticket }>;
}

/** The same way of asking, one question at a time: a run and its children share the person in front of them. */
export function inTurn(ask: Ask): Ask {
  let turn: Promise<unknown> = Promise.resolve();
  return (ticket, signal) => {
    const asked = turn.then(() => (signal.aborted ? undefined : ask(ticket, signal)));
    turn = asked.catch(() => undefined);
    return asked;
  };
}

/**
 * Opens the desk of one run. A ticket's digest covers the run, the composed prompt, the place, the exact arguments and the
 * files that they name: an answer given for other arguments or files, or for another text of instructions, does not count.
 */
export function openDesk(options: {
  readonly run: string;
  readonly prompt: string;
  readonly mode: ApproveMode;
  readonly ask: Ask | undefined;
  readonly line: Line;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}): ApprovalDesk {
  const { run, prompt, mode, ask, line, clock, signal } = options;
  // Two calls of one batch never ask at once: a person reads one question at a time.
  let turnToAsk: Promise<unknown> = Promise.resolve();

  async function decide(
    question: Omit<Ticket, 'id' | 'digest'>,
    part: AbortSignal,
  ): Promise<Approval & { readonly ticket: Ticket }> {
    const digest = ticketDigest({ run, prompt }, question);
    const asked = askedIn(line, digest, question);
    const ticket = asked ?? { id: clock.id('ticket'), digest, ...question };
    // An answer is to what was really asked: without that question in the record there is none.
    const given = asked === undefined ? undefined : answerTo(line, asked);
    if (given !== undefined) return { answer: given.decision, by: given.by, reason: given.reason, ticket };
    // The open question is in the record before anyone is asked, and stays there if nobody is.
    if (asked === undefined) await line.put([{ type: 'approval-request', ticket }]);
    if (mode === 'pause') return { answer: 'paused', ticket };
    const answer: Answer | undefined =
      mode === 'ask' && ask !== undefined ? await askWhile(ask, ticket, part) : undefined;
    if (answer === undefined) return { answer: 'nobody', reason: `--approve ${mode}`, ticket };
    await line.put([{ type: 'approval-answer', ticket: ticket.id, digest, ...answer }]);
    return { answer: answer.decision, by: answer.by, reason: answer.reason, ticket };
  }

  return {
    approve(question, part = signal) {
      const decided = turnToAsk.then(() => decide(question, part));
      turnToAsk = decided.catch(() => undefined);
      return decided;
    },
  };
}

/** Asks until there is an answer or the run is stopped. A way of asking that fails is nobody there. */
async function askWhile(ask: Ask, ticket: Ticket, signal: AbortSignal): Promise<Answer | undefined> {
  let stop = () => {};
  const stopped = new Promise<undefined>((resolve) => {
    stop = () => resolve(undefined);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    if (signal.aborted) return undefined;
    return (await Promise.race([ask(ticket, signal), stopped])) ?? undefined;
  } catch {
    return undefined;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Digest of what a person is asked: the run, the composed text, the place, the exact arguments and the files they name. */
export function ticketDigest(
  where: { readonly run: string; readonly prompt: string },
  question: Omit<Ticket, 'id' | 'digest'>,
): string {
  return jsonDigest({ ...where, ...question });
}

/**
 * The question of this digest as it was put. One whose words are others than those asked now was never put; so it is where
 * a secret was taken out of them, and it is put again.
 */
function askedIn(line: Line, digest: string, question: Omit<Ticket, 'id' | 'digest'>): Ticket | undefined {
  const found = line.events.findLast((event) => {
    if (event.type !== 'approval-request' || event.ticket.digest !== digest) return false;
    const { id: _, digest: __, ...words } = event.ticket;
    return canonicalJson(words) === canonicalJson(question);
  });
  return found?.type === 'approval-request' ? found.ticket : undefined;
}

/** What stands where the ledger took a secret out. */
export const secretMark = /\[secret [^\]]*\]/;

function answerTo(line: Line, { id, digest }: Ticket): TicketAnswer | undefined {
  const found = line.events.findLast(
    (event) => event.type === 'approval-answer' && event.ticket === id && event.digest === digest,
  );
  return found?.type === 'approval-answer' ? found : undefined;
}

/** The refusal of a ticket that is not what it says. */
export function forgedTicket(run: string, ticket: string, found: string): RunError {
  return new RunError('run.forged-ticket', `Ticket ${ticket} of run ${run} does not count: ${found}.`, {
    next: `Look at the call itself with: writ runs show ${run} --calls`,
    details: { run, ticket },
  });
}
