/** The values of a fact that conditions can tell apart: one for each side of every constant it is compared with. */
import { type ASTNode, Environment } from '@marcbachmann/cel-js';
import { type Agent, declarationOf } from '../agent.ts';
import { selectorOf } from '../conditions.ts';
import { capabilityFact, type FactDeclaration, type FactValue } from '../facts.ts';

/** What a fact may be; undefined is "unknown". */
export type Possible = FactValue | undefined;

/** The constants of some conditions by the facts they stand beside. */
export interface Cuts {
  readonly constants: ReadonlyMap<string, ReadonlySet<string | number>>;
  readonly tests: ReadonlyMap<string, ReadonlySet<string>>;
  /** Facts compared with each other: these are cut where either of them is, and some values are only tried. */
  readonly sampled: ReadonlySet<string>;
}

/** All that the fact `mode` can be. */
export const modes = ['headless', 'interactive'] as const;

const parser = new Environment();

/** The syntax of a condition that has been compiled before, and so is known to be well formed. */
export function syntaxOf(source: string): ASTNode {
  return parser.parse(source).ast;
}

/** Collects the constants of conditions. */
export function cutsOf(sources: readonly string[]): Cuts {
  const constants = new Map<string, Set<string | number>>();
  const tests = new Map<string, Set<string>>();
  const sampled = new Set<string>();
  const walk = (node: ASTNode): void => {
    for (const inner of childrenOf(node)) walk(inner);
    if (!isComparison(node)) return;
    const { facts, literals } = leavesOf(node);
    if (facts.length > 1) for (const fact of facts) sampled.add(fact);
    for (const fact of facts) for (const literal of literals) add(constants, fact, literal);
    if (node.op !== 'rcall') return;
    const kind = node.args[0];
    for (const fact of facts) for (const literal of literals) add(tests, fact, `${kind} ${literal}`);
  };
  for (const source of sources) walk(syntaxOf(source));
  // Facts that are compared with each other need each other's constants.
  const shared = [...sampled].flatMap((fact) => [...(constants.get(fact) ?? [])]);
  for (const fact of sampled) for (const literal of shared) add(constants, fact, literal);
  return { constants, tests, sampled };
}

function add<T>(map: Map<string, Set<T>>, key: string, value: T): void {
  const known = map.get(key) ?? new Set<T>();
  map.set(key, known.add(value));
}

function isComparison(node: ASTNode): boolean {
  return ['==', '!=', '<', '<=', '>', '>=', 'in', 'rcall'].includes(node.op);
}

/** The parts of a node that are expressions themselves. */
export function childrenOf(node: ASTNode): readonly ASTNode[] {
  switch (node.op) {
    case '!_':
    case '-_':
      return [node.args];
    case 'rcall':
      return [node.args[1], ...node.args[2]];
    case 'list':
    case '?:':
      return node.args;
    case '&&':
    case '||':
    case '==':
    case '!=':
    case '<':
    case '<=':
    case '>':
    case '>=':
    case 'in':
      return node.args;
    default:
      return [];
  }
}

function leavesOf(node: ASTNode): { facts: string[]; literals: (string | number)[] } {
  const facts: string[] = [];
  const literals: (string | number)[] = [];
  const walk = (at: ASTNode, sign: number): void => {
    const name = selectorOf(at);
    if (name !== undefined) facts.push(name);
    else if (at.op === 'value') {
      const { args } = at;
      if (typeof args === 'string') literals.push(args);
      if (typeof args === 'number' || typeof args === 'bigint') literals.push(sign * Number(args));
    } else for (const inner of childrenOf(at)) walk(inner, at.op === '-_' ? -sign : sign);
  };
  walk(node, 1);
  return { facts: [...new Set(facts)], literals };
}

/** All values of a fact that the conditions tell apart, unknown last where the fact may be unknown. */
export function possibleValues(agent: Agent, name: string, cuts: Cuts): Possible[] {
  const declaration = declarationOf(agent, name);
  if (declaration === undefined) return [undefined];
  const known = knownValues(agent, declaration, cuts);
  return declaration.certain && !isLeftUnknown(agent, name) ? known : [...known, undefined];
}

