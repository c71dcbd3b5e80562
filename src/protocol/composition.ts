/** The result of composing: the exact text, its layers, and why each fragment is in or out. */

/** The parts of a composed text, in the order in which they stand. */
export const layerIds = [
  'identity',
  'contract',
  'directives',
  'skills',
  'governance',
  'memory',
  'session',
] as const;
export type LayerId = (typeof layerIds)[number];

/** A fact as a record carries it. `source` says where it came from: `built-in`, `flag`, `probe project-marker`, … */
export type FactRecord =
  | { readonly name: string; readonly known: true; readonly value: unknown; readonly source: string }
  | { readonly name: string; readonly known: false; readonly reason: string; readonly source: string };

/** Why a fragment is in or out. A fragment without a condition has `when: null` and the value `true`. */
export interface Decision {
  readonly fragment: string;
  readonly included: boolean;
  readonly value: 'true' | 'false' | 'unknown';
  readonly when: string | null;
  /** The facts that the condition read, in the order of their names. */
  readonly facts: readonly FactRecord[];
  /** Set where the fragment is out because the identity given for the session stands in its place, whatever the value. */
  readonly replaced?: true;
}

export interface Layer {
  readonly id: LayerId;
  readonly title: string;
  /** What stands between the layer before and this one; empty for the first. */
  readonly joinBefore: string;
  readonly text: string;
  /** UTF-8 bytes of `text`. */
  readonly bytes: number;
  /** An estimate by the composition's `tokenMethod`. */
  readonly tokens: number;
  readonly fragments: readonly string[];
}

export interface Composition {
  /** The agent's key. */
  readonly agent: string;
  readonly profile: string;
  /** SHA-256 of the UTF-8 bytes of `text`. */
  readonly digest: string;
  readonly bytes: number;
  /** Code points. */
  readonly characters: number;
  readonly tokens: number;
  readonly tokenMethod: string;
  /** Exactly the join of the layers. */
  readonly text: string;
  /** How many bytes from the start are the same for every session of this agent, profile and set of stable facts. */
  readonly stablePrefixBytes: number;
  readonly layers: readonly Layer[];
  readonly decisions: readonly Decision[];
}
