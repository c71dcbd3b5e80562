/** Conditions: a checked subset of CEL, compiled to three-valued closures that never throw. */
import { type ASTNode, Environment, ParseError } from '@marcbachmann/cel-js';
import { TextFault } from './errors.ts';
import { capabilityFact, environmentFact, type FactType, type FactValue, type ToolOffer } from './facts.ts';
import { namingMend } from './nearest.ts';

/** A fact's value by name; undefined where it is unknown. */
export type ReadFact = (name: string) => FactValue | undefined;

export interface Condition {
  readonly source: string;
  /** The facts that stand in it, in the order of their names. */
  readonly facts: readonly string[];
  /** The same, in the order in which they stand: the order in which they are looked for. */
  readonly factsAsWritten: readonly string[];
  /** Undefined is "unknown". Whatever is known holds for every completion of the unknown facts. */
  evaluate(read: ReadFact): boolean | undefined;
}

/** Compiles a condition, or throws a TextFault at the place that is wrong. */
export type CompileCondition = (source: string) => Condition;

type Evaluate = (read: ReadFact) => FactValue | undefined;
type Compile = (node: ASTNode) => Evaluate;
/** The facts that may be read, and what `tool.*` stands for. */
export type FactTypes = ReadonlyMap<string, FactType | ToolOffer>;

const celTypes: Readonly<Record<FactType, string>> = {
  bool: 'bool',
  string: 'string',
  int: 'int',
  double: 'double',
  list: 'list<string>',
};

// Bounds that keep reading and evaluating within the stack.
const depthMax = 500;
const charactersMax = 5_000;

/**
 * Makes the compiler for one set of facts; `env.*` is readable besides. cel-js reads and type-checks, the evaluation is
 * ours: its evaluator throws for an unknown fact, twenty times as dear as an answer, and gives up on a ternary or a
 * list that is decided all the same. For known facts both agree, which a test holds.
 */
export function conditionCompiler(facts: FactTypes): CompileCondition {
  const cel = typedEnvironment(facts);
  return (source) => {
    const parsed = parse(cel, source);
    const read = new Set<string>();
    const evaluate = compileNode(parsed.ast, facts, read, 0);
    const check = parsed.check();
    if (!check.valid) throw typeFault(check.error);
    if (check.type !== 'bool') {
      throw new TextFault(
        0,
        `a condition is true or false, this one is of type ${check.type}`,
        'Compare the value with what it should be, for instance `mode == "headless"`.',
      );
    }
    return {
      source,
      facts: [...read].sort(),
      factsAsWritten: [...read],
      // The type check above is what makes this a boolean.
      evaluate: (from) => evaluate(from) as boolean | undefined,
    };
  };
}

/** A part of a condition that was compiled before, by itself. */
export function conditionPart(node: ASTNode, facts: FactTypes): Pick<Condition, 'facts' | 'evaluate'> {
  const read = new Set<string>();
  const evaluate = compileNode(node, facts, read, 0);
  return { facts: [...read].sort(), evaluate: (from) => evaluate(from) as boolean | undefined };
}

/** True where CEL keeps the name for itself, as a reserved word or the name of a type. */
export function isReservedName(name: string, type: FactType): boolean {
  try {
    const parsed = typedEnvironment(new Map([[name, type]])).parse(name);
    return selectorOf(parsed.ast) !== name || parsed.check().type !== celTypes[type];
  } catch {
    return true;
  }
}

interface Fields {
  [name: string]: string | Fields;
}

function typedEnvironment(facts: FactTypes): Environment {
  const roots: Fields = {};
  for (const [name, type] of facts) {
    if (name.startsWith('env.')) continue;
    const parts = name.split('.');
    const leaf = parts.pop() ?? name;
    let at = roots;
    for (const part of parts) {
      const inner = at[part];
      const fields: Fields = typeof inner === 'object' ? inner : {};
      at[part] = fields;
      at = fields;
    }
    at[leaf] = typeof type === 'string' ? celTypes[type] : celTypes.bool;
  }
  const cel = new Environment();
  cel.registerVariable('env', 'map<string, string>');
  for (const [name, type] of Object.entries(roots)) {
    if (typeof type === 'string') cel.registerVariable(name, type);
    else cel.registerVariable({ name, schema: type });
  }
  return cel;
}

