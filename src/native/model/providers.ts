/** Finds the model that `provider/name` names: its address, its key, its price. Nothing is sent. */
import type { Clock } from '../../clock.ts';
import type { Secret } from '../../ledger/secrets.ts';
import { anthropic } from '../../wire/anthropic.ts';
import { gemini } from '../../wire/gemini.ts';
import { openaiChat } from '../../wire/openai-chat.ts';
import { openaiResponses } from '../../wire/openai-responses.ts';
import type { Wire } from '../../wire/wire.ts';
import { type Attribution, attributionHeaders } from './attribution.ts';
import { checkBaseUrl } from './base-url.ts';
import { ModelError } from './errors.ts';
import { type HttpLimits, httpModel, secretsOf } from './http-model.ts';
import type { Model, Price } from './model.ts';
import { priceOf } from './price.ts';
import type { WireName } from './wire-names.ts';

interface Provider {
  readonly baseUrl: string;
  readonly keyEnv: string;
  readonly baseUrlEnv?: string;
  /** By default `openai-chat`. */
  readonly wire?: WireName;
}

/** The providers that need no base URL. */
export const providers: ReadonlyMap<string, Provider> = new Map<string, Provider>([
  [
    'openai',
    { baseUrl: 'https://api.openai.com/v1', keyEnv: 'OPENAI_API_KEY', baseUrlEnv: 'OPENAI_BASE_URL' },
  ],
  [
    'anthropic',
    {
      baseUrl: 'https://api.anthropic.com/v1',
      keyEnv: 'ANTHROPIC_API_KEY',
      baseUrlEnv: 'ANTHROPIC_BASE_URL',
      wire: 'anthropic',
    },
  ],
  [
    'openai-responses',
    {
      baseUrl: 'https://api.openai.com/v1',
      keyEnv: 'OPENAI_API_KEY',
      baseUrlEnv: 'OPENAI_BASE_URL',
      wire: 'openai-responses',
    },
  ],
  [
    'gemini',
    {
      baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
      keyEnv: 'GEMINI_API_KEY',
      wire: 'gemini',
    },
  ],
  ['openrouter', { baseUrl: 'https://openrouter.ai/api/v1', keyEnv: 'OPENROUTER_API_KEY' }],
]);

export interface ResolveOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Of any server that speaks the wire; needed for a provider that is not in `providers`. */
  readonly baseUrl?: string | undefined;
  /** The protocol that the server speaks; by default the provider's own, and `openai-chat` for one that is not known. */
  readonly wire?: WireName | undefined;
  /** The variable that holds the key, where it is not the provider's own. */
  readonly keyEnv?: string | undefined;
  /** Allows http to another machine. */
  readonly plainHttp?: boolean | undefined;
  /** By model id (`provider/name`). */
  readonly prices?: Readonly<Record<string, Price>> | undefined;
  /** Sent to OpenRouter only. */
  readonly attribution?: Attribution | undefined;
  /** The name of the output limit; by default OpenAI's own server gets the newer one, all others the older. */
  readonly outputLimit?: 'max_tokens' | 'max_completion_tokens' | undefined;
  /** The header in which the server takes an idempotency key, such as a gateway's; none of the known providers has one. */
  readonly idempotencyHeader?: string | undefined;
  readonly limits?: Partial<HttpLimits> | undefined;
  readonly clock?: Clock | undefined;
}

/** A model, and the secrets that whoever stores or shows anything of it must take out. */
export interface ResolvedModel extends Model {
  readonly secrets: readonly Secret[];
}

/**
 * Throws a ModelError for a spec, base URL, key, price or attribution that cannot be used. A known provider needs its key,
 * except on this machine; any other server needs one only where `keyEnv` names it.
 */
