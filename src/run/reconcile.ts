/** Decisions of people about effects whose outcome is unknown: recorded with who and why; resuming the run acts on them. */
import { blobOf } from '../digest.ts';
import { type EffectRecord, effectsOf } from '../effects/effects.ts';
import { type EffectStep, next } from '../effects/lifecycle.ts';
import type { Store } from '../ledger/store.ts';
import type { AttemptId } from '../protocol/effect.ts';
import type { EventBody, RunEvent } from '../protocol/events.ts';
import type { Blob } from '../protocol/record.ts';
import { lastOf } from './derive.ts';
import { RunError, unknownRun } from './errors.ts';
import { underLease } from './lease.ts';
import { type EffectDecisionKind, effectName, unsettledOf } from './unsettled.ts';

export interface EffectDecision {
  readonly run: string;
  readonly turn: number;
  readonly position: number;
  readonly decision: EffectDecisionKind;
  /** Who decides, and why: both stand in the record. */
  readonly by: string;
  readonly reason: string;
  /** With `observed`: what the model reads in the place of the result; the reason where it is left out. */
  readonly observation?: { readonly status: 'succeeded' | 'failed'; readonly text: string };
}

const steps = {
  observed: 'observe',
  'not-dispatched': 'prove-not-dispatched',
  abandoned: 'abandon',
  'retry-authorized': 'authorize-retry',
} as const satisfies Record<EffectDecisionKind, EffectStep>;

/**
 * Records what a person decided and returns the effect as it stands then. Sends nothing. Throws `run.unknown-run`,
 * `run.reason-missing`, `run.unknown-effect`, `run.effect-settled` where there is nothing to decide, `run.already-ended`
 * for a retry in a run that will send nothing more, and `ledger.lease-held` while a process is at work on the run.
 */
export async function reconcileEffect(
  store: Store,
  holder: string,
  decision: EffectDecision,
): Promise<EffectRecord> {
  const { run, by, reason } = decision;
  if (by.trim() === '' || reason.trim() === '') {
    throw new RunError('run.reason-missing', 'Expected who decides and why; found one of them empty.', {
      next: 'Say why with --reason "…", and who with --by where it is not you.',
    });
  }
  if ((await store.run(run)) === undefined) throw unknownRun(run);
  return underLease(store, run, holder, async (lease) => {
    // Read under the lease: of two people, the second must see what the first has decided.
    const events = await store.events(run);
    const { id } = await store.namespace();
    const effect = decidable(events, id, decision);
    const attempt = effect.attempts.length;
    const written = eventsOf(decision, { ...effect.id, attempt });
    const after = await store.append(lease, written.events, { power: true, blobs: written.blobs });
    return find(effectsOf([...events, ...after]), decision) ?? effect;
  });
}

function decidable(events: readonly RunEvent[], store: string, decision: EffectDecision): EffectRecord {
  const { run } = decision;
  const effect = find(effectsOf(events, new Map(), store), decision);
  const name = `${decision.turn}.${decision.position}`;
  if (effect === undefined) {
    const open = unsettledOf(events).map((one) => one.effect);
    throw new RunError('run.unknown-effect', `Run ${run} sent nothing at ${name}.`, {
      next:
        open.length === 0
          ? `Nothing of this run is unknown: writ runs show ${run}`
          : `Name one of: ${open.join(', ')}.`,
      details: { run, effect: name, unknown: open },
    });
  }
  if (decision.decision === 'retry-authorized' && lastOf(events, 'run-finish') !== undefined) {
    throw new RunError('run.already-ended', `Run ${run} has ended and sends nothing any more.`, {
      next: 'Say what happened with --observed or --not-dispatched, or give it up with --abandon.',
      details: { run, effect: name },
    });
  }
  if (!next(effect.state, steps[decision.decision]).ok) {
    throw new RunError(
      'run.effect-settled',
      `Effect ${effectName(effect)} of run ${run} is ${effect.state}.`,
      {
        next: `Look at it with: writ runs show ${run} --calls`,
        details: { run, effect: name, state: effect.state },
      },
    );
  }
  return effect;
}

function find(
  view: ReturnType<typeof effectsOf>,
  { turn, position }: Pick<EffectDecision, 'turn' | 'position'>,
): EffectRecord | undefined {
  return [...view.values()].find(
    ({ id, kind }) => kind === 'call' && id.turn === turn && id.position === position,
  );
}

function eventsOf(
  { decision, by, reason, observation }: EffectDecision,
  { turn, position, attempt }: AttemptId,
): { readonly events: readonly EventBody[]; readonly blobs: readonly Blob[] } {
  const at = { turn, position, attempt };
  if (decision === 'abandoned' || decision === 'retry-authorized')
    return { events: [{ type: 'effect-resolve', turn, position, decision, by, reason }], blobs: [] };
  const looked: EventBody = { type: 'effect-reconcile', ...at, answer: decision, by, reason };
  if (decision === 'not-dispatched')
    return { events: [looked, { type: 'effect-not-dispatched', ...at, reason }], blobs: [] };
  const { status, text } = observation ?? {
    status: 'succeeded',
    text: `A person looked: it was carried out. ${reason}`,
  };
  const blob = blobOf(text);
  const seen = { status, text: blob.digest, truncated: false, bytes: Buffer.byteLength(text), late: true };
  return { events: [looked, { type: 'effect-observe', ...at, ...seen }], blobs: [blob] };
}
