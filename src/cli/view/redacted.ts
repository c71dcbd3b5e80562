/** Keeps known secrets out of what a run shows: live text, questions, result. Events come from the record, which holds none. */
import type { Ledger } from '../../ledger/ledger.ts';
import type { LiveDelta } from '../../protocol/events.ts';
import type { RunResult } from '../../protocol/outcome.ts';
import type { RequirementResult } from '../../protocol/spec.ts';
import type { Ticket } from '../../protocol/ticket.ts';
import type { Progress } from './progress-lines.ts';

/** The same progress. Of a text that arrives in pieces, what may be the beginning of a secret waits for the next piece. */
export function redactedProgress(progress: Progress, ledger: Ledger): Progress {
  const streams = { 'text-delta': ledger.redactStream(), 'reasoning-delta': ledger.redactStream() };
  const newest = new Map<LiveDelta['type'], LiveDelta>();
  const showRest = () => {
    for (const [type, delta] of newest) {
      const text = streams[type].end();
      if (text !== '') progress.onLive({ ...delta, text });
    }
    newest.clear();
  };
  return {
    ...progress,
    onEvents(events) {
      // Whatever stands in the record now follows the text that was said before it.
      if (events.some(({ type }) => type === 'message-finish' || type === 'model-request')) showRest();
      progress.onEvents(events);
    },
    onLive(delta) {
      newest.set(delta.type, delta);
      const text = streams[delta.type].push(delta.text);
      if (text !== '') progress.onLive({ ...delta, text });
    },
  };
}

/** The ticket as a person may see it. */
export function redactedTicket(ticket: Ticket, ledger: Ledger): Ticket {
  const files = ticket.files?.map(({ path, digest }) => ({ path: ledger.redact(path), digest }));
  const given = ledger.redact(ticket.arguments);
  return { ...ticket, arguments: given, ...(files === undefined ? {} : { files }) };
}

/** The result as it may leave the process: the same texts as in the record. */
export function redactedResult(result: RunResult, ledger: Ledger): RunResult {
  const { answer, error, ticket, notices, spec } = result;
  const redactedReason = (one: RequirementResult) => ({ ...one, reason: ledger.redact(one.reason) });
  return {
    ...result,
    answer: answer === null ? null : ledger.redact(answer),
    error: error === null ? null : ledger.redactError(error),
    ticket: ticket === null ? null : redactedTicket(ticket, ledger),
    notices: notices.map(ledger.redact),
    ...(spec === undefined ? {} : { spec: { ...spec, results: spec.results.map(redactedReason) } }),
  };
}