function parse(cel: Environment, source: string) {
  if (source.length > charactersMax) {
    throw new TextFault(
      0,
      `the condition has ${source.length} characters, and at most ${charactersMax} were expected`,
      'Make it a fact of its own.',
    );
  }
  try {
    return cel.parse(source);
  } catch (thrown) {
    if (!(thrown instanceof ParseError)) throw thrown;
    const mend = /[^=!<>]=[^=]/.test(` ${source} `)
      ? 'Compare with ==.'
      : 'Write a CEL condition, for instance `mode == "headless" && !capability.sql`.';
    throw new TextFault(thrown.range?.start ?? 0, `the condition cannot be read: ${thrown.summary}`, mend);
  }
}

function typeFault(error: { summary: string; range?: { start: number } } | undefined): TextFault {
  return new TextFault(
    error?.range?.start ?? 0,
    `the condition does not fit the types of its facts: ${error?.summary ?? 'type error'}`,
    'Compare values of the same type, as the facts are declared.',
  );
}

/** `workspace.dbt` of a chain of selectors; undefined where the node is none. */
export function selectorOf(node: ASTNode): string | undefined {
  if (node.op === 'id') return node.args;
  if (node.op !== '.') return undefined;
  const base = selectorOf(node.args[0]);
  return base === undefined ? undefined : `${base}.${node.args[1]}`;
}

function compileNode(node: ASTNode, facts: FactTypes, read: Set<string>, depth: number): Evaluate {
  if (depth === depthMax) {
    throw new TextFault(
      node.start,
      `the condition is nested more than ${depthMax} deep`,
      'Make it a fact of its own.',
    );
  }
  const compile: Compile = (inner) => compileNode(inner, facts, read, depth + 1);
  switch (node.op) {
    case 'value':
      return literal(node, node.args);
    case '-_':
      return negativeNumber(node, node.args);
    case 'id':
    case '.':
      return scalarFact(node, facts, read);
    case '!_':
      return not(compile(node.args));
    case '&&':
      return joined(compile(node.args[0]), compile(node.args[1]), false);
    case '||':
      return joined(compile(node.args[0]), compile(node.args[1]), true);
    case '?:':
      return either(compile(node.args[0]), compile(node.args[1]), compile(node.args[2]));
    case '==':
    case '!=':
    case '<':
    case '<=':
    case '>':
    case '>=':
      return compared(compile(node.args[0]), compile(node.args[1]), comparisons[node.op]);
    case 'in':
      return member(compile(node.args[0]), node.args[1], facts, read, compile);
    case 'rcall':
      return textTest(node, node.args[0], node.args[1], node.args[2], compile);
    default:
      throw notAllowed(node);
  }
}

function literal(node: ASTNode, value: unknown): Evaluate {
  const plain = typeof value === 'bigint' ? Number(value) : value;
  if (typeof value === 'bigint' && !Number.isSafeInteger(plain)) {
    throw new TextFault(
      node.start,
      `the number ${value} is beyond ±${Number.MAX_SAFE_INTEGER}, which no fact can hold`,
      'Use a smaller number.',
    );
  }
  if (typeof plain !== 'boolean' && typeof plain !== 'string' && typeof plain !== 'number') {
    throw new TextFault(
      node.start,
      'this literal is neither text, number, true nor false',
      'Compare with one of these; an unset environment variable is the empty text.',
    );
  }
  return () => plain;
}

function negativeNumber(node: ASTNode, inner: ASTNode): Evaluate {
  const value = inner.op === 'value' ? literal(inner, inner.args)(() => undefined) : undefined;
  if (typeof value !== 'number') throw notAllowed(node);
  return () => -value;
}

function scalarFact(node: ASTNode, facts: FactTypes, read: Set<string>): Evaluate {
  const name = factName(node, facts);
  const type = facts.get(name);
  if (typeof type === 'object') return offeredTool(type, read);
  if (type === 'list') {
    throw new TextFault(
      node.start,
      `'${name}' is a list, and a list may only stand to the right of 'in'`,
      `Ask for one element: "…" in ${name}.`,
    );
  }
  read.add(name);
  return (from) => from(name);
}

// The capability is what decides, and so what a decision names.
function offeredTool(tool: ToolOffer, read: Set<string>): Evaluate {
  if (!tool.listed) return () => false;
  if (tool.capability === null) return () => undefined;
  const fact = capabilityFact(tool.capability);
  read.add(fact);
  return (from) => from(fact);
}

