/** Composes an agent's text for one situation: pure, synchronous, and the same bytes on every machine. */
import { sha256 } from '../digest.ts';
import type { Composition, Decision, FactRecord, Layer, LayerId } from '../protocol/composition.ts';
import { layerIds } from '../protocol/composition.ts';
import type { Agent, Fragment } from './agent.ts';
import type { ReadFact } from './conditions.ts';
import type { DefinedFragment } from './define-fragment.ts';
import type { Fact } from './facts.ts';
import { blankLineAfter, givenLayer, layerOf, sizesOf, tokenMethod } from './layers.ts';
import { mustFitLayers, mustFitTexts } from './limits.ts';
import { trimBlank } from './outside-text.ts';
import { factReader, fragmentsOf, isReplaced, type Situation } from './situation.ts';
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
  const volatile = volatileFacts(agent.facts);
  const stable: ReadFact = (name) => (volatile.has(name) ? undefined : read(name));
  const choices: Choice[] = [];
  const decisions: Decision[] = [];
  for (const fragment of fragmentsOf(agent, situation.profile)) {
    const replaced = isReplaced(fragment, situation.texts);
    const value = fragment.when === null ? true : fragment.when.evaluate(read);
    const included = !replaced && (value ?? fragment.unknown === 'keep');
    const decision = decisionOf(fragment, included, value, situation.facts);
    decisions.push(replaced ? { ...decision, replaced } : decision);
    if (!replaced) {
      choices.push({ fragment, included, volatile: isVolatile(volatile, fragment, included, stable) });
    }
  }
  const { layers, stablePrefixBytes } = layersOf(agent, situation, choices, read);
  mustFitLayers(agent.limits, layers);
  const text = textOf(layers);
  return {
    agent: agent.key,
    profile: situation.profile,
    // A text of one layer is not hashed twice.
    digest: layers.length === 1 ? (layers[0]?.digest ?? '') : sha256(text),
    ...sizesOf(text),
    tokenMethod,
    text,
    stablePrefixBytes,
    layers,
    decisions,
  };
}

function textOf(layers: readonly Layer[]): string {
  let text = '';
  for (const layer of layers) text += layer.joinBefore + layer.text;
  return text;
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

// Asked of every fragment of every composition, and the same for all compositions of an agent.
const volatileByFacts = new WeakMap<Agent['facts'], ReadonlySet<string>>();

function volatileFacts(facts: Agent['facts']): ReadonlySet<string> {
  const known = volatileByFacts.get(facts);
  if (known !== undefined) return known;
  // Whatever a fragment reads is declared by then, variables of the environment too.
  const names = new Set([...facts.values()].flatMap((fact) => (fact.volatile ? [fact.name] : [])));
  volatileByFacts.set(facts, names);
  return names;
}

// A condition that is known while every volatile fact is left unknown does not hang on any of them: that is the law of
// conditions. A template or a function is not asked that closely.
function isVolatile(
  volatile: ReadonlySet<string>,
  { when, template, render }: Fragment,
  included: boolean,
  stable: ReadFact,
): boolean {
  const hangs = (names: readonly string[]) => names.some((name) => volatile.has(name));
  if (when !== null && hangs(when.facts) && when.evaluate(stable) === undefined) return true;
  return included && (hangs(template?.facts ?? []) || hangs(render?.facts ?? []));
}

/** Collects layers; the stable prefix is closed by the first thing that may differ in another session. */
class Builder {
  readonly layers: Layer[] = [];
  stablePrefixBytes: number | undefined;
  bytes = 0;
  #tail = '';
  readonly #join: Agent['join'];

  constructor(join: Agent['join']) {
    this.#join = join;
  }

  add(id: LayerId, text: string, fragments: readonly string[]): void {
    if (text === '') return;
    // Whatever a layer is made of: behind the last one there is to be no newline, and between two stands a blank line.
    const kept = this.#join === 'bare' ? text.replace(/\n$/, '') : text;
    const layer = layerOf(id, blankLineAfter(this.#tail), kept, fragments);
    this.layers.push(layer);
    this.bytes += layer.joinBefore.length + layer.bytes;
    // Enough of the end to see a blank line, also where a layer is one newline long.
    this.#tail = (this.#tail + layer.joinBefore + layer.text.slice(-3)).slice(-3);
  }

  /** Ends the stable prefix here, `more` being the text of the layer under way that still belongs to it. */
  closeStable(more = ''): void {
    if (this.stablePrefixBytes !== undefined) return;
    const join = more === '' ? 0 : blankLineAfter(this.#tail).length;
    this.stablePrefixBytes = this.bytes + join + Buffer.byteLength(more);
  }
}

function layersOf(agent: Agent, situation: Situation, choices: readonly Choice[], read: ReadFact) {
  const builder = new Builder(agent.join);
  for (const id of layerIds) {
    switch (id) {
      case 'governance':
      case 'memory':
      case 'session':
        builder.closeStable();
        builder.add(id, givenLayer(id, situation.texts), []);
        break;
      case 'identity':
        builder.add(id, givenLayer(id, situation.texts), []);
        addFragments(builder, id, agent.join, choices, read);
        break;
      case 'skills':
        addFragments(builder, id, agent.join, choices, read, indexOf(agent, situation, read));
        break;
      default:
        addFragments(builder, id, agent.join, choices, read);
    }
  }
  return { layers: builder.layers, stablePrefixBytes: builder.stablePrefixBytes ?? builder.bytes };
}

function addFragments(
  builder: Builder,
  id: LayerId,
  join: Agent['join'],
  choices: readonly Choice[],
  read: ReadFact,
  index: SkillIndex = noIndex,
): void {
  const between = join !== 'verbatim' ? '\n\n' : '';
  const parts: string[] = [];
  const fragments: string[] = [];
  for (const { fragment, included, volatile } of choices) {
    if (fragment.layer !== id) continue;
    if (volatile) builder.closeStable(parts.join(between));
    if (!included) continue;
    fragments.push(fragment.id);
    const part = fragmentText(fragment, join, read);
    if (part !== '') parts.push(part);
  }
  const joined = parts.join(between);
  const text = join === 'blocks' && joined !== '' ? `${joined}\n` : joined;
  if (!index.stable) builder.closeStable(text);
  builder.add(id, index.text === '' ? text : `${text}${blankLineAfter(text)}${index.text}\n`, fragments);
}

interface SkillIndex {
  readonly text: string;
  readonly stable: boolean;
}

const noIndex: SkillIndex = { text: '', stable: true };

// Without the capability a model could not read any of them. What other sources than the agent's own folder offer may be
// another set in the next session.
function indexOf(agent: Agent, { skills = [] }: Situation, read: ReadFact): SkillIndex {
  if (skills.length === 0 || read('capability.skills') === false) return noIndex;
  const tool = agent.tools.find(({ name }) => name === 'skill_read');
  return {
    text: skillIndex(skills, tool?.name ?? null),
    stable: skills.every(({ origin }) => origin === 'agent'),
  };
}

/** A fragment's own text as it stands in a composition; empty where it says nothing. */
export function fragmentText(fragment: Fragment, join: Agent['join'], read: ReadFact): string {
  const { template, render } = fragment;
  if (template === null && render === undefined)
    return join !== 'verbatim' ? fragment.trimmed : fragment.body;
  const text = template === null ? (render?.write(read) ?? '') : renderTemplate(template, read, fragment.id);
  return join !== 'verbatim' ? trimBlank(text) : text;
}
