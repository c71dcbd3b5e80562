/** What a run's record says about its effects, and what may be done with the next call. */
import { jsonDigest } from '../digest.ts';
import { hiddenKey } from '../ledger/clean-record.ts';
import type { AttemptId, EffectCall, EffectId, EffectState, Lineage, Repeat } from '../protocol/effect.ts';
import type { EventBodies, EventBody, RunEvent } from '../protocol/events.ts';
import type { Ticket, TicketAnswer } from '../protocol/ticket.ts';
import { EffectsError } from './errors.ts';
import type { EffectStep } from './lifecycle.ts';
import { isOpen, next, stepOf } from './lifecycle.ts';

/** An observation as it was recorded: `text` is the digest of what the model read. */
export interface RecordedObservation {
  readonly status: 'succeeded' | 'failed';
  readonly text: string;
  readonly truncated: boolean;
  readonly bytes: number;
  readonly late: boolean;
}

export interface Attempt {
  /** From 1. */
  readonly attempt: number;
  readonly state: EffectState;
  readonly lineage: Lineage;
  readonly observation: RecordedObservation | null;
}

/** One place of a run at which something was sent to the outside. */
export interface EffectRecord {
  readonly id: EffectId;
  /**
   * A request to a model stands at position 0 of its turn; a question to a person at the place of the call that it is about.
   * Neither has an observation here: their own events hold the answer.
   */
  readonly kind: 'call' | 'model' | 'approval';
  /** The tool, or the model that was asked. */
  readonly tool: string;
  readonly repeat: Repeat;
  readonly key: string;
  readonly fingerprint: string;
  /** The newest attempt's state. */
  readonly state: EffectState;
  readonly attempts: readonly Attempt[];
  /** Of an approval: what was asked, and what a person said; null while nobody did. */
  readonly approval?: { readonly ticket: Ticket; readonly answer: TicketAnswer['decision'] | null };
}

/** The effects of one run by place (`turn.position`; an approval by its ticket), in the order of their first dispatch. */
export type EffectView = ReadonlyMap<string, EffectRecord>;

/** Identity of a call across all stores: whoever finds it in a record knows whether it belongs there. */
export function callId(store: string, id: EffectId, fingerprint: string): string {
  const { run, turn, position } = id;
  return jsonDigest({ store, run, turn, position, fingerprint });
}

/**
 * Reads the effects out of a run's events; `before` is the view of the events that went ahead of these. Throws
 * `effects.impossible-event` for a record that no run can have written; with the id of the `store` that holds it, also for
 * a call that was written into another.
 */
export function effectsOf(
  events: readonly RunEvent[],
  before: EffectView = new Map(),
  store?: string,
): EffectView {
  const view = new Map(before);
  for (const event of events) {
    if (event.type === 'effect-replay') mustBeSeen(view, event);
    if (event.type === 'effect-dispatch' && store !== undefined) mustBelong(event, store);
    const step = stepOf(event);
    if (step !== undefined) take(view, event, step);
  }
  return view;
}

function mustBelong(event: Extract<RunEvent, { type: 'effect-dispatch' }>, store: string): void {
  if (event.call !== callId(store, event, event.fingerprint))
    throw impossible(event, 'its call belongs to another store, run or place');
}

function mustBeSeen(view: EffectView, event: Extract<RunEvent, { type: 'effect-replay' }>): void {
  const { parent } = event;
  const seen = view.get(placeOf(parent))?.attempts[parent.attempt - 1]?.observation;
  if (seen === undefined || seen === null) throw impossible(event, 'nothing was observed of its parent');
}

function take(view: Map<string, EffectRecord>, event: RunEvent, step: EffectStep): void {
  switch (event.type) {
    case 'approval-request':
      put(view, questioned(view.get(ticketKey(event.ticket.id)), event, step));
      return;
    case 'approval-answer': {
      const asked = view.get(ticketKey(event.ticket));
      // An answer to what was never asked, or to other words, is none.
      if (asked?.approval?.ticket.digest !== event.digest) return;
      const approval = { ticket: asked.approval.ticket, answer: event.decision };
      put(view, { ...moved(asked, 1, event, step), approval });
      return;
    }
    case 'effect-dispatch':
      if (event.ticket !== null && !isApproved(view, event.ticket, event))
        throw impossible(event, 'nobody approved this call under its ticket');
      put(view, dispatched(view.get(placeOf(event)), event, step));
      return;
    case 'model-request':
      put(view, asked(view.get(placeOf({ turn: event.turn, position: 0 })), event, step));
      return;
    case 'model-response':
    case 'model-fault': {
      const effect = view.get(placeOf({ turn: event.turn, position: 0 }));
      if (effect === undefined) throw impossible(event, 'no model was asked in its turn');
      put(view, moved(effect, event.attempt, event, step));
      return;
    }
    case 'cancel-request':
      for (const effect of view.values()) {
        if (effect.state === 'dispatching') put(view, moved(effect, effect.attempts.length, event, step));
      }
      return;
    case 'effect-observe':
    case 'effect-not-dispatched':
    case 'effect-unknown':
    case 'effect-reconcile':
    case 'effect-resolve': {
      const effect = view.get(placeOf(event));
      if (effect === undefined) throw impossible(event, 'nothing was dispatched there');
      // A decision is about the effect as it stands, every other event about the attempt it names.
      const attempt = event.type === 'effect-resolve' ? effect.attempts.length : event.attempt;
      put(view, moved(effect, attempt, event, step));
    }
  }
}

