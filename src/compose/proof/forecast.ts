/** What a provider's prompt cache can reuse from one composed text for the next, by the rules that providers publish. */
import { sha256 } from '../../digest.ts';
import type { Composition, LayerId } from '../../protocol/composition.ts';
import { type Agent, declarationOf, factsReadBy } from '../agent.ts';
import { tokenMethod } from '../layers.ts';
import type { Span } from './spans.ts';

/** A published rule. Tokens are of the whole request: tools that stand before the text count towards the minimum. */
export interface CacheRule {
  readonly name: 'blocks' | 'breakpoints';
  readonly provider: string;
  readonly minimumTokens: number;
  /** Blocks: what is reused grows by so many tokens. */
  readonly stepTokens?: number;
  readonly source: string;
}

/** As documented by the providers; the smallest prefix of a breakpoint depends on the model. */
export const cacheRules: readonly CacheRule[] = [
  {
    name: 'blocks',
    provider: 'OpenAI',
    minimumTokens: 1_024,
    stepTokens: 128,
    source: 'https://developers.openai.com/api/docs/guides/prompt-caching',
  },
  {
    name: 'breakpoints',
    provider: 'Anthropic (most models)',
    minimumTokens: 1_024,
    source: 'https://docs.claude.com/en/docs/build-with-claude/prompt-caching',
  },
  {
    name: 'breakpoints',
    provider: 'Anthropic (Opus 4.5, Opus 4.6, Haiku 4.5)',
    minimumTokens: 4_096,
    source: 'https://docs.claude.com/en/docs/build-with-claude/prompt-caching',
  },
];

export interface Reuse {
  readonly rule: CacheRule;
  /** Tokens of the later text that are read from the cache, by `tokenMethod`. */
  readonly tokens: number;
}

/** `fragment` is null for a text given for the session, and where nothing says which fragment it is. */
export interface Owner {
  readonly layer: LayerId;
  readonly fragment: string | null;
}

export interface Forecast {
  /** Null where both texts are the same bytes. */
  readonly firstDifference: {
    /** Offset of the first byte that is not the same. */
    readonly byte: number;
    /** Who owns that byte in each text; null where the text has ended before it. */
    readonly before: Owner | null;
    readonly after: Owner | null;
  } | null;
  readonly stablePrefix: {
    readonly before: { readonly bytes: number; readonly digest: string };
    readonly after: { readonly bytes: number; readonly digest: string };
    readonly same: boolean;
  };
  /** Volatile facts that either text may hang on. */
  readonly volatile: readonly string[];
  readonly tokenMethod: string;
  readonly reuse: readonly Reuse[];
}

/** What is known beside the two compositions; without it only layers and the facts of conditions can be named. */
export interface ForecastContext {
  readonly spansBefore?: readonly Span[];
  readonly spansAfter?: readonly Span[];
  readonly volatile?: readonly string[];
}

/** Compares two compositions as a cache would: turn to turn, or session to session. */
export function forecast(before: Composition, after: Composition, context: ForecastContext = {}): Forecast {
  const [a, b] = [Buffer.from(before.text), Buffer.from(after.text)];
  const shared = sharedBytes(a, b);
  const same = a.length === b.length && shared === a.length;
  const prefixBefore = prefixOf(a, before);
  const prefixAfter = prefixOf(b, after);
  return {
    firstDifference: same
      ? null
      : {
          byte: shared,
          before: ownerAt(before, context.spansBefore, shared),
          after: ownerAt(after, context.spansAfter, shared),
        },
    stablePrefix: {
      before: prefixBefore,
      after: prefixAfter,
      same: prefixBefore.digest === prefixAfter.digest,
    },
    volatile: [...new Set(context.volatile ?? [...volatileIn(before), ...volatileIn(after)])].sort(),
    tokenMethod,
    reuse: cacheRules.map((rule) => ({ rule, tokens: reused(rule, b, shared, after.stablePrefixBytes) })),
  };
}

function sharedBytes(a: Buffer, b: Buffer): number {
  const end = Math.min(a.length, b.length);
  let at = 0;
  while (at < end && a[at] === b[at]) at += 1;
  return at;
}

function ownerAt(
  { layers, bytes }: Composition,
  spans: readonly Span[] | undefined,
  byte: number,
): Owner | null {
  if (byte >= bytes) return null;
  const span = spans?.find(({ start, end }) => byte >= start && byte < end);
  if (span !== undefined) return { layer: span.layer, fragment: span.fragment };
  let end = 0;
  const layer = layers.find((one) => {
    end += Buffer.byteLength(one.joinBefore) + one.bytes;
    return byte < end;
  });
  if (layer === undefined) return null;
  const [only, second] = layer.fragments;
  return { layer: layer.id, fragment: second === undefined ? (only ?? null) : null };
}

function prefixOf(bytes: Buffer, { stablePrefixBytes }: Composition) {
  return { bytes: stablePrefixBytes, digest: sha256(bytes.subarray(0, stablePrefixBytes)) };
}

function volatileIn({ decisions }: Composition): string[] {
  return decisions.flatMap(({ facts }) =>
    facts.map(({ name }) => name).filter((name) => /^(env|git)\./.test(name)),
  );
}

function reused(
  { name, minimumTokens, stepTokens = 1 }: CacheRule,
  text: Buffer,
  shared: number,
  stable: number,
): number {
  if (name === 'blocks') {
    const tokens = tokensOf(text, shared);
    return tokens < minimumTokens
      ? 0
      : minimumTokens + Math.floor((tokens - minimumTokens) / stepTokens) * stepTokens;
  }
  // One breakpoint at the end of the stable prefix, one at the end of the text: each is read whole or not at all.
  const point = [text.length, stable].find((end) => end <= shared) ?? 0;
  const tokens = tokensOf(text, point);
  return tokens < minimumTokens ? 0 : tokens;
}

function tokensOf(text: Buffer, bytes: number): number {
  return Math.floor([...text.toString('utf8', 0, bytes)].length / 4);
}

/** The volatile facts on which the fragments of a profile hang, templates included. */
export function volatileFacts(agent: Agent, profile: string): string[] {
  const fragments = (agent.profiles.get(profile) ?? []).flatMap((id) => agent.fragments.get(id) ?? []);
  const names = fragments.flatMap(factsReadBy);
  return [...new Set(names)].filter((name) => declarationOf(agent, name)?.volatile === true).sort();
}

/** The forecast as lines for people. */
export function forecastLines({
  firstDifference,
  stablePrefix,
  volatile,
  reuse,
  tokenMethod: method,
}: Forecast): string[] {
  const { before, after, same } = stablePrefix;
  return [
    firstDifference === null
      ? 'cache: the texts are the same bytes'
      : `cache: first difference at byte ${firstDifference.byte}: ${ownerWords(firstDifference.before)} before, ${ownerWords(firstDifference.after)} now`,
    same
      ? `  stable prefix: the same ${after.bytes} bytes, sha256 ${after.digest.slice(0, 12)}`
      : `  stable prefix: ${before.bytes} bytes (${before.digest.slice(0, 12)}), then ${after.bytes} (${after.digest.slice(0, 12)})`,
    `  volatile facts: ${volatile.join(', ') || 'none'}`,
    ...reuse.map(
      ({ rule, tokens }) =>
        `  reused at ${rule.provider}: ${tokens} tokens (${method}; ${rule.name}, at least ${rule.minimumTokens})`,
    ),
  ];
}

function ownerWords(owner: Owner | null): string {
  if (owner === null) return 'the end';
  return owner.fragment ?? `the layer ${owner.layer}`;
}
