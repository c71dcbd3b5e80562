/** The model of the live lanes, chosen by environment variables; without one the lanes are skipped with the reason. */
import { ModelError } from '../../src/native/model/errors.ts';
import { type ResolvedModel, resolveModel } from '../../src/native/model/providers.ts';

export type Target =
  | { readonly kind: 'ready'; readonly model: ResolvedModel }
  | { readonly kind: 'skip'; readonly why: string };

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * `WRIT_LIVE_MODEL` names it as `provider/name`; its key is in the provider's own variable, or in the one that
 * `WRIT_LIVE_KEY_ENV` names; `WRIT_LIVE_BASE_URL` is for other servers. Throws a ModelError for what is wrong.
 */
export function liveTarget(env: Environment): Target {
  const spec = env.WRIT_LIVE_MODEL ?? '';
  if (spec === '')
    return { kind: 'skip', why: 'WRIT_LIVE_MODEL names no model, for instance openai/gpt-5-mini' };
  try {
    const model = resolveModel(spec, {
      env,
      baseUrl: env.WRIT_LIVE_BASE_URL || undefined,
      keyEnv: env.WRIT_LIVE_KEY_ENV || undefined,
    });
    return { kind: 'ready', model };
  } catch (thrown) {
    if (thrown instanceof ModelError && thrown.code === 'model.missing-key')
      return { kind: 'skip', why: thrown.message };
    throw thrown;
  }
}
