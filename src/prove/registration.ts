/** The registration: everything that was said before the first trial, frozen under one digest. */
import { type Digest, jsonDigest, sha256 } from '../digest.ts';
import type { FactRecord } from '../protocol/composition.ts';
import type { Json } from '../protocol/json.ts';
import type { Arm, ArmHarness } from './arm.ts';
import { type Assume, type Design, designOf } from './design.ts';
import { ProveError } from './errors.ts';
import type { Experiment } from './experiment.ts';
import { treeDigest, workspaceDigests } from './fixture.ts';
import type { GraderFile, MetricFile } from './form.ts';
import type { Grader } from './grade/grader.ts';
import { mustBeOutOfReach } from './grade/reach.ts';
import { betterOf, type MetricRecord, nameOf, valuesOf } from './metric.ts';
import { StatisticsError } from './statistics/errors.ts';
import type { Side } from './statistics/trials.ts';
import type { Build } from './surroundings.ts';

/** One arm as it was resolved: the artifact that each of its trials is held against. */
export interface ArmRecord {
  readonly label: string;
  readonly agent: string;
  /** From the folder of experiment.yaml. */
  readonly folder: string;
  /** Over all files of the agent folder. */
  readonly folderDigest: Digest;
  readonly profile: string;
  readonly model: string;
  /** The agent program that runs it; left out for our own harness. */
  readonly harness?: ArmHarness;
  readonly capabilities: readonly string[];
  /** SHA-256 of the composed text. */
  readonly prompt: Digest;
  readonly bytes: number;
  readonly tokens: number;
  readonly facts: readonly FactRecord[];
  readonly overrides: Readonly<Record<string, 'in' | 'out'>>;
  /** Fragments of the profile by id: the digest of the body where it is in, null where it is out. */
  readonly fragments: Readonly<Record<string, Digest | null>>;
}

export interface ItemRecord {
  readonly id: string;
  readonly task: string;
  readonly expect: Json;
  readonly groups: Readonly<Record<string, string>>;
  readonly workspace: Digest;
}

export interface Registration {
  readonly format: 'writ-registration/1';
  readonly question: string;
  readonly arms: { readonly control: ArmRecord; readonly treatment: ArmRecord };
  readonly cell: string;
  readonly scope: readonly string[];
  readonly items: readonly ItemRecord[];
  readonly repeats: number;
  readonly blocking: 'item';
  readonly seed: number | string;
  readonly modelSeen: string | null;
  readonly fingerprintSeen: string | null;
  readonly server: Readonly<Record<string, Json>>;
  readonly budget: Readonly<Record<string, number>> | null;
  /** Milliseconds after which a trial counts as not finished; null without such a limit. */
  readonly horizonMs: number | null;
  readonly alpha: number;
  readonly resamples: number;
  readonly primary: MetricRecord | null;
  readonly secondary: readonly MetricRecord[];
  readonly manipulation: {
    readonly calls: string;
    readonly zeroIn: Side;
    readonly shareLeast: number | null;
  } | null;
  readonly stopping: 'all-trials';
  readonly errors: { readonly outage: readonly string[]; readonly limit: number };
  readonly grader: { readonly kind: string; readonly options: Json; readonly digest: Digest };
  /** What calls that need a person are answered. */
  readonly approvals: 'deny' | 'grant';
  /** Digests alone: a canary that stood here would itself be found. */
  readonly canaries: readonly Digest[];
  readonly notVerified: readonly string[];
  /** What the power is computed for; null where the experiment says nothing of it. */
  readonly assume: Assume | null;
  readonly build: Build;
  /** What the design can find at all. */
  readonly design: Design;
}

/**
 * What is nobody's answer unless the experiment says otherwise: the provider, the network, a sandbox that is not there.
 * A spent budget, an empty or cut-off answer, a request that grew too large and a refused call are the agent's own.
 */
const usualOutages = [
  ...['unreachable', 'tls', 'connection-lost', 'no-answer', 'stalled', 'cut', 'unauthorized', 'no-credit'],
  ...['forbidden', 'not-found', 'rate-limited', 'server-error', 'redirected', 'not-an-api', 'provider-error'],
  'bad-response',
]
  .map((what) => `model.${what}`)
  .concat('wire.bad-response', 'native.retry-too-late')
  .concat('sandbox.unavailable', 'sandbox.no-supervisor', 'sandbox.lost-sight')
  .concat('mcp.start-failed', 'mcp.start-timeout', 'tool.no-child')
  .concat('deliver.not-started')
  .concat('run.harness-fault', 'run.lease-lost', 'run.record-damaged', 'fault');

/** The share of lost pairs above which nothing is said, unless the experiment says otherwise. */
const usualLimit = 0.1;

const usualResamples = 20_000;

