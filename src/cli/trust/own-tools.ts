/** Tools that an agent folder brings: its files are run, and what they make is checked before a model sees it. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { OwnCapability } from '../../compose/agent.ts';
import { messageOf } from '../../errors.ts';
import type { Tool } from '../../native/tool/tool.ts';
import { isRecord, type Json } from '../../protocol/json.ts';
import { CliError } from '../errors.ts';
import type { PrivateCopy } from './tool-files.ts';

export interface OwnTool {
  readonly name: string;
  readonly options: { readonly [name: string]: Json };
  /** What agent.yaml says that its tools ask for. */
  readonly capability?: OwnCapability | undefined;
}

/** What a tool file's function gets. */
export interface OwnToolContext {
  /** The absolute path of the session's workspace. */
  readonly workspace: string;
  /** As agent.yaml gives them; the file checks them itself. */
  readonly options: { readonly [name: string]: Json };
}

/** A file that has not said what its tools are by then never will. */
const loadTimeoutMs = 10_000;

/**
 * Runs `tools/<name>.mjs` of the copy and returns its tools: the default export, or what that function returns. Each is
 * called `<name>`, or `<name>_…`. Throws `cli.bad-tool` with the file's path, and `cli.other-capability` where its tools ask
 * for another one than agent.yaml says: the text was composed by what it says.
 */
export async function loadOwnTool(
  copy: PrivateCopy,
  { name, options, capability }: OwnTool,
  workspace: string,
): Promise<readonly Tool[]> {
  const file = `tools/${name}.mjs`;
  const made = await inTime(makeTools(join(copy.folder, file), { workspace, options })).catch((cause) => {
    // The cause would name the copy, which is gone when somebody reads it.
    const said = messageOf(cause).replaceAll(`${copy.folder}/`, '');
    throw bad(file, `could not be loaded: ${said}`, 'Correct the file.');
  });
  const tools = Array.isArray(made) ? made : [made];
  for (const tool of tools) {
    if (!isTool(tool)) {
      throw bad(
        file,
        `expected a tool from defineTool, found ${wordsFor(tool)}`,
        'Return what defineTool returns.',
      );
    }
    const called = tool.schema.name;
    if (called !== name && !called.startsWith(`${name}_`)) {
      throw bad(
        file,
        `expected its tools to be called ${name}, or ${name}_ and more, found '${called}'`,
        `Name the file ${called}.mjs, or rename the tool.`,
      );
    }
  }
  if (capability !== undefined) mustAskFor(file, capability, tools);
  return tools;
}

function mustAskFor(file: string, said: OwnCapability, tools: readonly Tool[]): void {
  const made = new Map(tools.map((tool) => [tool.schema.name, tool.capability]));
  const expected =
    typeof said === 'string'
      ? new Map([...made.keys()].map((tool) => [tool, said]))
      : new Map(Object.entries(said));
  const wrong = [...new Set([...expected.keys(), ...made.keys()])].find(
    (tool) => expected.get(tool) !== made.get(tool),
  );
  if (wrong === undefined) return;
  const words = (capability: string | undefined, none: string) =>
    capability === undefined ? none : `'${capability}'`;
  throw new CliError(
    'cli.other-capability',
    `agent.yaml says of the tool '${wrong}' that it asks for ${words(expected.get(wrong), 'nothing, as it does not name it')}; ${file} ${made.has(wrong) ? `asks for ${words(made.get(wrong), '')}` : 'makes no such tool'}.`,
    {
      next: `Write what ${file} says beside it in the tools of agent.yaml: capability: ${capabilityWords(made)}.`,
      details: { file, tool: wrong, said: expected.get(wrong) ?? null, found: made.get(wrong) ?? null },
    },
  );
}

function capabilityWords(made: ReadonlyMap<string, string>): string {
  const [first, ...others] = new Set(made.values());
  if (first !== undefined && others.length === 0) return first;
  return `{ ${[...made].map(([tool, capability]) => `${tool}: ${capability}`).join(', ')} }`;
}

async function makeTools(path: string, context: OwnToolContext): Promise<unknown> {
  const module: { readonly default?: unknown } = await import(pathToFileURL(path).href);
  const made = module.default;
  if (typeof made === 'function') return made(context);
  if (made !== undefined && Object.keys(context.options).length > 0)
    throw new Error(
      'agent.yaml gives it options, and its default export is no function that could take them',
    );
  return made;
}

async function inTime(loading: Promise<unknown>): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it was not ready within ${loadTimeoutMs} ms`)), loadTimeoutMs);
  });
  try {
    return await Promise.race([loading, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** `defineTool` has checked the rest. */
function isTool(value: unknown): value is Tool {
  if (!isRecord(value) || !isRecord(value.schema) || typeof value.schema.name !== 'string') return false;
  return ['check', 'execute', 'effectKey', 'close'].every((method) => typeof value[method] === 'function');
}

function wordsFor(value: unknown): string {
  if (value === undefined) return 'nothing';
  return isRecord(value)
    ? `an object with ${Object.keys(value).slice(0, 5).join(', ') || 'no fields'}`
    : typeof value;
}

function bad(file: string, found: string, next: string): CliError {
  return new CliError('cli.bad-tool', `${file} ${found}.`, { next, details: { file } });
}
