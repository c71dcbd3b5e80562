/** Compiles the visible surface: from a catalogue and a request to what a session shows its model, and why. */
import { type Digest, sha256 } from '../../digest.ts';
import { tokenMethod } from '../layers.ts';
import { type Candidate, findCandidates } from './candidates.ts';
import type { Catalogue } from './catalogue.ts';
import { choose, type Edge } from './choose.ts';
import { type Packed, type Pending, pack } from './pack.ts';
import { type CheckedRequest, checkRequest, type SurfaceRequest } from './request.ts';
import type { UnitKind } from './unit.ts';
import { judgeOf, type Reason } from './verdict.ts';
import { wordsOf } from './words.ts';

export interface ActiveUnit {
  readonly unit: string;
  readonly kind: UnitKind;
  readonly name: string;
  readonly server: string | null;
  readonly score: number;
  /** Which of its variants is shown; `schema` for a tool. */
  readonly variant: string;
  readonly bytes: number;
  readonly tokens: number;
}

export interface Rejection {
  readonly unit: string;
  readonly reasons: readonly Reason[];
}

/** What a compilation decided. Plain data; each unit stands in one of active, pending, rejected and cut, or in none. */
export interface Surface {
  /** SHA-256 over all inputs: equal fingerprints are equal surfaces. */
  readonly fingerprint: Digest;
  readonly catalogue: Digest;
  readonly request: CheckedRequest;
  /** What was considered, best first. */
  readonly candidates: readonly Candidate[];
  readonly edges: readonly Edge[];
  /** In the order of their ids, so that a unit more or less moves no other. */
  readonly active: readonly ActiveUnit[];
  /** Chosen, and not within the budget. */
  readonly pending: readonly Pending[];
  readonly rejected: readonly Rejection[];
  /** Units with evidence that rank below the candidate limit, in the order of their ids. */
  readonly cut: readonly string[];
  /** The ledger of sizes: `tokens` is exactly the sum over `active`. */
  readonly sizes: {
    readonly tokenMethod: string;
    readonly budgetTokens: number | null;
    readonly tokens: number;
    readonly bytes: number;
    readonly leftTokens: number | null;
  };
}

/** Part of every fingerprint: a change of the rules is a change of the inputs. */
const rules = 'surface-2';

/**
 * Decides what is shown. Pure: it runs, connects and grants nothing, and equal inputs give equal surfaces in whatever order
 * the units were registered. Throws `compose.bad-surface-request` and `compose.surface-too-large`.
 */
export function compileSurface(catalogue: Catalogue, request: SurfaceRequest): Surface {
  const checked = checkRequest(request);
  const words = wordsOf(checked.task);
  const judge = judgeOf(catalogue, checked, words);
  const found = findCandidates(catalogue, checked, words, judge);
  const choice = choose(found.ranked, catalogue, judge);
  const { packed, pending, tokens } = pack(choice, checked.budgetTokens);
  const rejected = new Map([...found.rejected, ...choice.rejected]);
  const active = catalogue.inOrder(packed).map(activeUnit);
  const digest = catalogue.digest();
  return {
    fingerprint: sha256(JSON.stringify([rules, digest, checked])),
    catalogue: digest,
    request: checked,
    candidates: found.candidates,
    edges: choice.edges,
    active,
    pending,
    rejected: [...rejected].map(([unit, reasons]) => ({ unit, reasons })).sort(byUnit),
    cut: found.cut(choice),
    sizes: {
      tokenMethod,
      budgetTokens: checked.budgetTokens,
      tokens,
      bytes: active.reduce((sum, unit) => sum + unit.bytes, 0),
      leftTokens: checked.budgetTokens === null ? null : checked.budgetTokens - tokens,
    },
  };
}

/** What a session found out since: needs and signals are added, a task or selection replaces the one before. */
export type SurfaceChange = Partial<
  Pick<SurfaceRequest, 'task' | 'needs' | 'signals' | 'selected' | 'denied'>
>;

/**
 * Compiles again with what changed; the surface given stays as it is. Capabilities, scope, mode and budget are those of that
 * surface, so a need can bring in what was allowed before and nothing else. Throws as `compileSurface` does.
 */
export function recompileSurface(catalogue: Catalogue, surface: Surface, change: SurfaceChange): Surface {
  const { request } = surface;
  return compileSurface(catalogue, {
    ...request,
    ...change,
    needs: [...request.needs, ...(change.needs ?? [])],
    signals: [...request.signals, ...(change.signals ?? [])],
    denied: [...request.denied, ...(change.denied ?? [])],
  });
}

function activeUnit({ unit, score, variant }: Packed): ActiveUnit {
  const { id, kind, name, server } = unit;
  return {
    unit: id,
    kind,
    name,
    server,
    score,
    variant: variant.kind,
    bytes: variant.bytes,
    tokens: variant.tokens,
  };
}

function byUnit(a: { readonly unit: string }, b: { readonly unit: string }): number {
  return a.unit < b.unit ? -1 : 1;
}
