/** Settles a situation: what is given, what is built in, and what probes find out only where something hangs on it. */
import { messageOf } from '../errors.ts';
import { type Agent, declarationOf, type Fragment } from './agent.ts';
import type { Condition, ReadFact } from './conditions.ts';
import { ComposeError } from './errors.ts';
import {
  capabilityFact,
  type Environment,
  type Fact,
  type FactDeclaration,
  type FactValue,
  factTypeWords,
  isFactValue,
  type Probe,
  type ProbeContext,
  parseFactText,
  type StatedFacts,
} from './facts.ts';
import { unknownName } from './nearest.ts';
import { readGit } from './probes/git.ts';
import { factReader, fragmentsOf, isReplaced, type SessionTexts, type Situation } from './situation.ts';
import { chooseSkills, type Skill } from './skills.ts';
import { branchOf, type Piece } from './template.ts';

/** What is given for a session, as far as it is known before anything is looked up. */
export interface SituationInput {
  /** `default` where it is left out. */
  readonly profile?: string | undefined;
  /** A situation of agent.yaml by name, or the values that `loadSituation` read from a file. */
  readonly situation?: string | StatedFacts | undefined;
  /** Facts as text, as `--fact name=text` gives them. They beat the situation's. */
  readonly facts?: Readonly<Record<string, string>> | undefined;
  /** Names of facts that are to be unknown, whatever else is given. */
  readonly unknown?: readonly string[] | undefined;
  readonly mode?: 'headless' | 'interactive' | undefined;
  /** True where the caller changed a text of the agent: `text.stock` is then false. */
  readonly customised?: boolean | undefined;
  /** The workspace folder; left out, the session has none, and nothing is looked up on the disk. */
  readonly workspace?: string | undefined;
  /** The environment variables that conditions may read; none where it is left out. */
  readonly env?: Environment | undefined;
  readonly texts?: SessionTexts | undefined;
  /** Skills of other sources than the agent's folder. */
  readonly skills?: readonly Skill[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Settles a session's facts. A probe runs only while some condition or template of the profile is undecided without it,
 * one at a time, in the order in which the facts stand there; its answer is kept in the situation. Throws a
 * ComposeError for names and values that cannot be, and the signal's reason after an abort.
 */
export async function settle(
  agent: Agent,
  input: SituationInput,
  probes: readonly Probe[],
): Promise<Situation> {
  const profile = input.profile ?? 'default';
  const fragments = fragmentsOf(agent, profile);
  checkTexts(input.texts ?? {});
  const skills = chooseSkills(agent.skills, [...agent.ownSkills, ...(input.skills ?? [])]);
  const given = givenFacts(agent, input);
  const facts = new Map<string, Fact>();
  const pending = new Map<string, FactDeclaration>();
  for (const name of new Set([...agent.facts.keys(), ...given.keys()])) {
    const declaration = declarationOf(agent, name);
    if (declaration === undefined) continue;
    const fact = given.get(name) ?? plainFact(agent, declaration, input);
    if (fact !== undefined) facts.set(name, fact);
    else pending.set(name, declaration);
  }
  const lookUp = new LookUp(facts, pending, probes, {
    workspace: input.workspace ?? null,
    env: input.env ?? {},
    signal: input.signal,
  });
  for (const fragment of fragments)
    if (!isReplaced(fragment, input.texts ?? {})) await lookUp.fragment(fragment);
  for (const [name, declaration] of pending) {
    facts.set(name, {
      known: false,
      reason: 'not looked up: nothing depends on it',
      source: sourceOf(declaration),
    });
  }
  return {
    profile,
    facts: new Map([...facts].sort(([a], [b]) => (a < b ? -1 : 1))),
    texts: input.texts ?? {},
    ...(skills.length === 0 ? {} : { skills }),
  };
}

function checkTexts(texts: SessionTexts): void {
  for (const [name, text] of Object.entries(texts)) {
    // Half a character has no UTF-8 bytes: text and bytes would differ.
    if (typeof text === 'string' && /\p{Surrogate}/u.test(text)) {
      throw new ComposeError(
        'compose.bad-text',
        `The ${name} text should be well-formed Unicode and holds half a character.`,
        {
          next: 'Give the text as valid UTF-8.',
          details: { text: name },
        },
      );
    }
  }
}

// What flags and the named situation say, the later beating the earlier.
function givenFacts(agent: Agent, input: SituationInput): Map<string, Fact> {
  const given = new Map<string, Fact>();
  const { values, source } = situationOf(agent, input.situation);
  for (const [name, value] of values)
    given.set(
      name,
      value === undefined
        ? { known: false, reason: 'the situation leaves it unknown', source }
        : { known: true, value, source },
    );
  for (const [name, text] of Object.entries(input.facts ?? {})) {
    given.set(name, { known: true, value: flagValue(settable(agent, name), text), source: 'flag' });
  }
  for (const name of input.unknown ?? []) {
    settable(agent, name);
    if (input.facts !== undefined && Object.hasOwn(input.facts, name)) {
      throw new ComposeError('compose.fact-value', `The fact '${name}' is both given and made unknown.`, {
        next: 'Take one of the two flags away.',
        details: { fact: name },
      });
    }
    given.set(name, { known: false, reason: 'made unknown by the caller', source: 'flag' });
  }
  return given;
}

function situationOf(agent: Agent, wanted: SituationInput['situation']) {
  if (wanted === undefined) return { values: new Map() as StatedFacts, source: '' };
  if (typeof wanted !== 'string') return { values: wanted, source: 'situation file' };
  const values = agent.situations.get(wanted);
  if (values === undefined) throw unknownName('situation', wanted, agent.situations.keys());
  return { values, source: `situation ${wanted}` };
}

function settable(agent: Agent, name: string): FactDeclaration {
  const declaration = declarationOf(agent, name);
  if (declaration === undefined) throw unknownName('fact', name, agent.facts.keys());
  if (name !== 'agent.key') return declaration;
  throw new ComposeError('compose.fact-value', "The fact 'agent.key' is the agent's own and cannot be set.", {
    next: 'Change the key in agent.yaml.',
    details: { fact: name },
  });
}

function flagValue(declaration: FactDeclaration, text: string): FactValue {
  const value = parseFactText(declaration.type, text);
  const isMode = declaration.name === 'mode';
  if (value !== undefined && !(isMode && value !== 'headless' && value !== 'interactive')) return value;
  throw new ComposeError(
    'compose.fact-value',
    `The fact '${declaration.name}' should be ${isMode ? 'headless or interactive' : factTypeWords[declaration.type]}, found ${JSON.stringify(text)}.`,
    { next: 'Give a value of that form.', details: { fact: declaration.name, type: declaration.type } },
  );
}

/** What needs no looking up; undefined for a fact that a probe or git may answer. */
function plainFact(agent: Agent, declaration: FactDeclaration, input: SituationInput): Fact | undefined {
  const { name } = declaration;
  if (name.startsWith('env.')) return environmentValue(input.env ?? {}, name.slice('env.'.length));
  if (!declaration.builtIn) return declaredValue(declaration);
  if (name.startsWith('git.')) return undefined;
  return { known: true, value: builtInValue(agent, name, input), source: 'built-in' };
}

function builtInValue(agent: Agent, name: string, input: SituationInput): FactValue {
  if (name === 'mode') return input.mode ?? 'headless';
  if (name === 'agent.key') return agent.key;
  if (name === 'text.stock') return input.customised !== true;
  if (name === 'resource.workspace') return input.workspace !== undefined;
  return agent.capabilities.some((capability) => capabilityFact(capability) === name);
}

function environmentValue(env: Environment, variable: string): Fact {
  const value = Object.hasOwn(env, variable) ? env[variable] : undefined;
  return value === undefined
    ? { known: true, value: null, source: 'environment (unset)' }
    : { known: true, value, source: 'environment' };
}

function declaredValue(declaration: FactDeclaration): Fact | undefined {
  if (declaration.probe !== null) return undefined;
  if (declaration.default !== null) return { known: true, value: declaration.default, source: 'default' };
  return { known: false, reason: 'nothing gave it a value', source: 'agent.yaml' };
}

function sourceOf(declaration: FactDeclaration): string {
  return declaration.probe === null ? 'git' : `probe ${declaration.probe}`;
}

/** Looks pending facts up one by one, and only those that still decide something. */
class LookUp {
  readonly #facts: Map<string, Fact>;
  readonly #pending: Map<string, FactDeclaration>;
  readonly #probes: readonly Probe[];
  readonly #context: ProbeContext;
  readonly #read: ReadFact;

  constructor(
    facts: Map<string, Fact>,
    pending: Map<string, FactDeclaration>,
    probes: readonly Probe[],
    context: ProbeContext,
  ) {
    this.#facts = facts;
    this.#pending = pending;
    this.#probes = probes;
    this.#context = context;
    this.#read = factReader(facts);
  }

  async fragment(fragment: Fragment): Promise<void> {
    if (fragment.when !== null) await this.#decide(fragment.when);
    const value = fragment.when === null ? true : fragment.when.evaluate(this.#read);
    const included = value ?? fragment.unknown === 'keep';
    if (included && fragment.template !== null) await this.#pieces(fragment.template.pieces);
    if (included) for (const name of fragment.render?.facts ?? []) await this.#find(name);
  }

  async #pieces(pieces: readonly Piece[]): Promise<void> {
    for (const piece of pieces) {
      if (piece.kind === 'fact') await this.#find(piece.fact);
      if (piece.kind !== 'when') continue;
      await this.#decide(piece.condition);
      await this.#pieces(branchOf(piece, this.#read));
    }
  }

  async #decide(condition: Condition): Promise<void> {
    for (const name of condition.factsAsWritten) {
      if (condition.evaluate(this.#read) !== undefined) return;
      await this.#find(name);
    }
  }

  async #find(name: string): Promise<void> {
    const declaration = this.#pending.get(name);
    if (declaration === undefined) return;
    this.#context.signal?.throwIfAborted();
    const fact = declaration.probe === null ? await this.#git(name) : await this.#probe(declaration);
    this.#context.signal?.throwIfAborted();
    this.#pending.delete(name);
    this.#facts.set(name, fact);
  }

  async #git(name: string): Promise<Fact> {
    const { workspace } = this.#context;
    if (workspace === null) return { known: false, reason: 'no workspace was given', source: 'git' };
    const { repository, branch } = await readGit(workspace);
    return name === 'git.branch' ? branch : repository;
  }

  async #probe(declaration: FactDeclaration): Promise<Fact> {
    const source = sourceOf(declaration);
    const probe = this.#probes.find((one) => one.name === declaration.probe);
    if (probe === undefined) return { known: false, reason: 'the probe is not available here', source };
    let fact: Fact;
    try {
      fact = await probe.run(declaration.options, this.#context);
    } catch (thrown) {
      if (thrown instanceof ComposeError || this.#context.signal?.aborted) throw thrown;
      return { known: false, reason: messageOf(thrown), source };
    }
    // Only a text can be known to be absent: nothing else has an empty value.
    const absent = fact.known && fact.value === null && declaration.type === 'string';
    if (!fact.known || absent || isFactValue(declaration.type, fact.value)) return fact;
    return { known: false, reason: `the probe did not answer ${factTypeWords[declaration.type]}`, source };
  }
}
