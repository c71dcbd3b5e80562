/** Facts: their types and declarations, the built-in ones, and how a flag's text becomes a value. */

export const factTypes = ['bool', 'string', 'int', 'double', 'list'] as const;
/** `list` is a list of strings; `int` a whole number within ±(2^53 - 1). */
export type FactType = (typeof factTypes)[number];
export type FactValue = boolean | string | number | readonly string[];

/** Facts as a situation states them; undefined is "unknown". */
export type StatedFacts = ReadonlyMap<string, FactValue | undefined>;

/** What is known of a session. A known `null` is "known to be absent" and reads as the empty string. */
export type Fact =
  | { readonly known: true; readonly value: FactValue | null; readonly source: string }
  | { readonly known: false; readonly reason: string; readonly source: string };

export interface FactDeclaration {
  readonly name: string;
  readonly type: FactType;
  readonly builtIn: boolean;
  /** The probe that finds it out; null where it is given or has a default. */
  readonly probe: string | null;
  readonly options: Readonly<Record<string, unknown>>;
  readonly default: FactValue | null;
  /** May differ between two sessions of the same agent without anything having been changed. */
  readonly volatile: boolean;
  /** True where nothing but a forced `unknown` can make it unknown. */
  readonly certain: boolean;
}

export type Environment = Readonly<Record<string, string | undefined>>;

export interface ProbeContext {
  /** The session's workspace folder; null where it has none. */
  readonly workspace: string | null;
  readonly env: Environment;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Finds one fact out. It answers "unknown" with a reason where it could not tell; what it throws is taken as that too,
 * except a ComposeError (bad options) and an abort, which stop the work.
 */
export interface Probe {
  readonly name: string;
  run(options: Readonly<Record<string, unknown>>, context: ProbeContext): Promise<Fact>;
}

/** The first part of every built-in fact's name: declared facts stay clear of them. */
export const builtInRoots = [
  'mode',
  'agent',
  'text',
  'capability',
  'resource',
  'env',
  'git',
  'tool',
] as const;

export const factNamePattern = /^[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z][A-Za-z0-9_]*)*$/;
const environmentName = /^env\.[A-Za-z_][A-Za-z0-9_]*$/;

/** `capability.<name>`; a character that a condition cannot hold in a name, such as a hyphen, becomes `_`. */
export function capabilityFact(capability: string): string {
  return `capability.${capability.replace(/[^A-Za-z0-9_.]/g, '_')}`;
}

/** `tool.<name>`, written like the fact of a capability. */
export function toolName(tool: string): string {
  return `tool.${tool.replace(/[^A-Za-z0-9_]/g, '_')}`;
}

/**
 * What `tool.<name>` stands for in a condition, which is no fact of its own: false for a tool that the agent does not list,
 * and for one that it lists whether its capability is held; unknown where that is null, as nobody said it and the file that
 * does is not run.
 */
export interface ToolOffer {
  readonly tool: string;
  readonly listed: boolean;
  readonly capability: string | null;
}

/** The facts that every agent has, `env.*` left out: those are declared by being read. */
export function builtInFacts(capabilities: readonly string[]): FactDeclaration[] {
  const fact = (name: string, type: FactType, more: Partial<FactDeclaration> = {}): FactDeclaration => ({
    name,
    type,
    builtIn: true,
    probe: null,
    options: {},
    default: null,
    volatile: false,
    certain: true,
    ...more,
  });
  return [
    fact('mode', 'string'),
    fact('agent.key', 'string'),
    fact('text.stock', 'bool'),
    fact('resource.workspace', 'bool'),
    ...capabilities.map((name) => fact(capabilityFact(name), 'bool')),
    fact('git.repository', 'bool', { volatile: true, certain: false }),
    fact('git.branch', 'string', { volatile: true, certain: false }),
  ];
}

/** The declaration of `env.NAME`, which any condition may read; undefined for every other name. */
export function environmentFact(name: string): FactDeclaration | undefined {
  if (!environmentName.test(name)) return undefined;
  return {
    name,
    type: 'string',
    builtIn: true,
    probe: null,
    options: {},
    default: null,
    volatile: true,
    certain: true,
  };
}

/** True if a value read from YAML, or answered by a probe, is of the type. */
export function isFactValue(type: FactType, value: unknown): value is FactValue {
  switch (type) {
    case 'bool':
      return typeof value === 'boolean';
    case 'string':
      return typeof value === 'string';
    case 'int':
      return Number.isSafeInteger(value);
    case 'double':
      return typeof value === 'number' && Number.isFinite(value);
    case 'list':
      return Array.isArray(value) && value.every((item) => typeof item === 'string');
  }
}

/** What a type's values look like, for messages. */
export const factTypeWords: Readonly<Record<FactType, string>> = {
  bool: 'true or false',
  string: 'text',
  int: 'a whole number',
  double: 'a number',
  list: 'a list of texts',
};

/** The value that `--fact name=text` gives; undefined where the text is none of the type. A list is `a,b` or JSON. */
export function parseFactText(type: FactType, text: string): FactValue | undefined {
  const value = readText(type, text);
  return isFactValue(type, value) ? value : undefined;
}

function readText(type: FactType, text: string): unknown {
  switch (type) {
    case 'string':
      return text;
    case 'bool':
      return text === 'true' ? true : text === 'false' ? false : undefined;
    case 'int':
      return /^-?(0|[1-9]\d*)$/.test(text) ? Number(text) : undefined;
    case 'double':
      return /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text) ? Number(text) : undefined;
    case 'list':
      if (!text.startsWith('[')) return text === '' ? [] : text.split(',').map((item) => item.trim());
      try {
        return JSON.parse(text);
      } catch {
        return undefined;
      }
  }
}