/** A value as its JSON says it: what is undefined is left out, so that it has one canonical form. */
export function plain<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

/** The digest under which a registration is frozen. */
export function registrationDigest(registration: Registration): Digest {
  return jsonDigest(registration);
}

/**
 * Resolves an experiment into what is registered. Throws `prove.same-arms`, `prove.arm-varies`, `prove.outside-cell`,
 * `prove.unreachable-alpha`, `prove.grader-in-reach`, `prove.bad-fixture`, and the grader's errors about items.
 */
export async function registrationOf(
  experiment: Experiment,
  arms: { readonly control: Arm; readonly treatment: Arm },
  grader: Grader,
  build: Build,
): Promise<Registration> {
  const { written, items } = experiment;
  for (const item of items) {
    const wrong = grader.wants(item.expect);
    if (wrong !== null)
      throw experiment.itemError(item.id, 'expect', `the item '${item.id}' ${wrong}`, 'Correct it.');
  }
  await mustBeOutOfReach(grader, items, arms);
  const alpha = written.alpha ?? 0.05;
  const { repeats, seed, resamples = usualResamples } = written;
  const digestOf = workspaceDigests();
  const registered: Omit<Registration, 'design'> = {
    format: 'writ-registration/1',
    question: written.question,
    arms: {
      control: await armRecord(experiment, arms.control),
      treatment: await armRecord(experiment, arms.treatment),
    },
    cell: written.cell,
    scope: written.scope ?? [],
    items: await Promise.all(
      items.map(async ({ workspace, ...item }) => ({ ...item, workspace: await digestOf(workspace) })),
    ),
    repeats,
    blocking: written.blocking,
    seed,
    modelSeen: written.modelSeen ?? null,
    fingerprintSeen: written.fingerprintSeen ?? null,
    server: {
      ...written.server,
      ...(written.price === undefined ? {} : { price: written.price }),
    } as Registration['server'],
    budget: written.budget === undefined ? null : (written.budget as Record<string, number>),
    horizonMs: horizonOf(
      written.budget ? [written.budget] : [arms.control.agent.budget, arms.treatment.agent.budget],
    ),
    alpha,
    resamples,
    primary:
      written.primary === undefined
        ? null
        : metricRecord(written.primary, grader, written.primary.question ?? 'difference'),
    secondary: (written.secondary ?? []).map((metric) => metricRecord(metric, grader, 'difference')),
    manipulation:
      written.manipulation === undefined
        ? null
        : { ...written.manipulation, shareLeast: written.manipulation.shareLeast ?? null },
    stopping: written.stopping,
    errors: { outage: written.errors?.outage ?? usualOutages, limit: written.errors?.limit ?? usualLimit },
    grader: { kind: grader.kind, options: graderOptions(written.grader), digest: grader.digest },
    approvals: written.approvals ?? 'deny',
    canaries: (written.canaries ?? []).map((canary) => sha256(canary)),
    notVerified: written.notVerified ?? [],
    assume: written.assume === undefined ? null : plain(written.assume as Assume),
    build,
  };
  mustDiffer(registered);
  mustSuit(experiment, registered.primary);
  const design = designIn(experiment, registered);
  if (design.smallestP > alpha) throw unreachable(design, alpha);
  return plain({ ...registered, design });
}

// Beyond the shorter of two limits nobody knows how long that arm's trials would have taken.
function horizonOf(budgets: readonly { readonly wallTimeMs?: number | undefined }[]): number | null {
  const limits = budgets.flatMap(({ wallTimeMs }) => wallTimeMs ?? []);
  return limits.length === 0 ? null : Math.min(...limits);
}

function graderOptions({ kind: _kind, ...options }: GraderFile): Json {
  return options as unknown as Json;
}

function metricRecord(
  { metric, per, estimand, better, margin }: MetricFile,
  { kind }: Grader,
  question: MetricRecord['question'],
): MetricRecord {
  return {
    metric,
    per: per ?? null,
    values: valuesOf(metric, per ?? null, kind),
    estimand:
      estimand === undefined || estimand === 'micro'
        ? { kind: 'micro' }
        : { kind: 'macro', by: estimand.macro },
    better: better ?? betterOf(metric),
    margin: margin ?? null,
    question,
  };
}

