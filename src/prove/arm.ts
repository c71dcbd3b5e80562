/** One arm: an agent in a situation, with fragments put in or taken out, composed without anything of the operator's own. */
import { resolve } from 'node:path';
import { type Agent, type Fragment, factTypesOf } from '../compose/agent.ts';
import { compose } from '../compose/compose.ts';
import { type Condition, conditionCompiler } from '../compose/conditions.ts';
import { defineFragment } from '../compose/define-fragment.ts';
import type { Fact, FactValue, Probe, StatedFacts } from '../compose/facts.ts';
import { loadAgent, type Vocabulary } from '../compose/load/agent.ts';
import { situationValues } from '../compose/load/names.ts';
import { namingMend } from '../compose/nearest.ts';
import { settle } from '../compose/settle.ts';
import { factReader, fragmentsOf } from '../compose/situation.ts';
import { withFragments } from '../compose/with-fragments.ts';
import type { Composition, FactRecord } from '../protocol/composition.ts';
import type { Fidelity, Intent } from '../protocol/intent.ts';
import { ProveError } from './errors.ts';
import type { Experiment } from './experiment.ts';
import type { Side } from './statistics/trials.ts';

/** What composing needs that this folder does not have. */
export interface ArmParts {
  readonly vocabulary: Vocabulary;
  readonly probes: readonly Probe[];
  /** Looks at the agent program that an arm names. Throws where there is none, or it cannot be a subject. */
  readonly harness?: (asked: AskedHarness) => ArmHarness;
}

/** What an arm says of an agent program, over what its agent says. */
export interface AskedHarness {
  readonly name: string;
  readonly intent: Intent;
  readonly fidelity: Fidelity;
  /** As `provider/name`. */
  readonly model: string | null;
}

/** The agent program of an arm; `model` is the model as the program names it, null for its own choice. */
export interface ArmHarness extends AskedHarness {}

export interface Arm {
  readonly side: Side;
  /** With the overrides of the arm, and the capabilities that it holds. */
  readonly agent: Agent;
  readonly profile: string;
  /** As `provider/name`; null where neither the experiment nor the agent says it. */
  readonly model: string | null;
  /** Left out where our own harness runs it. */
  readonly harness?: ArmHarness;
  /** Composes for a workspace. Throws `prove.outside-cell` where the situation there is not known to lie in the cell. */
  compose(workspace: string | null): Promise<ComposedArm>;
}

export interface ComposedArm {
  readonly composition: Composition;
  readonly facts: readonly FactRecord[];
}

/** Reads an arm. Throws ComposeErrors, those of experiment.yaml with their place. */
export async function openArm(experiment: Experiment, side: Side, parts: ArmParts): Promise<Arm> {
  const { map, folder, written } = experiment;
  const own = written.arms[side];
  const loaded = await loadAgent(resolve(folder, own.agent), parts.vocabulary);
  const profile = own.profile ?? 'default';
  fragmentsOf(loaded, profile);
  const agent = overridden(experiment, side, {
    ...loaded,
    capabilities: capabilitiesOf(experiment, side, loaded),
  });
  const stated = statedFacts(experiment, side, agent);
  const compile = conditionCompiler(factTypesOf(agent));
  const cell = map.source.within(
    'compose.condition',
    (offset) => map.textOffset(['cell'], offset),
    () => compile(written.cell),
  );
  return {
    side,
    agent,
    profile,
    model: own.model ?? written.model ?? agent.model,
    ...harnessOf(experiment, side, agent, parts),
    compose: (workspace) =>
      composeIn(workspace, { side, agent, profile, stated, cell, probes: parts.probes }),
  };
}

function harnessOf(
  { map, written }: Experiment,
  side: Side,
  agent: Agent,
  parts: ArmParts,
): { readonly harness?: ArmHarness } {
  const own = written.arms[side];
  const wish = (['intent', 'fidelity'] as const).find((name) => own[name] !== undefined);
  if (own.harness === undefined || own.harness === 'native') {
    if (wish === undefined) return {};
    throw map.error(
      map.valueOffset(['arms', side, wish]),
      `${wish} is for an agent program, and the arm '${side}' names none`,
      'Name one with harness, or take it out.',
    );
  }
  if (parts.harness === undefined)
    throw map.error(
      map.valueOffset(['arms', side, 'harness']),
      `nothing here can open the harness '${own.harness}'`,
      'Run the experiment with writ experiment.',
    );
  const intent = own.intent ?? agent.deliver.intent ?? 'append';
  const fidelity = own.fidelity ?? agent.deliver.fidelity ?? 'base';
  const model = own.model ?? written.model ?? agent.model;
  return { harness: parts.harness({ name: own.harness, intent, fidelity, model }) };
}

