/** Verifying: whether evidence meets a frozen specification. Pure, and nothing that a model says can make it say yes. */
import { messageOf } from '../../errors.ts';
import type { EvidenceStatus, RequirementResult } from '../../protocol/spec.ts';
import type { AssertionCatalogue } from './catalogue.ts';
import { type FrozenRequirement, type FrozenSpec, mustBeWhole } from './compile-spec.ts';
import { type Observation, questionOf, type StateRef } from './observe-spec.ts';

export interface Verdict {
  readonly spec: string;
  /** True if every required one passed. */
  readonly accepted: boolean;
  readonly results: readonly RequirementResult[];
}

interface Judged extends RequirementResult {
  readonly evidence: Observation | undefined;
  readonly coherent: boolean;
}

/** Throws `spec.altered` and `spec.unknown-assertion`; every doubt about evidence is a result. */
export function verifySpec(
  spec: FrozenSpec,
  catalogue: AssertionCatalogue,
  observations: readonly Observation[],
  state: StateRef,
): Verdict {
  mustBeWhole(spec);
  const judged = spec.requirements.map((requirement) =>
    judge(
      requirement,
      observations.filter((one) => one.requirement === requirement.id),
      spec,
      catalogue,
      state,
    ),
  );
  const results = coherent(judged).map(({ id, severity, status, reason }) => ({
    id,
    severity,
    status,
    reason,
  }));
  const accepted = results.every(({ severity, status }) => severity === 'optional' || status === 'passed');
  return { spec: spec.fingerprint, accepted, results };
}

function judge(
  requirement: FrozenRequirement,
  own: readonly Observation[],
  spec: FrozenSpec,
  catalogue: AssertionCatalogue,
  state: StateRef,
): Judged {
  const { id, severity, policy, assertion } = requirement;
  const end = (status: EvidenceStatus, reason: string, evidence?: Observation): Judged => ({
    id,
    severity,
    status,
    reason,
    evidence,
    coherent: policy.coherent,
  });
  // A claim stands beside the evidence and is not in its way.
  const counted = own.filter(({ trust }) => trust !== 'model_claim');
  if (counted.length === 0)
    return end(
      'missing',
      own.length === 0 ? 'Nothing was observed of it.' : 'Only a model said something of it.',
    );
  const results = counted.map((one): Judged => {
    if (one.spec !== spec.fingerprint || one.question !== questionOf(requirement))
      return end('indeterminate', 'The evidence is of another question.');
    if (one.status !== 'passed') return end(one.status, one.reason);
    if (!policy.sources.includes(one.source) || !policy.trust.includes(one.trust))
      return end('indeterminate', `Evidence of ${one.source} (${one.trust}) does not count for it.`);
    if (one.state.ref !== state.ref) return end('stale', `It is evidence of ${one.state.ref}.`);
    if (policy.freshness === 'current' && one.state.revision !== state.revision)
      return end(
        'stale',
        `It is evidence of revision ${one.state.revision}; the newest is ${state.revision}.`,
      );
    try {
      const met = catalogue.find(assertion.kind, assertion.version).judge(assertion.args, one.value);
      return met
        ? end('passed', 'It was seen to be so.', one)
        : end('failed', 'It was seen not to be so.', one);
    } catch (thrown) {
      return end('error', `Its judge failed: ${messageOf(thrown)}`);
    }
  });
  // Of several pieces of evidence none may be passed over: one that does not pass is the result.
  return (
    results.find(({ status }) => status !== 'passed') ??
    results[0] ??
    end('missing', 'Nothing was observed of it.')
  );
}

/** Evidence of several revisions cannot pass together where it has to be of one. */
function coherent(judged: readonly Judged[]): readonly Judged[] {
  const bound = judged.filter((one) => one.coherent && one.status === 'passed');
  const revisions = new Set(bound.map(({ evidence }) => evidence?.state.revision));
  if (revisions.size < 2) return judged;
  const reason = `Its evidence and that of others is of different revisions: ${[...revisions].join(', ')}.`;
  return judged.map((one) =>
    bound.includes(one) ? { ...one, status: 'indeterminate' as const, reason } : one,
  );
}
