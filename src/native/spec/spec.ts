/** The closed form of a specification: what has to be true in the end, as data that names assertions and holds no code. */
import { z } from 'zod';
import type { Json } from '../../protocol/json.ts';
import { repeatedKey } from '../tool/json-keys.ts';
import { SpecError } from './errors.ts';

/** Where evidence comes from. What a model says is a claim, and no policy can make it more. */
export const trustClasses = ['trusted', 'observed', 'derived', 'model_claim', 'unresolved'] as const;
export type TrustClass = (typeof trustClasses)[number];

const name = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'a name of a-z 0-9 . _ -');
const depthMax = 32;
const words = z.string().min(1).max(2_000);

const evidence = z.strictObject({
  /** Names of sources that count; any that the assertion allows where left out. */
  sources: z.array(name).min(1).optional(),
  trust: z.array(z.enum(trustClasses)).min(1).optional(),
  /** `current`: only of the state that is verified. */
  freshness: z.enum(['any', 'current']).optional(),
  /** True where it must be of one revision with all other evidence that must. */
  coherent: z.boolean().optional(),
});
export type EvidenceWish = z.output<typeof evidence>;

const assertion = z.strictObject({
  kind: name,
  version: z.int().min(1),
  args: z.record(z.string(), z.json()).default({}),
});

const requirement = z.strictObject({
  id: name,
  assertion,
  severity: z.enum(['required', 'optional']).default('required'),
  evidence: evidence.optional(),
  /** Who asked for it and why; not part of what is compared. */
  provenance: words.optional(),
});

const form = z.strictObject({
  schemaVersion: z.literal(1),
  subject: words,
  requirements: z.array(requirement).min(1).max(256),
  /** What must hold beside; always required. */
  invariants: z
    .array(requirement.omit({ severity: true }))
    .max(256)
    .default([]),
  /** What the answer itself must be. */
  outputContract: requirement.omit({ severity: true }).optional(),
  provenance: words.optional(),
});

/** A specification as it is after reading: every default written out, requirements in the order of their ids. */
export interface Spec {
  readonly schemaVersion: 1;
  readonly subject: string;
  readonly requirements: readonly Requirement[];
  readonly provenance: string | null;
}

export interface Requirement {
  readonly id: string;
  readonly role: 'requirement' | 'invariant' | 'output';
  readonly assertion: {
    readonly kind: string;
    readonly version: number;
    readonly args: { readonly [name: string]: Json };
  };
  readonly severity: 'required' | 'optional';
  readonly evidence: EvidenceWish;
  readonly provenance: string | null;
}

/** Reads and normalises a specification. Throws `spec.unreadable` for whatever is not of the form, a repeated id included. */
export function readSpec(value: unknown): Spec {
  const read = form.safeParse(value);
  if (!read.success) {
    const [issue] = read.error.issues;
    throw unreadable(`at /${issue?.path.join('/') ?? ''}: ${issue?.message ?? 'another form'}`);
  }
  const { subject, requirements, invariants, outputContract, provenance } = read.data;
  const all: Requirement[] = [
    ...requirements.map((one) => normal(one, 'requirement', one.severity)),
    ...invariants.map((one) => normal(one, 'invariant', 'required')),
    ...(outputContract === undefined ? [] : [normal(outputContract, 'output', 'required')]),
  ].sort((a, b) => (a.id < b.id ? -1 : 1));
  const twice = all.find((one, at) => all[at + 1]?.id === one.id);
  if (twice !== undefined) throw unreadable(`the id '${twice.id}' twice`);
  return { schemaVersion: 1, subject, requirements: all, provenance: provenance ?? null };
}

/** The same of a text, in which a key that stands twice in one object is refused too. */
export function readSpecText(text: string): Spec {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw unreadable('text that is no JSON');
  }
  const repeated = repeatedKey(text, depthMax);
  if (repeated !== null) throw unreadable(repeated);
  return readSpec(value);
}

function normal(
  one: Omit<z.output<typeof requirement>, 'severity'>,
  role: Requirement['role'],
  severity: Requirement['severity'],
): Requirement {
  const { id, evidence: wish = {}, provenance } = one;
  return { id, role, assertion: one.assertion, severity, evidence: wish, provenance: provenance ?? null };
}

function unreadable(found: string): SpecError {
  return new SpecError('spec.unreadable', `Expected a specification of the closed form; found ${found}.`, {
    next: 'Correct it: a specification names assertions and holds nothing else.',
  });
}

/** The JSON Schema of the form, for editors and for models that propose one. */
export function specJsonSchema(): object {
  return z.toJSONSchema(form, { io: 'input' });
}