function knownValues(agent: Agent, { name, type }: FactDeclaration, cuts: Cuts): FactValue[] {
  if (name === 'agent.key') return [agent.key];
  if (name === 'mode') return [...modes];
  if (name.startsWith('capability.') && !mayHold(agent, name)) return [false];
  const constants = [...(cuts.constants.get(name) ?? [])];
  const texts = constants.filter((value) => typeof value === 'string');
  const numbers = constants.filter((value) => typeof value === 'number').sort((a, b) => a - b);
  switch (type) {
    case 'bool':
      return [true, false];
    case 'string':
      return textValues(texts, [...(cuts.tests.get(name) ?? [])]);
    case 'int':
    case 'double':
      return numberValues(numbers, type === 'int', cuts.sampled.has(name));
    case 'list': {
      if (!cuts.sampled.has(name)) return listValues(texts);
      // A text that is looked for in it may lie on either side of any constant.
      const singles = textValues(texts, []).map((text) => [text]);
      return [...listValues([...texts, other]), ...singles];
    }
  }
}

// What the agent does not hold, no session has, unless a named situation says so for a test.
function mayHold(agent: Agent, fact: string): boolean {
  const held = agent.capabilities.some((name) => capabilityFact(name) === fact);
  return held || [...agent.situations.values()].some((values) => values.get(fact) === true);
}

// Nothing but a situation or a flag that says so makes such a fact unknown.
function isLeftUnknown(agent: Agent, fact: string): boolean {
  return [...agent.situations.values()].some((stated) => stated.has(fact) && stated.get(fact) === undefined);
}

// Below, at and between the constants, and above them all; two in each gap where facts are compared with each other.
function numberValues(numbers: readonly number[], whole: boolean, twoInGap: boolean): number[] {
  const parts = twoInGap ? 3 : 2;
  const values = new Set<number>();
  numbers.forEach((number, i) => {
    const next = numbers[i + 1] ?? number + 4;
    if (i === 0) for (let part = parts - 1; part > 0; part -= 1) values.add(number - part);
    values.add(number);
    for (let part = 1; part < parts; part += 1) {
      const between = whole ? number + part : number + ((next - number) * part) / parts;
      if (between < next) values.add(between);
    }
  });
  if (values.size === 0) return twoInGap ? [0, 1, 2] : [0];
  return [...values];
}

const filler = '\u{a4}';
// A text that no condition names; every text may be it, and every list that a text is looked for in may hold it.
const other = filler + filler;

// The very next text in order: between a text and any longer one there is nothing else to find.
const least = '\u0000';

// A text that begins, ends with or holds each constant, alone and together; the order of texts is cut by the text just
// behind each constant. The empty text is an unset variable.
function textValues(constants: readonly string[], tests: readonly string[]): string[] {
  const of = (kind: string) =>
    tests.filter((test) => test.startsWith(`${kind} `)).map((test) => test.slice(kind.length + 1));
  const starts = ['', ...of('startsWith')];
  const ends = ['', ...of('endsWith')];
  const holds = of('contains');
  const ordered = ['', ...constants].flatMap((text) => [text, `${text}${least}`]);
  const values = new Set<string>(ordered);
  for (const start of starts) {
    for (const end of ends) {
      for (const middle of ['', ...holds, holds.join(filler)])
        values.add(start + filler + middle + filler + end);
    }
  }
  return [...values];
}

const listConstantsMax = 6;

function listValues(constants: readonly string[]): string[][] {
  const few = constants.slice(0, listConstantsMax);
  const subsets = Array.from({ length: 2 ** few.length }, (_, bits) =>
    few.filter((_item, i) => (bits >> i) & 1),
  );
  return few.length === constants.length
    ? subsets
    : [...subsets, ...constants.map((one) => [one]), [...constants]];
}

/** What was only tried and not enumerated, one sentence each. */
export function cutNotes(agent: Agent, facts: readonly string[], cuts: Cuts): string[] {
  return facts.flatMap((name) => {
    const type = declarationOf(agent, name)?.type;
    const many = type === 'list' && (cuts.constants.get(name)?.size ?? 0) > listConstantsMax;
    const compared = cuts.sampled.has(name) && type !== 'bool';
    const tested = (cuts.tests.get(name)?.size ?? 0) > 1;
    if (many) return [`${name}: of more than ${listConstantsMax} texts not every set was tried`];
    if (compared) return [`${name}: compared with another fact, so its values are a selection`];
    return tested ? [`${name}: tested for several parts, so its values are a selection`] : [];
  });
}
