/** The refusal of a state that nobody measured: what was measured instead, and the step that leads there. */
import type { Cell, RefusalDetails } from '../protocol/delivery.ts';
import type { Adapter } from './adapter.ts';
import { DeliverError } from './errors.ts';
import type { DeliveryRequest } from './request.ts';

/** `near` are the measurements of the same control; `needed` is true where going on without one is no choice. */
export function unmeasured(
  adapter: Adapter,
  request: DeliveryRequest,
  near: readonly Cell[],
  needed: boolean,
): DeliverError {
  const { intent, fidelity, version, authMode, model } = request;
  const modelFamily = adapter.family(model ?? null);
  const state = `${adapter.name} ${version ?? '(version not known)'}, model family ${modelFamily}, ${loginText[authMode]}`;
  const steps = [...stepsTo(adapter, request, near)];
  if (!needed) steps.unshift('accept it with --unmeasured warn, or');
  const next = steps.join(' ');
  return new DeliverError(
    'deliver.unmeasured',
    `Nobody measured ${intent} ${fidelity} on ${state}.${measuredText(near)}`,
    {
      next: `${next.charAt(0).toUpperCase()}${next.slice(1)}`,
      details: {
        harness: adapter.name,
        field: fidelity === 'exact' ? 'fidelity' : 'intent',
        requirement: 'a measurement of this version, model family and login',
        alternative: needed ? 'a harness that was measured' : '--unmeasured warn, which is recorded',
        able: [],
        version,
        modelFamily,
        authMode,
      } satisfies RefusalDetails & { readonly [name: string]: unknown },
    },
  );
}

/** How the harness shows its vendor who asks, in words. */
export const loginText = { 'api-key': 'with an API key', login: 'with a login of its own' } as const;

function measuredText(near: readonly Cell[]): string {
  const groups = new Map<string, string[]>();
  for (const { version, authMode, modelFamily } of near) {
    const state = `${version} ${loginText[authMode]}`;
    groups.set(state, [...new Set([...(groups.get(state) ?? []), modelFamily])]);
  }
  const texts = [...groups].map(([state, families]) => `${state} for model families ${families.join(', ')}`);
  return texts.length === 0 ? '' : ` It was measured on ${texts.join('; ')}.`;
}

/** What has to be otherwise, one after the other. A command stands last, so that it can be copied. */
function stepsTo(adapter: Adapter, { version, authMode, model }: DeliveryRequest, near: readonly Cell[]) {
  const modelFamily = adapter.family(model ?? null);
  const steps: string[] = [];
  const asLogin = authMode === 'login' && adapter.loginForVerify !== undefined;
  // No measurement can be had of a login that cannot be made up.
  if (authMode === 'login' && !asLogin) steps.push(`set ${adapter.keyVariables.join(' or ')}`);
  const here = near.filter(
    (cell) =>
      (version === null || cell.version === version) && cell.authMode === (asLogin ? 'login' : 'api-key'),
  );
  const families = [...new Set(here.map((cell) => cell.modelFamily))];
  if (families.length > 0 && !families.includes(modelFamily)) steps.push(modelStep(families));
  if (families.length > 0 && steps.length > 0) return [`${steps.join(' and ')}.`];
  const command = verifyCommand(adapter, model, asLogin);
  return [...steps.map((step) => `${step} and`), `run with --verify, or measure it: ${command}`];
}

function modelStep(families: readonly string[]): string {
  const named = families.filter((family) => family !== 'default');
  const none = named.length === families.length ? '' : 'leave the model out';
  const some = named.length === 0 ? '' : `name a model of ${named.join(', ')} with --model`;
  return [some, none].filter(Boolean).join(', or ');
}

function verifyCommand({ name, program }: Adapter, model: string | undefined, asLogin: boolean): string {
  const agent = program === null ? ' --bin PATH --bin-arg=WORD' : '';
  const named = model === undefined ? '' : ` --model ${/^[\w./:-]+$/.test(model) ? model : 'NAME'}`;
  return `writ harness verify ${name}${agent}${named}${asLogin ? ' --login' : ''}`;
}
