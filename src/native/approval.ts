/** The question whether a call may run, about the files that it names as they are at that moment. */
import { canonicalJson } from '../digest.ts';
import type { Approval, Host } from '../harness.ts';
import type { BoundFile, Ticket } from '../protocol/ticket.ts';

/**
 * Asks until the answer is about the files as they are: what was changed while a person thought is asked about anew, under
 * another ticket. `look` says what the files hold now.
 */
export async function approveBound(
  host: Pick<Host, 'approve'>,
  question: Omit<Ticket, 'id' | 'digest' | 'files'>,
  look: () => Promise<readonly BoundFile[]>,
): Promise<Approval & { readonly ticket: Ticket }> {
  for (let files = await look(); ; ) {
    const approval = await host.approve({ ...question, ...(files.length === 0 ? {} : { files }) });
    if (approval.answer !== 'approved') return approval;
    const now = await look();
    if (canonicalJson(now) === canonicalJson(files)) return approval;
    files = now;
  }
}
