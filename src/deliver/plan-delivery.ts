/** From a request to the plan of one run: pure, and the only way to an adapter. */
import type { DeliveryPlan, Dimension, UsedControl } from '../protocol/delivery.ts';
import { dimensions } from '../protocol/delivery.ts';
import type { Adapter, AdapterPlan, Resolved } from './adapter.ts';
import { checkRequest } from './check-request.ts';
import { ableTo, type DeliveryRules, permit, refusal } from './permit.ts';
import type { DeliveryRequest } from './request.ts';
import { holdLimits, usedControl } from './transport.ts';

/**
 * Plans the delivery of a request to the harness of a name. Throws `deliver.bad-request` for what is no request, and a
 * refusal for what the harness does not honour; then nothing was read, written, started or connected.
 */
export function planDelivery(harness: string, request: DeliveryRequest, rules: DeliveryRules): DeliveryPlan {
  checkRequest(request);
  const adapter = adapterOf(harness, request, rules);
  const resolved = permit(adapter, request, rules);
  const plan = assemble(adapter, resolved, adapter.plan(resolved));
  holdLimits(plan, request.platform);
  return plan;
}

/** The adapter of a name. An unknown name honours nothing: `deliver.unknown-harness`. */
export function adapterOf(
  harness: string,
  { intent }: Pick<DeliveryRequest, 'intent'>,
  { adapters }: Pick<DeliveryRules, 'adapters'>,
): Adapter {
  const found = adapters.find(({ name }) => name === harness);
  if (found !== undefined) return found;
  throw refusal(
    'deliver.unknown-harness',
    `There is no harness ${JSON.stringify(harness)}, so it cannot ${intent}.`,
    {
      harness,
      field: 'intent',
      requirement: 'a harness whose controls are known',
      alternative: 'a harness that `writ harness` lists',
      able: ableTo(intent, adapters),
    },
  );
}

function assemble(adapter: Adapter, { request, control, cell }: Resolved, parts: AdapterPlan): DeliveryPlan {
  const env = withOwnVariables(adapter, request, parts.env ?? {});
  const vendor = cell === null || cell.residue.bytes === 0 ? [] : [vendorText(cell.residue)];
  return {
    harness: adapter.name,
    intent: request.intent,
    fidelity: request.fidelity,
    program: parts.program ?? adapter.program,
    argv: parts.argv ?? [],
    env,
    inherit: [...adapter.keyVariables, ...(parts.inherit ?? []), ...secretNames(request)],
    home: request.home,
    workspace: request.workspace,
    files: parts.files ?? [],
    seeds: request.authMode === 'login' ? (parts.seeds ?? []) : [],
    stdin: parts.stdin ?? null,
    acp: parts.acp ?? null,
    controls: [
      usedControl(request.intent, control, request.text),
      usedControl('task', parts.task, request.task),
      ...usedDimensions(adapter, request),
    ],
    ambient: parts.ambient ?? [],
    residue: [...vendor, ...(parts.residue ?? [])],
    cell,
    notices: [...unmeasuredNotice(adapter, request, cell), ...(parts.notices ?? [])],
  };
}

function usedDimensions(adapter: Adapter, request: DeliveryRequest): readonly UsedControl[] {
  return dimensions.flatMap((wish) => {
    const control = adapter.dimensions[wish];
    if (request[wish] === undefined || control === undefined) return [];
    return [usedControl(wish, control, null)];
  });
}

/** Variables of the request beside those that isolation and controls need, which it may not change. */
function withOwnVariables(
  adapter: Adapter,
  { env = {} }: DeliveryRequest,
  own: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const taken = Object.keys(env).find((name) => name in own || adapter.owns.test(name));
  if (taken === undefined) return { ...own, ...env };
  throw refusal(
    'deliver.dimension-unsupported',
    `${taken} steers ${adapter.name} itself, so a request cannot set it.`,
    {
      harness: adapter.name,
      field: 'env' satisfies Dimension,
      requirement: 'that a variable changes nothing of what was planned',
      alternative: `a request without ${taken}`,
      able: [],
    },
  );
}

// What a server needs of the caller's environment travels by name alone; the driver hands it on.
function secretNames({ mcpServers = {} }: DeliveryRequest): readonly string[] {
  return Object.values(mcpServers).flatMap((server) => {
    if ('command' in server) return server.envFrom ?? [];
    return server.keyEnv === undefined ? [] : [server.keyEnv];
  });
}

function vendorText({ bytes, firstWords }: { readonly bytes: number; readonly firstWords: string }): string {
  return `${bytes} bytes of the vendor's stay beside the text, beginning "${firstWords}"`;
}

function unmeasuredNotice(
  adapter: Adapter,
  { intent, version }: DeliveryRequest,
  cell: DeliveryPlan['cell'],
): readonly string[] {
  if (adapter.program === null) return [];
  if (cell === null) return [`Nobody measured how ${adapter.name} does ${intent} in this state.`];
  if (version !== null) return [];
  return [`The plan is for ${adapter.name} ${cell.version}; nobody looked which version is installed.`];
}