async function armRecord(experiment: Experiment, arm: Arm): Promise<ArmRecord> {
  const { written, items } = experiment;
  const own = written.arms[arm.side];
  const workspaces = new Map(items.map((item) => [item.workspace, item.id]));
  const composed = await Promise.all(
    [...workspaces].map(async ([workspace, item]) => ({ item, ...(await arm.compose(workspace)) })),
  );
  const [first, ...others] = composed;
  if (first === undefined) throw new Error('an experiment has items');
  const other = others.find(({ composition }) => composition.digest !== first.composition.digest);
  if (other !== undefined) {
    throw new ProveError(
      'prove.arm-varies',
      `The arm '${arm.side}' should be one text; it is ${first.composition.digest.slice(0, 12)} for '${first.item}' and ${other.composition.digest.slice(0, 12)} for '${other.item}'.`,
      { next: 'Set the facts that differ in the arm, or take workspaces that agree in them.' },
    );
  }
  if (arm.model === null) {
    throw experiment.map.error(
      experiment.map.valueOffset(['arms', arm.side]),
      `the arm '${arm.side}' has no model`,
      'Write model: provider/name into the experiment.',
    );
  }
  const { composition, facts } = first;
  const included = new Set(composition.layers.flatMap((layer) => layer.fragments));
  const ids = new Set([...(arm.agent.profiles.get(arm.profile) ?? []), ...Object.keys(own.fragments ?? {})]);
  return {
    label: own.label ?? arm.side,
    agent: arm.agent.key,
    folder: own.agent,
    folderDigest: await treeDigest(arm.agent.folder, 'count'),
    profile: arm.profile,
    model: arm.model,
    ...(arm.harness === undefined ? {} : { harness: arm.harness }),
    capabilities: arm.agent.capabilities,
    prompt: composition.digest,
    bytes: composition.bytes,
    tokens: composition.tokens,
    facts,
    overrides: own.fragments ?? {},
    fragments: Object.fromEntries(
      [...ids].map((id) => [id, included.has(id) ? sha256(arm.agent.fragments.get(id)?.body ?? '') : null]),
    ),
  };
}

function mustDiffer({ arms }: Pick<Registration, 'arms'>): void {
  const what = ({ prompt, model, capabilities, folderDigest, harness }: ArmRecord) =>
    jsonDigest([prompt, model, capabilities, folderDigest, harness ?? null]);
  if (what(arms.control) !== what(arms.treatment)) return;
  throw new ProveError(
    'prove.same-arms',
    'Expected arms that differ, found the same text, model, tools and harness in both.',
    {
      next: 'Change one arm: a fragment, a fact, a profile, a model or the agent folder.',
      details: { prompt: arms.control.prompt },
    },
  );
}

function unreachable({ smallestP: least, trials }: Design, alpha: number): ProveError {
  return new ProveError(
    'prove.unreachable-alpha',
    `With ${trials} trials the smallest p is ${least}, above alpha ${alpha}: no outcome could count.`,
    {
      next: 'Add items; repeats alone do not help, because an item is one block.',
      details: { smallestP: least },
    },
  );
}

// What no outcomes can have is a slip of the file.
function designIn({ map }: Experiment, registered: Omit<Registration, 'design'>): Design {
  try {
    return designOf(registered);
  } catch (thrown) {
    if (!(thrown instanceof StatisticsError) || thrown.code !== 'statistics.bad-option') throw thrown;
    throw map.error(
      map.valueOffset(['assume']),
      thrown.message.replace(/\.$/, ''),
      'Assume what the outcomes can have.',
    );
  }
}

// A number that nothing is computed from would be read as one that something is.
function mustSuit({ map, written: { assume } }: Experiment, primary: MetricRecord | null): void {
  if (assume === undefined) return;
  const wrong =
    primary === null || primary.values === 'ratio'
      ? Object.keys(assume)[0]
      : (['rate', 'noise'] as const).find(
          (name) => assume[name] !== undefined && (name === 'rate') !== (primary.values === 'binary'),
        );
  if (wrong === undefined) return;
  const what =
    primary === null ? 'an experiment without a primary metric' : `the ${primary.values} ${nameOf(primary)}`;
  throw map.error(
    map.valueOffset(['assume', wrong]),
    `no ${wrong} can be assumed of ${what}`,
    'Of passes say rate, deviation and effect, of a quantity deviation, noise and effect, of all else nothing.',
  );
}

/** In which of these parts the arms differ. */
export function armsDifferIn<Part extends keyof ArmRecord>(
  { control, treatment }: Registration['arms'],
  parts: readonly Part[],
): readonly Part[] {
  return parts.filter((part) => jsonDigest(control[part] ?? null) !== jsonDigest(treatment[part] ?? null));
}

/** The paths at which two registrations differ, `items.q7.task` for instance; at most so many that a person reads them. */
export function differences(before: unknown, after: unknown, path = ''): string[] {
  // What is not there is not what is null.
  const same = (before === undefined) === (after === undefined);
  if (same && jsonDigest(before ?? null) === jsonDigest(after ?? null)) return [];
  if (!isObject(before) || !isObject(after)) return [path];
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return keys.flatMap((key) => differences(before[key], after[key], path === '' ? key : `${path}.${key}`));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
