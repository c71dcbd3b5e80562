/** Names in agent.yaml that must point to something: facts, capabilities, tools, probes, situations. */
import type { z } from 'zod';
import { isReservedName } from '../conditions.ts';
import {
  builtInFacts,
  builtInRoots,
  environmentFact,
  type FactDeclaration,
  type FactValue,
  factNamePattern,
  factTypeWords,
  isFactValue,
} from '../facts.ts';
import { namingMend, nearest } from '../nearest.ts';
import { formOf, mustFitForm, type OptionForm } from './options.ts';
import { type agentSchema, valueMend, valueWords } from './schema.ts';
import type { Path, YamlMap } from './yaml.ts';

type AgentFile = z.output<typeof agentSchema>;

/** The names that an agent may use; they come from the caller, because compose knows no catalogue. */
export interface Vocabulary {
  readonly tools: readonly string[];
  readonly capabilities: readonly string[];
  readonly probes: readonly string[];
  /** By the name of a tool: the capability it needs. Conditions can ask for a tool (`tool.NAME`) all the better for it. */
  readonly toolCapabilities?: Readonly<Record<string, string>>;
  /** By the name of a tool: its options, checked while the folder is read. What is not here the tool checks itself. */
  readonly toolOptions?: Readonly<Record<string, OptionForm>>;
  /** The same for probes. */
  readonly probeOptions?: Readonly<Record<string, OptionForm>>;
}

/** Throws `compose.unknown-name` at the place where a name stands that is not one of the known. */
export function mustKnow(
  map: YamlMap,
  path: Path,
  part: 'key' | 'value',
  what: string,
  name: string,
  known: Iterable<string>,
): void {
  const all = [...known];
  if (all.includes(name)) return;
  throw map.source.error(
    'compose.unknown-name',
    part === 'key' ? map.keyOffset(path) : map.valueOffset(path),
    `no ${what} is called '${name}'`,
    namingMend(name, all),
  );
}

/** Built-in and declared facts by name. */
export function declaredFacts(
  map: YamlMap,
  facts: NonNullable<AgentFile['facts']>,
  vocabulary: Vocabulary,
): Map<string, FactDeclaration> {
  const all = new Map(builtInFacts(vocabulary.capabilities).map((fact) => [fact.name, fact]));
  for (const [name, written] of Object.entries(facts)) {
    mustBeFactName(map, name, written.type, Object.keys(facts));
    const path = ['facts', name];
    if (written.probe !== undefined) {
      mustKnow(map, [...path, 'probe'], 'value', 'probe', written.probe, vocabulary.probes);
      const form = formOf(vocabulary.probeOptions, written.probe);
      const options = written.options ?? {};
      if (form !== undefined)
        mustFitForm(map, [...path, 'options'], `the probe '${written.probe}'`, options, form);
      if (written.default !== undefined) {
        throw map.error(
          map.keyOffset([...path, 'default']),
          `'${name}' has a probe and a default, and a default would hide that the probe could not tell`,
          'Take one of the two out.',
        );
      }
    } else if (written.options !== undefined) {
      throw map.error(
        map.keyOffset([...path, 'options']),
        'options are for a probe, and there is none',
        'Name a probe.',
      );
    }
    all.set(name, {
      name,
      type: written.type,
      builtIn: false,
      probe: written.probe ?? null,
      options: written.options ?? {},
      default:
        written.default === undefined
          ? null
          : factValue(map, [...path, 'default'], written.type, written.default),
      volatile: written.volatile ?? false,
      certain: written.default !== undefined,
    });
  }
  return all;
}

function mustBeFactName(map: YamlMap, name: string, type: FactDeclaration['type'], declared: string[]): void {
  const fail = (message: string, next: string) => map.error(map.keyOffset(['facts', name]), message, next);
  if (!factNamePattern.test(name)) {
    const mended = name.replace(/[^A-Za-z0-9_.]/g, '_');
    throw fail(
      `'${name}' cannot be written in a condition: letters, digits and _ in parts joined by dots were expected`,
      factNamePattern.test(mended) ? `Call it ${mended}.` : 'Begin each part with a letter.',
    );
  }
  if (name === unknownKey)
    throw fail('a situation lists what nobody knows under that name', 'Give the fact another name.');
  const root = name.split('.')[0] ?? name;
  // What else a session may have beside its workspace, only the agent's author knows.
  const isResource = name.startsWith('resource.') && !`${name}.`.startsWith('resource.workspace.');
  if ((builtInRoots as readonly string[]).includes(root) && !isResource) {
    throw fail(`names that begin with '${root}' are built in`, 'Give the fact another first part.');
  }
  const within = declared.find((other) => other.startsWith(`${name}.`));
  if (within !== undefined) {
    throw fail(`'${name}' is a fact and also the beginning of '${within}'`, 'Rename one of the two.');
  }
  if (isReservedName(name, type)) throw fail(`CEL keeps the name '${name}' for itself`, 'Use another name.');
}

