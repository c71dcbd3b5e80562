/** The named situations of an agent as they are pinned: the same on every machine, or refused. */
import { type Agent, declarationOf } from '../agent.ts';
import type { Condition } from '../conditions.ts';
import type { FactDeclaration, StatedFacts } from '../facts.ts';
import { settle } from '../settle.ts';
import { factReader, fragmentsOf, type Situation } from '../situation.ts';
import { branchOf, type Piece } from '../template.ts';

/** A fact that decides something in a situation and that only a machine could answer. */
export interface OpenFact {
  readonly fact: string;
  readonly fragment: string;
}

/** True for a fact that the machine at hand answers: an environment variable, git, or a probe. */
function ofMachine(declaration: FactDeclaration): boolean {
  return declaration.probe !== null || /^(env|git)\./.test(declaration.name);
}

/**
 * A named situation under a profile, as `writ compose --situation NAME --profile NAME` has it, but with every fact of the
 * machine left unknown unless the situation sets it. There is a workspace, because the command line always has one.
 */
export async function namedSituation(agent: Agent, name: string, profile: string): Promise<Situation> {
  const values = statedIn(agent, name);
  const unknown = [...agent.facts.values()].filter((fact) => ofMachine(fact) && !values.has(fact.name));
  return settle(
    agent,
    {
      profile,
      situation: name,
      unknown: unknown.map((fact) => fact.name),
      facts: values.has('resource.workspace') ? {} : { 'resource.workspace': 'true' },
    },
    [],
  );
}

function statedIn(agent: Agent, name: string): StatedFacts {
  return agent.situations.get(name) ?? new Map();
}

/**
 * What keeps a named situation from being pinned: facts of the machine on which its text hangs. One that the situation says
 * is unknown is as settled as one with a value.
 */
export function openFacts(agent: Agent, name: string, situation: Situation): OpenFact[] {
  const stated = statedIn(agent, name);
  const read = factReader(situation.facts);
  const open: OpenFact[] = [];
  for (const fragment of fragmentsOf(agent, situation.profile)) {
    const need = (fact: string) => {
      const declaration = declarationOf(agent, fact);
      const settled = stated.has(fact) || situation.facts.get(fact)?.known === true;
      const twice = open.some((one) => one.fact === fact && one.fragment === fragment.id);
      if (declaration !== undefined && ofMachine(declaration) && !settled && !twice)
        open.push({ fact, fragment: fragment.id });
    };
    const decide = (condition: Condition) => {
      if (condition.evaluate(read) === undefined) condition.facts.forEach(need);
    };
    const pieces = (list: readonly Piece[]): void => {
      for (const piece of list) {
        if (piece.kind === 'fact') need(piece.fact);
        if (piece.kind !== 'when') continue;
        decide(piece.condition);
        pieces(branchOf(piece, read));
      }
    };
    if (fragment.when !== null) decide(fragment.when);
    const value = fragment.when === null ? true : fragment.when.evaluate(read);
    if (!(value ?? fragment.unknown === 'keep')) continue;
    pieces(fragment.template?.pieces ?? []);
    fragment.render?.facts.forEach(need);
  }
  return open;
}