function factName(node: ASTNode, facts: FactTypes): string {
  const name = selectorOf(node);
  if (name === undefined) throw notAllowed(node);
  if (facts.has(name) || environmentFact(name) !== undefined) return name;
  const inside = [...facts.keys()].filter((fact) => fact.startsWith(`${name}.`));
  if (inside.length > 0 || name === 'env') {
    throw new TextFault(
      node.start,
      `'${name}' is the beginning of facts' names and no fact itself`,
      `Name one fact: ${name === 'env' ? 'env.NAME' : inside.join(', ')}.`,
    );
  }
  throw new TextFault(node.start, `no fact is called '${name}'`, namingMend(name, facts.keys()));
}

function not(inner: Evaluate): Evaluate {
  return (read) => {
    const value = inner(read);
    return value === undefined ? undefined : value === false;
  };
}

// `decisive` is the value that settles the whole whatever the other side is: false for &&, true for ||.
function joined(left: Evaluate, right: Evaluate, decisive: boolean): Evaluate {
  return (read) => {
    const a = left(read);
    if (a === decisive) return decisive;
    const b = right(read);
    if (b === decisive) return decisive;
    return a === undefined || b === undefined ? undefined : !decisive;
  };
}

function either(condition: Evaluate, then: Evaluate, otherwise: Evaluate): Evaluate {
  return (read) => {
    const which = condition(read);
    if (which !== undefined) return which === true ? then(read) : otherwise(read);
    const a = then(read);
    return a !== undefined && a === otherwise(read) ? a : undefined;
  };
}

const comparisons = {
  '==': (a: FactValue, b: FactValue) => a === b,
  '!=': (a: FactValue, b: FactValue) => a !== b,
  '<': (a: FactValue, b: FactValue) => a < b,
  '<=': (a: FactValue, b: FactValue) => a <= b,
  '>': (a: FactValue, b: FactValue) => a > b,
  '>=': (a: FactValue, b: FactValue) => a >= b,
};

function compared(left: Evaluate, right: Evaluate, holds: (a: FactValue, b: FactValue) => boolean): Evaluate {
  return (read) => {
    const a = left(read);
    const b = right(read);
    return a === undefined || b === undefined ? undefined : holds(a, b);
  };
}

function member(
  element: Evaluate,
  list: ASTNode,
  facts: FactTypes,
  read: Set<string>,
  compile: Compile,
): Evaluate {
  if (list.op === 'list') {
    const items = list.args.map(compile);
    return (from) => {
      const wanted = element(from);
      if (wanted === undefined) return items.length === 0 ? false : undefined;
      const values = items.map((item) => item(from));
      return values.includes(wanted) ? true : values.includes(undefined) ? undefined : false;
    };
  }
  const name = selectorOf(list) === undefined ? undefined : factName(list, facts);
  if (name === undefined || facts.get(name) !== 'list') {
    throw new TextFault(
      list.start,
      "'in' looks into a literal list or a fact of type list, and this is neither",
      'Write the list out: mode in ["headless", "interactive"].',
    );
  }
  read.add(name);
  return (from) => {
    const wanted = element(from);
    const values = from(name);
    if (!Array.isArray(values)) return undefined;
    if (wanted === undefined) return values.length === 0 ? false : undefined;
    return values.includes(wanted);
  };
}

/** The questions about texts, by the method that asks. */
export const textTests: Readonly<Record<string, (text: string, part: string) => boolean>> = {
  startsWith: (text, part) => text.startsWith(part),
  endsWith: (text, part) => text.endsWith(part),
  contains: (text, part) => text.includes(part),
};

function textTest(
  node: ASTNode,
  method: string,
  receiver: ASTNode,
  args: readonly ASTNode[],
  compile: Compile,
): Evaluate {
  const holds = Object.hasOwn(textTests, method) ? textTests[method] : undefined;
  const [argument] = args;
  if (holds === undefined || argument === undefined || args.length > 1) throw notAllowed(node);
  return compared(compile(receiver), compile(argument), (a, b) => holds(String(a), String(b)));
}

function notAllowed(node: ASTNode): TextFault {
  const what =
    node.op === 'call' || node.op === 'rcall'
      ? `the function '${node.args[0]}'`
      : node.op === 'list' || node.op === 'map'
        ? `a ${node.op} in this place`
        : `the operator '${node.op.replaceAll('_', '')}'`;
  return new TextFault(
    node.start,
    `${what} is outside the conditions that can be answered while facts are unknown`,
    'Use comparisons, && || !, ?:, `in` a list, startsWith, endsWith, contains.',
  );
}