export function resolveModel(spec: string, options: ResolveOptions): ResolvedModel {
  const { provider, name } = parseSpec(spec);
  const known = providers.get(provider);
  const fromEnv = known?.baseUrlEnv === undefined ? undefined : options.env[known.baseUrlEnv];
  const address = options.baseUrl ?? (fromEnv || known?.baseUrl);
  if (address === undefined) throw unknownProvider(provider);
  const speaks = options.wire ?? known?.wire ?? 'openai-chat';
  const baseUrl = checkBaseUrl(address, { plainHttp: options.plainHttp ?? false });
  const key = readKey(spec, options.env, {
    name: options.keyEnv ?? known?.keyEnv,
    optional: options.keyEnv === undefined && baseUrl.loopback,
  });
  const price = priceOf(spec, options.prices);
  const headers = attributionHeaders(options.attribution ?? {});
  const model = httpModel({
    id: spec,
    name,
    ...served(speaks, name, baseUrl.text, options.outputLimit),
    key,
    price,
    ...(provider === 'openrouter' ? { headers } : {}),
    ...(options.idempotencyHeader === undefined ? {} : { idempotencyHeader: options.idempotencyHeader }),
    ...(options.limits === undefined ? {} : { limits: options.limits }),
    ...(options.clock === undefined ? {} : { clock: options.clock }),
  });
  return { ...model, secrets: secretsOf(spec, key) };
}

function served(
  speaks: WireName,
  name: string,
  baseUrl: string,
  outputLimit: ResolveOptions['outputLimit'],
): { readonly wire: Wire; readonly baseUrl: string } {
  // Its own clients write the address without the version that its path begins with; both ways of writing it are taken.
  if (speaks === 'anthropic') return { wire: anthropic(), baseUrl: baseUrl.replace(/\/v1$/, '') };
  if (speaks === 'openai-responses') return { wire: openaiResponses(), baseUrl };
  if (speaks === 'gemini') return { wire: gemini(name), baseUrl };
  const newer = new URL(baseUrl).host === 'api.openai.com';
  return {
    wire: openaiChat({ outputLimit: outputLimit ?? (newer ? 'max_completion_tokens' : 'max_tokens') }),
    baseUrl,
  };
}

const specCharsMax = 256;

/** Takes a model as `provider/name` apart. Throws `model.bad-spec`. */
export function parseSpec(spec: string): { readonly provider: string; readonly name: string } {
  const slash = spec.indexOf('/');
  const provider = spec.slice(0, Math.max(slash, 0));
  const name = spec.slice(slash + 1);
  const strange = /[\s\p{C}]/u.test(spec);
  const ok =
    !strange && spec.length <= specCharsMax && /^[a-z0-9][a-z0-9._-]*$/.test(provider) && /^[^-/]/.test(name);
  if (ok && !name.endsWith('/')) return { provider, name };
  throw new ModelError(
    'model.bad-spec',
    `Expected a model as provider/name without blanks, at most ${specCharsMax} characters; found ${JSON.stringify(spec.slice(0, 120))}.`,
    { next: 'Write it like openai/gpt-4.1-mini or openrouter/vendor/name.' },
  );
}

function unknownProvider(provider: string): ModelError {
  const known = [...providers.keys()];
  return new ModelError(
    'model.unknown-provider',
    `Expected one of ${known.join(', ')}, or a base URL; found the provider '${provider}' and none.`,
    { next: `Give the base URL of '${provider}', or choose a known provider.`, details: { provider, known } },
  );
}

function readKey(
  spec: string,
  env: ResolveOptions['env'],
  wanted: { readonly name: string | undefined; readonly optional: boolean },
): Secret | null {
  const { name } = wanted;
  if (name === undefined) return null;
  // A key given by mistake where its variable's name belongs must not be repeated; keys have small letters or dashes.
  if (!/^[A-Z_][A-Z0-9_]*$/.test(name)) {
    throw new ModelError(
      'model.bad-key',
      `Expected the name of a variable in capitals for the key of ${spec}; found a text of ${name.length} characters that is none.`,
      { next: 'Put the key into an environment variable and give the name of that variable.' },
    );
  }
  const value = env[name]?.trim() ?? '';
  if (value === '') {
    if (wanted.optional) return null;
    throw new ModelError(
      'model.missing-key',
      `Expected the key for ${spec} in the variable ${name}; it is ${env[name] === undefined ? 'not set' : 'empty'}.`,
      { next: `Set ${name} to your key.`, details: { variable: name } },
    );
  }
  if (/[^\x21-\x7e]/.test(value)) {
    throw new ModelError(
      'model.bad-key',
      `Expected a key of printable ASCII characters without blanks in ${name}; found another character in it.`,
      { next: `Copy the key into ${name} again.`, details: { variable: name } },
    );
  }
  return { name, value };
}
