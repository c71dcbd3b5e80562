/** The catalogue of assertions: what a host can observe and judge, written once in code and named by specifications as data. */
import { isRecord, type Json } from '../../protocol/json.ts';
import { SpecError } from './errors.ts';
import type { TrustClass } from './spec.ts';

/** What counts as evidence of an assertion. A specification may only narrow it. */
export interface EvidencePolicy {
  readonly sources: readonly string[];
  readonly trust: readonly TrustClass[];
  readonly freshness: 'any' | 'current';
  readonly coherent: boolean;
}

export interface Collected {
  readonly source: string;
  readonly trust: TrustClass;
  readonly value: Json;
}

export type Arguments = { readonly [name: string]: Json };

export interface Assertion {
  readonly kind: string;
  readonly version: number;
  readonly description: string;
  readonly policy: EvidencePolicy;
  /** Wall time of one collection; 5 s unless given. */
  readonly timeoutMs?: number;
  /** One sentence for arguments that it does not take; undefined for those that it does. */
  check(args: Arguments): string | undefined;
  /** Looks at the world and changes nothing in it; undefined where there is nothing to be seen yet. */
  collect(args: Arguments, signal: AbortSignal): Promise<Collected | undefined>;
  /** Judges what was collected. Pure. */
  judge(args: Arguments, value: Json): boolean;
}

export interface AssertionCatalogue {
  /** Throws `spec.unknown-assertion`. */
  find(kind: string, version: number): Assertion;
  /** Kinds with their descriptions and policies, and no code. */
  list(): readonly Pick<Assertion, 'kind' | 'version' | 'description' | 'policy'>[];
}

/** Throws `spec.bad-assertion` for two of one kind and version, an empty policy, or one that would believe a model. */
export function openAssertions(assertions: readonly Assertion[]): AssertionCatalogue {
  const byName = new Map<string, Assertion>();
  for (const one of assertions) {
    const key = nameOf(one.kind, one.version);
    const { sources, trust } = one.policy;
    if (byName.has(key)) throw bad(key, 'it is defined twice');
    if (sources.length === 0 || trust.length === 0) throw bad(key, 'no evidence could ever count for it');
    if (trust.includes('model_claim') || trust.includes('unresolved'))
      throw bad(key, 'what a model says, and what is not resolved, is no evidence');
    byName.set(key, one);
  }
  return {
    find(kind, version) {
      const found = byName.get(nameOf(kind, version));
      if (found !== undefined) return found;
      const known = [...byName.keys()].sort().join(', ');
      throw new SpecError(
        'spec.unknown-assertion',
        `Expected an assertion of the catalogue; found ${nameOf(kind, version)}.`,
        { next: `Name one of: ${known === '' ? '(it is empty)' : known}.`, details: { kind, version } },
      );
    },
    list: () =>
      [...byName.values()].map(({ kind, version, description, policy }) => ({
        kind,
        version,
        description,
        policy,
      })),
  };
}

function nameOf(kind: string, version: number): string {
  return `${kind}@${version}`;
}

function bad(name: string, why: string): SpecError {
  return new SpecError('spec.bad-assertion', `The assertion ${name} cannot be used: ${why}.`, {
    next: 'Correct its definition.',
  });
}

/** A check of arguments: these names, each of this type, and no other. */
export function argumentTypes(types: { readonly [name: string]: 'string' | 'number' | 'boolean' }) {
  return (args: Arguments): string | undefined => {
    if (!isRecord(args)) return 'expected an object';
    for (const name of Object.keys(args))
      if (!Object.hasOwn(types, name)) return `expected no argument '${name}'`;
    for (const [name, type] of Object.entries(types))
      if (typeof args[name] !== type)
        return `expected a ${type} as '${name}', found ${JSON.stringify(args[name]) ?? 'nothing'}`;
    return undefined;
  };
}