interface Settling {
  readonly side: Side;
  readonly agent: Agent;
  readonly profile: string;
  readonly stated: StatedFacts;
  readonly cell: Condition;
  readonly probes: readonly Probe[];
}

// Facts are looked up while something hangs on them. A fragment that is put in hangs on none any more, and the cell must be
// decided all the same: it is asked as a fragment of its own, which is never composed.
async function composeIn(workspace: string | null, settling: Settling): Promise<ComposedArm> {
  const { side, agent, profile, stated, cell, probes } = settling;
  const asking = withFragments(agent, [
    defineFragment({ id: cellFragment, when: cell.source, render: 'The cell.' }),
  ]);
  const situation = await settle(
    asking,
    { profile, situation: stated, ...(workspace === null ? {} : { workspace }), env: {} },
    probes,
  );
  const composition = compose(agent, situation);
  const facts = [...situation.facts].map(([name, fact]) => factRecord(name, fact));
  if (cell.evaluate(factReader(situation.facts)) !== true) throw outsideCell(side, cell, facts);
  return { composition, facts };
}

const cellFragment = 'writ.experiment-cell';

function factRecord(name: string, fact: Fact): FactRecord {
  return fact.known
    ? { name, known: true, value: fact.value, source: fact.source }
    : { name, known: false, reason: fact.reason, source: fact.source };
}

function outsideCell(side: Side, cell: Condition, facts: readonly FactRecord[]): ProveError {
  const read = facts.filter(({ name }) => cell.facts.includes(name));
  const found = read.map(
    (fact) => `${fact.name} ${fact.known ? `= ${JSON.stringify(fact.value)}` : 'unknown'}`,
  );
  return new ProveError(
    'prove.outside-cell',
    `The arm '${side}' should be known to lie in the cell ${cell.source}, found ${found.join(', ') || 'none of its facts'}.`,
    { next: 'Correct the cell, or the facts of the arm.', details: { arm: side, facts: read } },
  );
}

function overridden(experiment: Experiment, side: Side, agent: Agent): Agent {
  const own = experiment.written.arms[side];
  const fragments = new Map(agent.fragments);
  const profile = own.profile ?? 'default';
  const ids = agent.profiles.get(profile) ?? [];
  const out = new Set<string>();
  for (const [id, presence] of Object.entries(own.fragments ?? {})) {
    const fragment: Fragment | undefined = ids.includes(id) ? fragments.get(id) : undefined;
    if (fragment === undefined) {
      throw experiment.map.source.error(
        'compose.unknown-name',
        experiment.map.keyOffset(['arms', side, 'fragments', id]),
        `the profile '${profile}' has no fragment '${id}'`,
        namingMend(id, ids),
      );
    }
    if (presence === 'out') out.add(id);
    else fragments.set(id, { ...fragment, when: null });
  }
  const profiles = new Map(agent.profiles);
  profiles.set(
    profile,
    ids.filter((id) => !out.has(id)),
  );
  return { ...agent, fragments, profiles };
}

function capabilitiesOf(experiment: Experiment, side: Side, agent: Agent): readonly string[] {
  const held = new Set(agent.capabilities);
  for (const [name, on] of Object.entries(experiment.written.arms[side].capabilities ?? {})) {
    if (!agent.knownCapabilities.includes(name)) {
      throw experiment.map.source.error(
        'compose.unknown-name',
        experiment.map.keyOffset(['arms', side, 'capabilities', name]),
        `there is no capability '${name}'`,
        namingMend(name, agent.knownCapabilities),
      );
    }
    if (on) held.add(name);
    else held.delete(name);
  }
  return [...held].sort();
}

function statedFacts({ map, written }: Experiment, side: Side, agent: Agent): StatedFacts {
  const own = written.arms[side];
  const base = own.situation === undefined ? new Map() : agent.situations.get(own.situation);
  if (base === undefined) {
    throw map.source.error(
      'compose.unknown-name',
      map.valueOffset(['arms', side, 'situation']),
      `the agent has no situation '${own.situation}'`,
      namingMend(own.situation ?? '', agent.situations.keys()),
    );
  }
  const given = situationValues(map, ['arms', side, 'facts'], own.facts ?? {}, agent.facts);
  return new Map<string, FactValue | undefined>([...base, ...given]);
}
