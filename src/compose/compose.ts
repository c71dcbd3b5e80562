/** Composes an agent's text for one situation: pure, synchronous, and the same bytes on every machine. */
import { sha256 } from '../digest.ts';
import type { Composition, Decision, FactRecord, LayerId } from '../protocol/composition.ts';
import { layerIds } from '../protocol/composition.ts';
import type { Agent, Fragment } from './agent.ts';
import type { ReadFact } from './conditions.ts';
import type { DefinedFragment } from './define-fragment.ts';
import type { Fact } from './facts.ts';
import { LayerWriter } from './layer-writer.ts';
import { givenLayer, sizesOf, tokenMethod } from './layers.ts';
import { mustFitLayers, mustFitTexts } from './limits.ts';
import { trimBlank } from './outside-text.ts';
import { type PlannedFragment, profilePlan } from './profile-plan.ts';
import { factReader, isReplaced, type Situation } from './situation.ts';
import { skillIndex } from './skills.ts';
import { renderTemplate } from './template.ts';
import { withFragments } from './with-fragments.ts';

interface Choice {
  readonly fragment: Fragment;
  readonly included: boolean;
  /** True where presence or content hangs on a volatile fact. */
  readonly volatile: boolean;
}

/**
 * Composes; `extra` are fragments that a program defined, which stand at the end of the profile. Throws `compose.unknown-name` for a profile that the agent does not have, `compose.no-fallback` where a
 * template writes a fact that was made unknown although nothing ever leaves it so, `compose.impure-render`, what
 * `withFragments` throws, and `compose.layer-too-large`.
 */
export function compose(
  given: Agent,
  situation: Situation,
  extra: readonly DefinedFragment[] = [],
): Composition {
  const agent = withFragments(given, extra);
  mustFitTexts(situation.texts);
  const read = factReader(situation.facts);
  const { fragments, volatile } = profilePlan(agent, situation.profile);
  const stable: ReadFact = (name) => (volatile.has(name) ? undefined : read(name));
  const choices: Choice[] = [];
  const decisions: Decision[] = [];
  for (const planned of fragments) {
    const { fragment } = planned;
    const replaced = isReplaced(fragment, situation.texts);
    const value = fragment.when === null ? true : fragment.when.evaluate(read);
    const included = !replaced && (value ?? fragment.unknown === 'keep');
    const decision = decisionOf(fragment, included, value, situation.facts);
    decisions.push(replaced ? { ...decision, replaced } : decision);
    if (!replaced) {
      choices.push({ fragment, included, volatile: isVolatile(planned, included, stable) });
    }
  }
  const { text, layers, stablePrefixBytes } = write(agent, situation, choices, read);
  mustFitLayers(agent.limits, layers);
  return {
    agent: agent.key,
    profile: situation.profile,
    digest: sha256(text),
    ...sizesOf(text),
    tokenMethod,
    text,
    stablePrefixBytes,
    layers,
    decisions,
  };
}

function decisionOf(
  fragment: Fragment,
  included: boolean,
  value: boolean | undefined,
  facts: Situation['facts'],
): Decision {
  return {
    fragment: fragment.id,
    included,
    value: value === undefined ? 'unknown' : value ? 'true' : 'false',
    when: fragment.when?.source ?? null,
    facts: fragment.when === null ? [] : fragment.when.facts.map((name) => factRecord(name, facts.get(name))),
  };
}

function factRecord(name: string, fact: Fact | undefined): FactRecord {
  if (fact === undefined) return { name, known: false, reason: 'not in the situation', source: 'none' };
  return fact.known
    ? { name, known: true, value: fact.value, source: fact.source }
    : { name, known: false, reason: fact.reason, source: fact.source };
}

// A condition that is known while every volatile fact is left unknown does not hang on any of them: that is the law of
// conditions.
function isVolatile(planned: PlannedFragment, included: boolean, stable: ReadFact): boolean {
  if (planned.volatileWhen && planned.fragment.when?.evaluate(stable) === undefined) return true;
  return included && planned.volatileText;
}

function write(agent: Agent, situation: Situation, choices: readonly Choice[], read: ReadFact) {
  const writer = new LayerWriter();
  for (const id of layerIds) {
    switch (id) {
      case 'governance':
      case 'memory':
      case 'session':
        writer.closeStable();
        writer.write(id, given(id, agent, situation));
        break;
      case 'identity':
        writer.write(id, given(id, agent, situation));
        writeFragments(writer, id, agent.join, choices, read);
        break;
      case 'skills':
        writeFragments(writer, id, agent.join, choices, read);
        writeIndex(writer, agent, situation, read);
        break;
      default:
        writeFragments(writer, id, agent.join, choices, read);
    }
  }
  return writer.finish();
}

function given(id: Parameters<typeof givenLayer>[0], { join }: Agent, { texts }: Situation): string {
  return ended(givenLayer(id, texts), join);
}

// Whatever a layer is made of: a bare text ends without a newline.
function ended(text: string, join: Agent['join']): string {
  return join === 'bare' ? text.replace(/\n$/, '') : text;
}

function writeFragments(
  writer: LayerWriter,
  id: LayerId,
  join: Agent['join'],
  choices: readonly Choice[],
  read: ReadFact,
): void {
  const between = join === 'verbatim' ? '' : '\n\n';
  const fragments: string[] = [];
  for (const { fragment, included, volatile } of choices) {
    if (fragment.layer !== id) continue;
    if (volatile) writer.closeStable();
    if (!included) continue;
    fragments.push(fragment.id);
    writer.write(id, fragmentText(fragment, join, read), between);
  }
  if (fragments.length > 0) writer.end(id, join === 'blocks' ? '\n' : '', fragments);
}

// Without the capability a model could not read any skill. What other sources than the agent's own folder offer may be
// another set in the next session.
function writeIndex(
  writer: LayerWriter,
  { join, tools }: Agent,
  { skills = [] }: Situation,
  read: ReadFact,
): void {
  if (skills.length === 0 || read('capability.skills') === false) return;
  const tool = tools.find(({ name }) => name === 'skill_read');
  if (skills.some(({ origin }) => origin !== 'agent')) writer.closeStable();
  writer.write('skills', ended(`${skillIndex(skills, tool?.name ?? null)}\n`, join), writer.blankLine());
}

/** A fragment's own text as it stands in a composition; empty where it says nothing. */
export function fragmentText(fragment: Fragment, join: Agent['join'], read: ReadFact): string {
  const { template, render } = fragment;
  if (template === null && render === undefined)
    return join !== 'verbatim' ? fragment.trimmed : fragment.body;
  const text = template === null ? (render?.write(read) ?? '') : renderTemplate(template, read, fragment.id);
  return join !== 'verbatim' ? trimBlank(text) : text;
}
