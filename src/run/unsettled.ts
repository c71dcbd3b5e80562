/** The effects of a run of which nobody knows what they did: what is known of each, and what a person may decide. */

import { type EffectRecord, effectsOf, openEffects } from '../effects/effects.ts';
import type { ErrorJson } from '../errors.ts';
import type { EffectState, Repeat } from '../protocol/effect.ts';
import type { RunEvent } from '../protocol/events.ts';
import { lastOf } from './derive.ts';

export const effectDecisions = ['observed', 'not-dispatched', 'abandoned', 'retry-authorized'] as const;
/** It happened; it surely did not; give it up as unknown; send it again although it may have happened. */
export type EffectDecisionKind = (typeof effectDecisions)[number];

export interface UnsettledEffect {
  /** `turn.position`. */
  readonly effect: string;
  readonly tool: string;
  /** The text that the model wrote; null for what no model called. */
  readonly arguments: string | null;
  readonly repeat: Repeat;
  /** Other calls of this key wait. */
  readonly key: string;
  readonly state: EffectState;
  /** How often it was sent; the newest time, in milliseconds since the Unix epoch. */
  readonly attempts: number;
  readonly sentAt: number;
  /** Why its outcome is unknown, or what looking brought; null where its process died and nobody has looked. */
  readonly reason: string | null;
  readonly approvedBy: string | null;
  readonly can: readonly EffectDecisionKind[];
}

/** Throws `effects.impossible-event` for a record that no run can have written. */
export function unsettledOf(events: readonly RunEvent[]): readonly UnsettledEffect[] {
  const ended = lastOf(events, 'run-finish') !== undefined;
  return openEffects(effectsOf(events)).map((effect) => {
    const own = events.filter(
      (event) =>
        'position' in event && event.turn === effect.id.turn && event.position === effect.id.position,
    );
    const dispatch = lastOf(own, 'effect-dispatch');
    const answer = events.findLast(
      (event) => event.type === 'approval-answer' && event.ticket === dispatch?.ticket,
    );
    return {
      effect: effectName(effect),
      tool: effect.tool,
      arguments: lastOf(own, 'tool-call')?.arguments ?? null,
      repeat: effect.repeat,
      key: effect.key,
      state: effect.state,
      attempts: effect.attempts.length,
      sentAt: dispatch?.at ?? 0,
      reason: reasonOf(own),
      approvedBy: answer?.type === 'approval-answer' ? answer.by : null,
      // What has ended sends nothing any more.
      can: effectDecisions.filter((kind) => !(ended && kind === 'retry-authorized')),
    };
  });
}

/**
 * The same for a look at a run: what a living process that holds it has just sent is not unknown yet, and looking must not
 * fail where the record is such that nobody may resume it.
 */
export function unsettledNow(events: readonly RunEvent[], held: boolean): readonly UnsettledEffect[] {
  try {
    return unsettledOf(events).filter(({ state }) => !held || state === 'unknown');
  } catch {
    return [];
  }
}

/** How people name an effect of a run. */
export function effectName({ id }: Pick<EffectRecord, 'id'>): string {
  return `${id.turn}.${id.position}`;
}

/**
 * The error a run ended with, whose next step settles first what is unknown: whoever starts the task again before might
 * have it done twice.
 */
export function settleFirst(
  error: ErrorJson | null,
  unsettled: readonly UnsettledEffect[],
  run: string,
): ErrorJson | null {
  if (error === null || unsettled.length === 0) return error;
  const first = `Settle first what is unknown, with: writ runs reconcile ${run}.`;
  return { ...error, next: error.next === undefined ? first : `${first} Then: ${error.next}` };
}

function reasonOf(own: readonly RunEvent[]): string | null {
  const told = own.findLast(({ type }) => type === 'effect-unknown' || type === 'effect-reconcile');
  const reason =
    told?.type === 'effect-unknown' || told?.type === 'effect-reconcile' ? told.reason : undefined;
  return reason ?? null;
}
