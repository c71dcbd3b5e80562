/** The model that an agent names, as a harness calls it; where that is not known, it is said and not passed over. */
import type { Adapter } from './adapter.ts';

export interface AgentModel {
  /** For the request; null where the harness chooses by itself. */
  readonly model: string | null;
  /** One sentence where the agent's model is not used. */
  readonly notices: readonly string[];
}

/**
 * `written` is the agent's own, as `provider/name`; `given` is what the caller names instead, as the harness calls it.
 * A server of the caller's own, to which requests are `redirected`, gets the name without the provider, as from `native`.
 */
export function agentModel(
  {
    name: harness,
    models,
    dimensions,
    needsCell,
  }: Pick<Adapter, 'name' | 'models' | 'dimensions' | 'needsCell'>,
  written: string | null,
  { given, redirected }: { readonly given: string | undefined; readonly redirected: boolean },
): AgentModel {
  if (given !== undefined) return { model: given, notices: [] };
  if (written === null) return { model: null, notices: [] };
  // Ours is whom agent.yaml writes it for.
  if (needsCell === false) return { model: written, notices: [] };
  const at = written.indexOf('/');
  const [provider, name] = [written.slice(0, Math.max(0, at)), written.slice(at + 1)];
  const called = Object.hasOwn(models, provider) ? models[provider] : undefined;
  if (dimensions.model !== undefined && name !== '') {
    if (redirected && provider !== '') return { model: name, notices: [] };
    if (called !== undefined) return { model: called === 'name' ? name : written, notices: [] };
  }
  const notice = `The model ${written} of agent.yaml is not used: what ${harness} calls it is not known, so it takes its own choice.`;
  return { model: null, notices: [dimensions.model === undefined ? notice : `${notice} --model names one.`] };
}
