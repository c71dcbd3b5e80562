/** Freezing a specification: every assertion resolved, every evidence policy narrowed, and a fingerprint over what counts. */
import { jsonDigest } from '../../digest.ts';
import type { AssertionCatalogue, EvidencePolicy } from './catalogue.ts';
import { SpecError } from './errors.ts';
import type { EvidenceWish, Requirement, Spec } from './spec.ts';

export interface FrozenRequirement extends Omit<Requirement, 'evidence'> {
  readonly policy: EvidencePolicy;
}

export interface FrozenSpec {
  readonly series: string;
  readonly version: number;
  /** Over series, version, subject and requirements; who asked for what is no part of it. */
  readonly fingerprint: string;
  readonly subject: string;
  readonly requirements: readonly FrozenRequirement[];
}

/**
 * Freezes a specification as a version of its series. `newest` is the newest published one of the series: changed content
 * needs a higher version, the same content keeps its own. Throws `spec.unknown-assertion`, `spec.bad-arguments`,
 * `spec.policy-empty` and `spec.version-taken`.
 */
export function compileSpec(
  spec: Spec,
  catalogue: AssertionCatalogue,
  {
    series,
    version,
    newest,
  }: { readonly series: string; readonly version: number; readonly newest?: FrozenSpec },
): FrozenSpec {
  const requirements = spec.requirements.map(({ evidence, ...one }): FrozenRequirement => {
    const { kind, version: wanted, args } = one.assertion;
    const assertion = catalogue.find(kind, wanted);
    const problem = assertion.check(args);
    if (problem !== undefined) {
      throw new SpecError(
        'spec.bad-arguments',
        `The requirement ${one.id}: ${problem} (${kind}@${wanted}).`,
        {
          next: 'Correct its arguments.',
          details: { requirement: one.id },
        },
      );
    }
    return { ...one, policy: narrowed(one.id, assertion.policy, evidence) };
  });
  const content = { series, version, subject: spec.subject, requirements };
  const frozen = deepFrozen({ ...content, fingerprint: fingerprintOf(content) });
  if (
    newest !== undefined &&
    newest.series === series &&
    version <= newest.version &&
    frozen.fingerprint !== newest.fingerprint
  ) {
    throw new SpecError(
      'spec.version-taken',
      `${series} has version ${newest.version} already, with other content; found version ${version}.`,
      { next: `Publish it as version ${newest.version + 1}.` },
    );
  }
  return frozen;
}

/** Throws `spec.altered` if a specification is not what its fingerprint was made of. */
export function mustBeWhole(spec: FrozenSpec): void {
  const { fingerprint, ...content } = spec;
  if (fingerprintOf(content) === fingerprint) return;
  throw new SpecError(
    'spec.altered',
    `The specification ${spec.series}@${spec.version} was changed after it was frozen.`,
    {
      next: 'Freeze it anew from its source.',
    },
  );
}

function fingerprintOf(content: Omit<FrozenSpec, 'fingerprint'>): string {
  const requirements = content.requirements.map(({ provenance: _, ...counts }) => counts);
  const { series, version, subject } = content;
  return jsonDigest({ series, version, subject, requirements });
}

/** Both must be satisfied: of lists what both have, and of the rest the stricter. */
function narrowed(id: string, host: EvidencePolicy, wish: EvidenceWish): EvidencePolicy {
  const both = <Name extends string>(of: readonly Name[], wanted: readonly string[] | undefined) =>
    wanted === undefined ? of : of.filter((name) => wanted.includes(name));
  const policy: EvidencePolicy = {
    sources: both(host.sources, wish.sources),
    trust: both(host.trust, wish.trust),
    freshness: host.freshness === 'current' || wish.freshness === 'current' ? 'current' : 'any',
    coherent: host.coherent || wish.coherent === true,
  };
  if (policy.sources.length > 0 && policy.trust.length > 0) return policy;
  throw new SpecError(
    'spec.policy-empty',
    `The requirement ${id} takes only evidence that its assertion does not: sources ${(wish.sources ?? host.sources).join(', ')} of ${host.sources.join(', ')}, trust ${(wish.trust ?? host.trust).join(', ')} of ${host.trust.join(', ')}.`,
    { next: 'Let it take some of what its assertion takes.', details: { requirement: id } },
  );
}

function deepFrozen<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const part of Object.values(value)) deepFrozen(part);
  }
  return value;
}
