/** Builds the harness of an agent program that a session's origin describes, and finds the secrets that it is given. */
import { allAdapters } from '../../catalog.ts';
import type { Adapter } from '../../deliver/adapter.ts';
import { cellVersion } from '../../deliver/agent-version.ts';
import type { OutsideOptions } from '../../deliver/drive/options.ts';
import type { MeterOptions } from '../../deliver/meter/meter.ts';
import { adapterOf } from '../../deliver/plan-delivery.ts';
import type { RequestedDimensions } from '../../deliver/request.ts';
import type { Harness } from '../../harness.ts';
import type { Secret } from '../../ledger/secrets.ts';
import type { Lowered } from '../../run/guarantees.ts';
import type { Context } from '../context.ts';
import type { OutsideOrigin } from './origin.ts';
import type { HarnessParts } from './parts.ts';

/** What the caller of one run asks for beside its origin. */
interface OpenFlags extends Pick<MeterOptions, 'keepBodies'>, Pick<OutsideOptions, 'userHome'> {
  /** Measure the state that the run will be in, keep that, and rest on nothing else. */
  readonly verify?: boolean;
}

/**
 * Nothing is started by it but, once for each installed version, the program's own question for its version, and what a
 * measurement starts. `check` sees the harness before even that.
 */
export async function openOutside(
  context: Context,
  origin: OutsideOrigin,
  check: (harness: Harness, lowered: Lowered) => void = () => {},
  { verify = false, userHome, ...kept }: OpenFlags = {},
): Promise<HarnessParts> {
  const { env } = context;
  const [adapters, { outside }, { homesFolder }, cells] = await Promise.all([
    allAdapters(),
    import('../../deliver/drive/outside.ts'),
    import('../../deliver/drive/home.ts'),
    import('../../deliver/verify/measured-cells.ts'),
  ]);
  const { harness: name, program, intent, fidelity, unmeasured, baseUrl = null } = origin.outside;
  const adapter = adapterOf(name, { intent }, { adapters });
  const dimensions = origin.outside.dimensions as RequestedDimensions;
  const lowered = loweredOf(origin.outside.lowered);
  const options = {
    ...{ adapter, adapters, program, intent, fidelity, unmeasured, dimensions, baseUrl, env },
    ...(await meterOf(origin.outside, kept)),
    ...(userHome === undefined ? {} : { userHome }),
    workspace: origin.workspace,
    homes: homesFolder(env),
    measured: await cells.readMeasuredCells(cells.measuredCellsPath(env)),
  };
  check(outside({ ...options, version: null }), lowered);
  const known = verify
    ? await (await import('./verify-before.ts')).verifyBefore(context, { ...options, version: null })
    : { version: await askVersion(context, options), notices: [] };
  return {
    harness: outside({ ...options, ...known }),
    lowered,
    secrets: secretsOf(context, adapter, dimensions),
    notices: known.notices ?? [],
    close: async () => {},
  };
}

async function askVersion(
  context: Context,
  { adapter, program, env, dimensions }: Pick<OutsideOptions, 'adapter' | 'program' | 'env' | 'dimensions'>,
): Promise<string | null> {
  const { installedVersion } = await import('../../deliver/drive/installed-version.ts');
  const installed = await installedVersion(adapter, { program, env, signal: context.interrupts() });
  return cellVersion(adapter, dimensions?.agent, installed);
}

async function meterOf(
  { metered, baseUrl, prices }: OutsideOrigin['outside'],
  kept: Pick<MeterOptions, 'keepBodies'>,
): Promise<{ readonly meter?: MeterOptions }> {
  if (metered !== true) return {};
  const upstream = baseUrl ?? '';
  if (prices === undefined) return { meter: { upstream, ...kept } };
  const { tariffOf } = await import('./tariff.ts');
  return { meter: { upstream, ...kept, tariff: tariffOf(prices) } };
}

// Read from a record, where a member may be there without a value.
function loweredOf(lowered: OutsideOrigin['outside']['lowered']): Lowered {
  return Object.fromEntries(Object.entries(lowered).filter(([, level]) => level !== undefined));
}

/** Values that a program gets by name: keys of its vendor, and those of its servers. */
function secretsOf(
  { env }: Context,
  { keyVariables }: Adapter,
  { mcpServers = {} }: RequestedDimensions,
): readonly Secret[] {
  const named = Object.values(mcpServers).flatMap((server) =>
    'command' in server ? (server.envFrom ?? []) : [server.keyEnv ?? []].flat(),
  );
  return [...new Set([...keyVariables, ...named])].flatMap((name) => {
    const value = env[name];
    return value === undefined || value === '' ? [] : [{ name, value }];
  });
}