function dispatched(
  before: EffectRecord | undefined,
  event: Extract<RunEvent, { type: 'effect-dispatch' }>,
  step: EffectStep,
): EffectRecord {
  const { run, turn, position, tool, repeat, key, fingerprint, lineage } = event;
  if (before !== undefined && before.fingerprint !== fingerprint)
    throw impossible(event, 'the call is another');
  if ((before !== undefined) !== (lineage.mode === 'retry'))
    throw impossible(event, `its lineage is '${lineage.mode}'`);
  const id = { run, turn, position };
  const what = { id, kind: 'call', tool, repeat, key, fingerprint } as const;
  return { ...what, ...begun(before, event, step, lineage) };
}

function questioned(
  before: EffectRecord | undefined,
  event: Extract<RunEvent, { type: 'approval-request' }>,
  step: EffectStep,
): EffectRecord {
  const { run, ticket } = event;
  const { turn, position, tool, fingerprint } = ticket;
  const to = next(before?.state ?? 'admitted', step);
  if (!to.ok) throw impossible(event, `its question is ${to.state}`);
  const attempt: Attempt = { attempt: 1, state: to.state, lineage: initial, observation: null };
  const what = { kind: 'approval', tool, repeat: 'once', key: '', fingerprint } as const;
  const id = { run, turn, position };
  return { id, ...what, state: to.state, attempts: [attempt], approval: { ticket, answer: null } };
}

function asked(
  before: EffectRecord | undefined,
  event: Extract<RunEvent, { type: 'model-request' }>,
  step: EffectStep,
): EffectRecord {
  const { run, turn, model, body, attempt } = event;
  const id = { run, turn, position: 0 };
  const parent = { turn, position: 0, attempt: attempt - 1 };
  const lineage: Lineage =
    before === undefined ? { mode: 'initial', parent: null } : { mode: 'retry', parent };
  const what = { id, kind: 'model', tool: model, repeat: 'safe', key: '', fingerprint: body } as const;
  return { ...what, ...begun(before, event, step, lineage) };
}

/** The effect with one more attempt on its way. */
function begun(
  before: EffectRecord | undefined,
  event: Extract<RunEvent, { type: 'effect-dispatch' | 'model-request' }>,
  step: EffectStep,
  lineage: Lineage,
): Pick<EffectRecord, 'state' | 'attempts'> {
  const attempts = before?.attempts ?? [];
  const to = next(before?.state ?? 'admitted', step);
  if (!to.ok) throw impossible(event, `its effect is ${to.state}`);
  if (event.attempt !== attempts.length + 1)
    throw impossible(event, `${attempts.length} attempts went ahead`);
  const attempt: Attempt = { attempt: event.attempt, state: to.state, lineage, observation: null };
  return { state: to.state, attempts: [...attempts, attempt] };
}

function moved(effect: EffectRecord, number: number, event: RunEvent, step: EffectStep): EffectRecord {
  const before = effect.attempts[number - 1];
  if (before === undefined) throw impossible(event, `attempt ${number} was never dispatched`);
  const to = next(before.state, step);
  if (!to.ok) throw impossible(event, `attempt ${number} is ${to.state}`);
  const observation = event.type === 'effect-observe' ? recorded(event) : before.observation;
  const attempts = effect.attempts.with(number - 1, { ...before, state: to.state, observation });
  return { ...effect, attempts, state: attempts.at(-1)?.state ?? to.state };
}

function recorded(event: EventBodies['effect-observe']): RecordedObservation {
  const { status, text, truncated, bytes, late } = event;
  return { status, text, truncated, bytes, late };
}

function put(view: Map<string, EffectRecord>, effect: EffectRecord): void {
  view.set(effect.approval === undefined ? placeOf(effect.id) : ticketKey(effect.approval.ticket.id), effect);
}

// Whoever invents a ticket must not name a place by it.
function ticketKey(id: string): string {
  return `ticket ${id}`;
}

/** True if a person approved this very call under this ticket: its place, its tool and its arguments. */
export function isApproved(
  view: EffectView,
  ticket: string,
  call: Pick<EffectCall, 'turn' | 'position' | 'tool' | 'fingerprint'>,
): boolean {
  const approval = view.get(ticketKey(ticket))?.approval;
  if (approval?.answer !== 'approved') return false;
  const { turn, position, tool, fingerprint } = approval.ticket;
  const samePlace = turn === call.turn && position === call.position;
  return samePlace && tool === call.tool && fingerprint === call.fingerprint;
}