/** A value of the right type for a fact, or a located error with the mend. */
export function factValue(
  map: YamlMap,
  path: Path,
  type: FactDeclaration['type'],
  value: unknown,
): FactValue {
  if (isFactValue(type, value)) return value;
  const written = map.written(path);
  throw map.error(
    map.valueOffset(path),
    `'${path.at(-1)?.toString()}' should be ${factTypeWords[type]}, found ${valueWords(value, written)}`,
    valueMend(type === 'bool', type === 'string', value, written),
  );
}

/** The key of a situation that lists facts nobody knows in it; no fact may be called so. */
const unknownKey = 'unknown';

/** The facts of one situation, checked against the declarations. `path` is where its map stands. */
export function situationValues(
  map: YamlMap,
  path: Path,
  { [unknownKey]: unknown, ...values }: Readonly<Record<string, unknown>>,
  facts: ReadonlyMap<string, FactDeclaration>,
): Map<string, FactValue | undefined> {
  const settable = new Set([...facts.keys()].filter((name) => name !== 'agent.key'));
  const declared = (name: string, at: Path, part: 'key' | 'value') => {
    const declaration = facts.get(name) ?? environmentFact(name);
    if (declaration === undefined || name === 'agent.key')
      mustKnow(map, at, part, 'settable fact', name, settable);
    return declaration;
  };
  const stated = new Map<string, FactValue | undefined>();
  for (const [name, value] of Object.entries(values)) {
    const at = [...path, name];
    const checked = factValue(map, at, declared(name, at, 'key')?.type ?? 'string', value);
    if (name === 'mode' && checked !== 'headless' && checked !== 'interactive') {
      throw map.error(
        map.valueOffset(at),
        `mode is headless or interactive, not '${checked}'`,
        'Write one of the two.',
      );
    }
    stated.set(name, checked);
  }
  if (unknown === undefined) return stated;
  const names = factValue(map, [...path, unknownKey], 'list', unknown) as readonly string[];
  names.forEach((name, i) => {
    const at = [...path, unknownKey, i];
    declared(name, at, 'value');
    if (stated.has(name)) {
      throw map.source.error(
        'compose.repeated-name',
        map.valueOffset(at),
        stated.get(name) === undefined
          ? `the fact '${name}' stands twice`
          : `the fact '${name}' has a value in this situation and is unknown in it`,
        'Take one of the two out.',
      );
    }
    stated.set(name, undefined);
  });
  return stated;
}

/** The capabilities that the agent holds, in the order of their names. */
export function heldCapabilities(
  map: YamlMap,
  written: AgentFile['capabilities'],
  known: readonly string[],
): string[] {
  const path = ['capabilities'];
  if (written === undefined || written === 'none') return [];
  if (written === 'all') return [...known].sort();
  if (Array.isArray(written)) {
    written.forEach((name, i) => {
      mustKnow(map, [...path, i], 'value', 'capability', name, known);
    });
    return [...new Set(written)].sort();
  }
  const held = new Set(written.from === 'all' ? known : []);
  for (const [name, value] of Object.entries(written)) {
    const at = [...path, name];
    if (name === 'from') {
      if (value !== 'all' && value !== 'none')
        throw map.error(map.valueOffset(at), 'from is all or none', 'Write one of the two.');
      continue;
    }
    // `from` is a key of this map and no capability: it is offered to whoever misspelt it, and to nobody else.
    const meant = nearest(name, ['from']);
    mustKnow(map, at, 'key', 'capability', name, meant === undefined ? known : [...known, meant]);
    if (typeof value !== 'boolean') {
      throw map.error(
        map.valueOffset(at),
        `'${name}' should be true or false, found the text "${value}"`,
        valueMend(true, false, value),
      );
    }
    if (value) held.add(name);
    else held.delete(name);
  }
  return [...held].sort();
}
