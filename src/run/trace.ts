/** The trace of a run: its spans as its events tell them, those of its children below the calls that they worked for. */
import type { Store } from '../ledger/store.ts';
import type { RunEvent } from '../protocol/events.ts';
import type { RunRecord, SessionRecord } from '../protocol/record.ts';
import { childrenOf } from './child-record.ts';
import { lastOf } from './derive.ts';

export const traceSchema = 'writ.trace.v1';

export type SpanKind = 'run' | 'turn' | 'request' | 'call' | 'step';

export interface TraceSpan {
  /** Made of the run and the place in it, so that two exports of one record are equal. */
  readonly id: string;
  readonly parent: string | null;
  readonly kind: SpanKind;
  readonly name: string;
  /** Milliseconds since the Unix epoch; `endAt` is null for what has no end in the record. */
  readonly startAt: number;
  readonly endAt: number | null;
  /** As the record has it, `open` for what has no end. */
  readonly status: string;
  /** What else the record says: usage, model, codes, sizes, digests. */
  readonly attributes: { readonly [name: string]: unknown };
}

export interface Trace {
  readonly schema: typeof traceSchema;
  readonly run: string;
  readonly session: string;
  readonly agent: string;
  readonly harness: string;
  readonly model: string | null;
  /** Digest of the composed text. */
  readonly prompt: string;
  /** In the order in which they began, a parent before what is in it. */
  readonly spans: readonly TraceSpan[];
}

/** Reads the trace of a run and of all its children. */
export async function readTrace(store: Store, run: RunRecord, session: SessionRecord): Promise<Trace> {
  const { agent, harness, model, prompt } = session;
  const spans = await spansOf(store, run.id, null);
  return { schema: traceSchema, run: run.id, session: session.id, agent, harness, model, prompt, spans };
}

/** One line of JSON for the head of the trace, then one for each span, numbered from 1. */
export function traceLines({ spans, ...head }: Trace): readonly string[] {
  return [head, ...spans].map((one, seq) => JSON.stringify({ seq, ...one }));
}

async function spansOf(store: Store, run: string, parent: string | null): Promise<readonly TraceSpan[]> {
  const events = await store.events(run);
  const own = runSpans(run, parent, events);
  const spans: TraceSpan[] = [];
  const children = childrenOf(events);
  const below = new Map<string, readonly TraceSpan[]>();
  for (const { start } of children) {
    const [turn, position] = start.key.split(':');
    const call = `${run}/t${turn}/c${position}`;
    const above = own.some(({ id }) => id === call) ? call : run;
    below.set(above, [...(below.get(above) ?? []), ...(await spansOf(store, start.child, above))]);
  }
  for (const span of own) spans.push(span, ...(span.id === run ? [] : (below.get(span.id) ?? [])));
  return [...spans, ...(below.get(run) ?? [])];
}

interface Open extends Omit<TraceSpan, 'endAt' | 'status' | 'attributes'> {
  endAt: number | null;
  status: string;
  attributes: { [name: string]: unknown };
}

/** The spans of one run, its own first. Pure: events in, spans out. */
export function runSpans(
  run: string,
  parent: string | null,
  events: readonly RunEvent[],
): readonly TraceSpan[] {
  const spans = new Map<string, Open>();
  const open = (
    id: string,
    above: string | null,
    kind: SpanKind,
    name: string,
    at: number,
    attributes = {},
  ) => {
    spans.set(id, { id, parent: above, kind, name, startAt: at, endAt: null, status: 'open', attributes });
  };
  const close = (id: string, at: number, status: string, attributes = {}) => {
    const span = spans.get(id);
    if (span === undefined) return;
    span.endAt = at;
    span.status = status;
    Object.assign(span.attributes, attributes);
  };
  const first = events[0];
  const start = lastOf(events, 'run-start');
  open(run, parent, 'run', start?.agent ?? run, first?.at ?? 0, startAttributes(start));
  for (const event of events) {
    const turn = 'turn' in event ? `${run}/t${event.turn}` : run;
    switch (event.type) {
      case 'turn-start':
        open(
          turn,
          run,
          'turn',
          `turn ${event.turn}`,
          event.at,
          event.lane === undefined ? {} : { lane: event.lane },
        );
        break;
      case 'model-request':
        open(`${turn}/a${event.attempt}`, turn, 'request', event.model, event.at, {
          url: event.url,
          wire: event.wire,
          parameters: event.parameters,
          body: event.body,
          bodyBytes: event.bodyBytes,
        });
        break;
      case 'model-response':
        close(`${turn}/a${event.attempt}`, event.at, 'ok', {
          finish: event.finish,
          modelSeen: event.modelSeen,
          httpStatus: event.httpStatus,
          firstByteMs: event.firstByteMs,
          usage: event.usage,
        });
        break;
      case 'model-fault':
        close(`${turn}/a${event.attempt}`, event.at, 'failed', {
          code: event.error.code,
          httpStatus: event.httpStatus,
          usage: event.usage,
        });
        break;
      case 'tool-call':
        open(`${turn}/c${event.position}`, turn, 'call', event.tool, event.at, {
          arguments: event.arguments,
        });
        break;
      case 'tool-result':
        close(`${turn}/c${event.position}`, event.at, event.status, {
          code: event.code,
          bytes: event.bytes,
          truncated: event.truncated,
          message: event.message,
        });
        break;
      case 'turn-finish':
        close(turn, event.at, 'ok', { calls: event.calls });
        break;
      case 'plan-step': {
        const id = `${run}/${event.lane}/${event.path}`;
        if (event.status === 'begun') open(id, run, 'step', event.operation, event.at, { lane: event.lane });
        else close(id, event.at, event.status, { code: event.error?.code ?? null });
        break;
      }
      case 'run-finish':
        close(run, event.at, event.status, {
          code: event.error?.code ?? null,
          usage: event.usage,
          budget: event.budget,
        });
        break;
      case 'run-pause': {
        const span = spans.get(run);
        if (span !== undefined) span.status = 'paused';
        break;
      }
      case 'run-resume': {
        const span = spans.get(run);
        if (span !== undefined) span.status = 'open';
        break;
      }
      default:
    }
  }
  return [...spans.values()];
}

function startAttributes(start: (RunEvent & { readonly type: 'run-start' }) | undefined) {
  if (start === undefined) return {};
  const { harness, model, prompt, task, capabilities, budget } = start;
  return { harness, model, prompt, task, capabilities, limits: budget };
}