function placeOf({ turn, position }: { readonly turn: number; readonly position: number }): string {
  return `${turn}.${position}`;
}

function impossible(
  event: EventBody & { readonly run: string; readonly seq: number },
  found: string,
): EffectsError {
  return new EffectsError(
    'effects.impossible-event',
    `Event ${event.seq} of run ${event.run} is '${event.type}', but ${found}.`,
    {
      next: 'Do not resume this run: its record was altered or written by two processes.',
      details: { run: event.run, seq: event.seq, type: event.type },
    },
  );
}

export type Decision =
  /** The first attempt, or one after proof that the last was not sent. */
  | { readonly do: 'dispatch'; readonly attempt: number; readonly lineage: Lineage }
  /** Another attempt although the last one's outcome was not seen: it does no harm, or a person allowed it. */
  | { readonly do: 'redo'; readonly attempt: number; readonly lineage: Lineage }
  | { readonly do: 'replay'; readonly from: AttemptId; readonly observation: RecordedObservation }
  /** An effect of the same key is open. */
  | { readonly do: 'held'; readonly by: EffectId }
  /** This very call was sent, and what it did was not seen. */
  | { readonly do: 'unknown'; readonly attempt: number; readonly state: EffectState };

/**
 * What may be done with a call, given what the run's record says, and which effects of the session's `earlier` runs are
 * open. A read is always dispatched. A write whose outcome was not seen is never sent again unless that does no harm or a
 * person allowed it. Throws `effects.other-call` if a call with other arguments was dispatched at this place.
 */
export function decide(view: EffectView, call: EffectCall, earlier: readonly EffectRecord[] = []): Decision {
  if (call.access === 'read') return { do: 'dispatch', attempt: 1, lineage: initial };
  const here = view.get(placeOf(call));
  if (here !== undefined) {
    if (here.fingerprint !== call.fingerprint) throw otherCall(here, call);
    const seen = observed(here);
    if (seen !== undefined) return { do: 'replay', ...seen };
    const lost = here.state === 'abandoned' || (isOpen(here.state) && here.repeat === 'once');
    if (lost) return { do: 'unknown', attempt: here.attempts.length, state: here.state };
  }
  const calls = [...view.values()].filter(({ kind }) => kind === 'call');
  const equal = calls.flatMap((effect) => {
    const seen = effect.fingerprint === call.fingerprint ? observed(effect) : undefined;
    return seen === undefined ? [] : [seen];
  });
  const [first] = equal;
  if (first !== undefined && call.repeat === 'once' && !call.repeatable) return { do: 'replay', ...first };
  const hidden = hiddenKey(call.key);
  for (const effect of [...calls, ...earlier]) {
    // A key that holds a secret is in the record by its digest only.
    const sameKey = effect.key === call.key || effect.key === hidden;
    if (effect !== here && sameKey && isOpen(effect.state)) return { do: 'held', by: effect.id };
  }
  if (here !== undefined) {
    const { turn, position } = call;
    const last = here.attempts.length;
    const lineage = { mode: 'retry', parent: { turn, position, attempt: last } } as const;
    return { do: here.state === 'not-dispatched' ? 'dispatch' : 'redo', attempt: last + 1, lineage };
  }
  const before = equal.at(-1);
  const lineage = before === undefined ? initial : ({ mode: 'resample', parent: before.from } as const);
  return { do: 'dispatch', attempt: 1, lineage };
}

const initial: Lineage = { mode: 'initial', parent: null };

/** The effects of a run of which nobody knows what they did, those of models left out: to ask again does nothing outside. */
export function openEffects(view: EffectView): readonly EffectRecord[] {
  return [...view.values()].filter(({ kind, state }) => kind === 'call' && isOpen(state));
}

/** True if an attempt at this place left the process, as far as the record tells; only typed proof says it did not. */
export function wasDispatched(
  view: EffectView,
  place: { readonly turn: number; readonly position: number },
): boolean {
  return view.get(placeOf(place))?.attempts.some(({ state }) => state !== 'not-dispatched') ?? false;
}

function observed({ id, attempts }: EffectRecord) {
  const seen = attempts.find(({ observation }) => observation !== null);
  if (seen === undefined || seen.observation === null) return undefined;
  const from: AttemptId = { turn: id.turn, position: id.position, attempt: seen.attempt };
  return { from, observation: seen.observation };
}

function otherCall(here: EffectRecord, call: EffectCall): EffectsError {
  return new EffectsError(
    'effects.other-call',
    `Turn ${call.turn}, position ${call.position} already is a call of ${here.tool} with other arguments.`,
    {
      next: 'Give every call of a run its own turn and position.',
      details: {
        turn: call.turn,
        position: call.position,
        recorded: here.fingerprint,
        given: call.fingerprint,
      },
    },
  );
}
