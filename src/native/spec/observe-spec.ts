/** Observing: every requirement's collector is run once, within its time, and what it saw becomes evidence of one state. */
import type { Clock } from '../../clock.ts';
import { jsonDigest } from '../../digest.ts';
import { messageOf } from '../../errors.ts';
import type { Json } from '../../protocol/json.ts';
import type { EvidenceStatus } from '../../protocol/spec.ts';
import { openDeadline } from '../deadline.ts';
import type { Assertion, AssertionCatalogue } from './catalogue.ts';
import { type FrozenRequirement, type FrozenSpec, mustBeWhole } from './compile-spec.ts';
import type { TrustClass } from './spec.ts';

/** `passed` says that something was seen, not that it is as required: that is for `verifySpec` to say. */
export interface Observation {
  readonly spec: string;
  readonly requirement: string;
  /** Digest of the assertion with its version and arguments: evidence of another question is none. */
  readonly question: string;
  readonly status: EvidenceStatus;
  readonly source: string;
  readonly trust: TrustClass;
  readonly value: Json;
  readonly state: StateRef;
  readonly observedAt: number;
  readonly reason: string;
}

/** What was looked at: which thing, and in which revision. */
export interface StateRef {
  readonly ref: string;
  readonly revision: string;
}

const timeoutMsUsual = 5_000;

/** Runs the collectors side by side; resolves with one observation for each requirement, whatever happens. */
export async function observeSpec(
  spec: FrozenSpec,
  catalogue: AssertionCatalogue,
  { state, clock, signal }: { readonly state: StateRef; readonly clock: Clock; readonly signal: AbortSignal },
): Promise<readonly Observation[]> {
  mustBeWhole(spec);
  return Promise.all(
    spec.requirements.map(async (requirement): Promise<Observation> => {
      const { kind, version, args } = requirement.assertion;
      const seen = await collected(catalogue.find(kind, version), args, signal);
      return {
        spec: spec.fingerprint,
        requirement: requirement.id,
        question: questionOf(requirement),
        state,
        observedAt: clock.now(),
        ...seen,
      };
    }),
  );
}

/** What a model says of a requirement, as evidence that never counts: it shows beside what was seen. */
export function claimOf(
  spec: FrozenSpec,
  requirement: FrozenRequirement,
  value: Json,
  state: StateRef,
  at: number,
): Observation {
  return {
    spec: spec.fingerprint,
    requirement: requirement.id,
    question: questionOf(requirement),
    status: 'passed',
    source: 'model',
    trust: 'model_claim',
    value,
    state,
    observedAt: at,
    reason: 'A model said so.',
  };
}

export function questionOf({ assertion }: FrozenRequirement): string {
  return jsonDigest(assertion);
}

type Seen = Pick<Observation, 'status' | 'source' | 'trust' | 'value' | 'reason'>;

function nothing(status: EvidenceStatus, reason: string): Seen {
  return { status, source: 'none', trust: 'unresolved', value: null, reason };
}

async function collected(
  assertion: Assertion,
  args: Parameters<Assertion['collect']>[0],
  signal: AbortSignal,
): Promise<Seen> {
  if (signal.aborted) return nothing('cancelled', 'It was stopped before it looked.');
  const timeoutMs = assertion.timeoutMs ?? timeoutMsUsual;
  const deadline = openDeadline(signal, timeoutMs);
  try {
    const seen = await Promise.race([assertion.collect(args, deadline.signal), deadline.passed]);
    if (seen === 'timeout') return nothing('timeout', `It did not answer within ${timeoutMs} ms.`);
    if (seen === 'cancelled') return nothing('cancelled', 'It was stopped.');
    if (seen === undefined) return nothing('missing', 'There is nothing to be seen yet.');
    const { source, trust, value } = seen;
    return { status: 'passed', source, trust, value, reason: 'It was seen.' };
  } catch (thrown) {
    return nothing('error', messageOf(thrown));
  } finally {
    deadline.close();
  }
}
