/** Approvals: a call that needs a person is asked about once, and the answer counts for exactly that call. */
import type { Clock } from '../clock.ts';
import { jsonDigest } from '../digest.ts';
import type { Approval } from '../harness.ts';
import type { ApproveMode, Ticket, TicketAnswer } from '../protocol/ticket.ts';
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

/**
 * Opens the desk of one run. A ticket's digest covers the run, the composed prompt, the place and the exact arguments:
 * an answer given for other arguments, or for another text of instructions, does not count.
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
    const digest = jsonDigest({ run, prompt, ...question });
    const given = answerTo(line, digest);
    const asked = line.events.findLast(
      (event) => event.type === 'approval-request' && event.ticket.digest === digest,
    );
    const ticket =
      asked?.type === 'approval-request' ? asked.ticket : { id: clock.id('ticket'), digest, ...question };
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

function answerTo(line: Line, digest: string): TicketAnswer | undefined {
  const found = line.events.findLast((event) => event.type === 'approval-answer' && event.digest === digest);
  return found?.type === 'approval-answer' ? found : undefined;
}
