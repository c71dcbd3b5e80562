/** What a person is asked to approve, and the answer. */

/** A file of the workspace that a call names, as it was when a person was asked. */
export interface BoundFile {
  /** From the root of the workspace. */
  readonly path: string;
  readonly digest: string;
}

/**
 * An open question. `digest` covers tool, arguments, bound files and the run's composition: an answer counts for exactly
 * this.
 */
export interface Ticket {
  readonly id: string;
  readonly turn: number;
  readonly position: number;
  readonly tool: string;
  readonly capability: string;
  /** The exact arguments that will be executed, as JSON text. */
  readonly arguments: string;
  /** That of the effect: a call that is sent under this ticket has the same. */
  readonly fingerprint: string;
  /** Left out where the call names none. */
  readonly files?: readonly BoundFile[];
  readonly digest: string;
}

export interface TicketAnswer {
  readonly ticket: string;
  readonly digest: string;
  readonly decision: 'approved' | 'denied';
  /** Who answered: a user name, or `policy` where nobody was there to ask. */
  readonly by: string;
  readonly reason: string;
}

export const approveModes = ['ask', 'pause', 'deny'] as const;
/** What happens when a call needs a person: ask on the terminal, end as paused, or refuse. */
export type ApproveMode = (typeof approveModes)[number];
