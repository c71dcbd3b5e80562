/** What a run's record says about its effects, and what may be done with the next call. */
import { hiddenKey } from '../ledger/clean-record.ts';
import type { EffectCall, EffectId, EffectState, Repeat } from '../protocol/effect.ts';
import type { EventBodies, EventBody, RunEvent } from '../protocol/events.ts';
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
  readonly observation: RecordedObservation | null;
}

/** One place of a run at which a write was dispatched. */
export interface EffectRecord {
  readonly id: EffectId;
  readonly tool: string;
  readonly repeat: Repeat;
  readonly key: string;
  readonly fingerprint: string;
  /** The newest attempt's state. */
  readonly state: EffectState;
  readonly attempts: readonly Attempt[];
}

/** The effects of one run by place (`turn.position`), in the order of their first dispatch. */
export type EffectView = ReadonlyMap<string, EffectRecord>;

/**
 * Reads the effects out of a run's events; `before` is the view of the events that went ahead of these. Throws
 * `effects.impossible-event` for a record that no run can have written.
 */
export function effectsOf(events: readonly RunEvent[], before: EffectView = new Map()): EffectView {
  const view = new Map(before);
  for (const event of events) {
    const step = stepOf(event);
    if (step !== undefined) take(view, event, step);
  }
  return view;
}

function take(view: Map<string, EffectRecord>, event: RunEvent, step: EffectStep): void {
  switch (event.type) {
    case 'effect-dispatch':
      put(view, dispatched(view.get(placeOf(event)), event, step));
      return;
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
  const { run, turn, position, tool, repeat, key, fingerprint } = event;
  const attempts = before?.attempts ?? [];
  const to = next(before?.state ?? 'admitted', step);
  if (!to.ok) throw impossible(event, `its effect is ${to.state}`);
  if (event.attempt !== attempts.length + 1)
    throw impossible(event, `${attempts.length} attempts went ahead`);
  if (before !== undefined && before.fingerprint !== fingerprint)
    throw impossible(event, 'the call is another');
  const attempt: Attempt = { attempt: event.attempt, state: to.state, observation: null };
  const id = { run, turn, position };
  return { id, tool, repeat, key, fingerprint, state: to.state, attempts: [...attempts, attempt] };
}

function moved(effect: EffectRecord, number: number, event: RunEvent, step: EffectStep): EffectRecord {
  const before = effect.attempts[number - 1];
  if (before === undefined) throw impossible(event, `attempt ${number} was never dispatched`);
  const to = next(before.state, step);
  if (!to.ok) throw impossible(event, `attempt ${number} is ${to.state}`);
  const observation = event.type === 'effect-observe' ? recorded(event) : before.observation;
  const attempts = effect.attempts.with(number - 1, { attempt: number, state: to.state, observation });
  return { ...effect, attempts, state: attempts.at(-1)?.state ?? to.state };
}

function recorded(event: EventBodies['effect-observe']): RecordedObservation {
  const { status, text, truncated, bytes, late } = event;
  return { status, text, truncated, bytes, late };
}

function put(view: Map<string, EffectRecord>, effect: EffectRecord): void {
  view.set(placeOf(effect.id), effect);
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
  | { readonly do: 'dispatch'; readonly attempt: number }
  /** Another attempt although the last one's outcome was not seen: it does no harm, or a person allowed it. */
  | { readonly do: 'redo'; readonly attempt: number }
  | { readonly do: 'replay'; readonly from: EffectId; readonly observation: RecordedObservation }
  /** An effect of the same key is open. */
  | { readonly do: 'held'; readonly by: EffectId }
  /** This very call was sent, and what it did was not seen. */
  | { readonly do: 'unknown'; readonly attempt: number; readonly state: EffectState };

/**
 * What may be done with a call, given what the run's record says. A read is always dispatched. A write whose outcome was
 * not seen is never sent again unless that does no harm or a person allowed it. Throws `effects.other-call` if a call with
 * other arguments was dispatched at this place.
 */
export function decide(view: EffectView, call: EffectCall): Decision {
  if (call.access === 'read') return { do: 'dispatch', attempt: 1 };
  const here = view.get(placeOf(call));
  if (here !== undefined) {
    if (here.fingerprint !== call.fingerprint) throw otherCall(here, call);
    const seen = observationOf(here);
    if (seen !== undefined) return { do: 'replay', from: here.id, observation: seen };
    const lost = here.state === 'abandoned' || (isOpen(here.state) && here.repeat === 'once');
    if (lost) return { do: 'unknown', attempt: here.attempts.length, state: here.state };
  }
  for (const effect of call.repeat === 'once' && !call.repeatable ? view.values() : []) {
    const seen = effect.fingerprint === call.fingerprint ? observationOf(effect) : undefined;
    if (seen !== undefined) return { do: 'replay', from: effect.id, observation: seen };
  }
  const hidden = hiddenKey(call.key);
  for (const effect of view.values()) {
    // A key that holds a secret is in the record by its digest only.
    const sameKey = effect.key === call.key || effect.key === hidden;
    if (effect !== here && sameKey && isOpen(effect.state)) return { do: 'held', by: effect.id };
  }
  const attempt = (here?.attempts.length ?? 0) + 1;
  return { do: here === undefined || here.state === 'not-dispatched' ? 'dispatch' : 'redo', attempt };
}

/** True if an attempt at this place left the process, as far as the record tells; only typed proof says it did not. */
export function wasDispatched(
  view: EffectView,
  place: { readonly turn: number; readonly position: number },
): boolean {
  return view.get(placeOf(place))?.attempts.some(({ state }) => state !== 'not-dispatched') ?? false;
}

function observationOf(effect: EffectRecord): RecordedObservation | undefined {
  return effect.attempts.find(({ observation }) => observation !== null)?.observation ?? undefined;
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
