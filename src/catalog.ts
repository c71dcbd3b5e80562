/** The one page that names every part: harnesses, providers, tools, stores, probes and graders, each loaded only when it is used. */
import type { OptionForm, Vocabulary } from './compose/load/agent.ts';
import type { Adapter } from './deliver/adapter.ts';
import { planCapabilities } from './native/plan/capabilities.ts';
import type { SkillFolders } from './native/tool/skill-read.ts';
import type { SqlQueryOptions } from './native/tool/sql-query.ts';
import type { Json } from './protocol/json.ts';
import type { GraderFile } from './prove/form.ts';
import type { Grader, GraderSurroundings, OpenGrader } from './prove/grade/grader.ts';

/** A part by name. `load` gives what makes it, or the part itself where nothing is to be chosen. */
export interface Part<Loaded> {
  readonly name: string;
  /** One sentence for a list. */
  readonly summary: string;
  readonly load: () => Promise<Loaded>;
}

/** Options of a built-in tool as agent.yaml gives them, and the workspace it works in. The tool checks them itself. */
export type ToolOptions = { readonly workspace: string } & { readonly [name: string]: Json };

export const harnesses = [
  {
    name: 'native',
    summary: 'A model of your choice, the tools of the agent, and the direct loop between them.',
    load: async () => (await import('./native/native.ts')).native,
  },
] as const satisfies readonly Part<unknown>[];

/** How each harness is delivered to: its controls, and the plan of a run before anything is touched. */
export const adapters = [
  {
    name: 'native',
    summary: 'A model of your choice, the tools of the agent, and the direct loop between them.',
    load: async () => (await import('./deliver/harnesses/native/native.ts')).adapter,
  },
  {
    name: 'claude-code',
    summary: 'Claude Code of Anthropic, the command claude.',
    load: async () => (await import('./deliver/harnesses/claude-code/claude-code.ts')).adapter,
  },
  {
    name: 'codex',
    summary: 'Codex of OpenAI, the command codex.',
    load: async () => (await import('./deliver/harnesses/codex/codex.ts')).adapter,
  },
  {
    name: 'gemini',
    summary: 'Gemini CLI of Google, the command gemini.',
    load: async () => (await import('./deliver/harnesses/gemini/gemini.ts')).adapter,
  },
  {
    name: 'opencode',
    summary: 'The coding agent opencode, the command opencode.',
    load: async () => (await import('./deliver/harnesses/opencode/opencode.ts')).adapter,
  },
  {
    name: 'pi',
    summary: 'The coding agent pi, the command pi.',
    load: async () => (await import('./deliver/harnesses/pi/pi.ts')).adapter,
  },
  {
    name: 'qwen-code',
    summary: 'Qwen Code of Alibaba, the command qwen.',
    load: async () => (await import('./deliver/harnesses/qwen-code/qwen-code.ts')).adapter,
  },
  {
    name: 'acp',
    summary: 'Any agent of the Agent Client Protocol, by its command; each is measured by itself.',
    load: async () => (await import('./deliver/harnesses/acp/acp.ts')).adapter,
  },
] as const satisfies readonly Part<Adapter>[];

/** All of them loaded, in this order. */
export function allAdapters(): Promise<readonly Adapter[]> {
  return Promise.all(adapters.map(({ load }): Promise<Adapter> => load()));
}

export const providers = [
  {
    name: 'openai',
    summary: 'OpenAI, over its chat protocol; the key is read from OPENAI_API_KEY.',
    load: async () => (await import('./native/model/providers.ts')).resolveModel,
  },
  {
    name: 'anthropic',
    summary: 'Anthropic, over its Messages protocol; the key is read from ANTHROPIC_API_KEY.',
    load: async () => (await import('./native/model/providers.ts')).resolveModel,
  },
  {
    name: 'openai-responses',
    summary: 'OpenAI, over its Responses protocol; the key is read from OPENAI_API_KEY.',
    load: async () => (await import('./native/model/providers.ts')).resolveModel,
  },
  {
    name: 'gemini',
    summary: 'Google, over the Gemini API; the key is read from GEMINI_API_KEY.',
    load: async () => (await import('./native/model/providers.ts')).resolveModel,
  },
  {
    name: 'openrouter',
    summary: 'OpenRouter, over the chat protocol; the key is read from OPENROUTER_API_KEY.',
    load: async () => (await import('./native/model/providers.ts')).resolveModel,
  },
] as const satisfies readonly Part<unknown>[];

/** Each tool also says which capability an agent must hold for it, and the options it takes in agent.yaml. */
export const tools = [
  {
    name: 'sql_query',
    capability: 'sql',
    summary: 'One reading SQL statement over a SQLite file of the workspace.',
    options: { database: 'string', rowsMax: 'number?', timeoutMs: 'number?' },
    load: async () => {
      const { sqlQuery } = await import('./native/tool/sql-query.ts');
      // The tool checks its options itself; they come from a file all the same.
      return (options: ToolOptions) => sqlQuery(options as ToolOptions & SqlQueryOptions);
    },
  },
  {
    name: 'project_read',
    capability: 'project',
    summary: 'One text file, or the names in one folder, of the workspace.',
    options: { fileBytesMax: 'number?', secrets: 'boolean?' },
    load: async () => {
      const { projectRead } = await import('./native/tool/project-read.ts');
      return (options: ToolOptions) => projectRead(options);
    },
  },
  {
    name: 'project_search',
    capability: 'project',
    summary: 'The lines of the workspace that hold a text or fit an expression.',
    options: { secrets: 'boolean?' },
    load: async () => {
      const { projectSearch } = await import('./native/tool/project-search.ts');
      return (options: ToolOptions) => projectSearch(options);
    },
  },
  {
    name: 'skill_read',
    capability: 'skills',
    summary: 'One text file of a chosen skill, its SKILL.md unless another is named.',
    options: {},
    load: async () => {
      const { skillRead } = await import('./native/tool/skill-read.ts');
      return (options: ToolOptions, skills: SkillFolders = {}) => skillRead(options, skills);
    },
  },
  {
    name: 'context_search',
    capability: 'context',
    summary: 'The lines of a context that hold a text or fit an expression.',
    options: {},
    load: async () => {
      const { contextSearch } = await import('./native/tool/context-tools.ts');
      return (options: ToolOptions) => contextSearch(options);
    },
  },
  {
    name: 'context_slice',
    capability: 'context',
    summary: 'A range of characters or items of a context.',
    options: {},
    load: async () => {
      const { contextSlice } = await import('./native/tool/context-tools.ts');
      return (options: ToolOptions) => contextSlice(options);
    },
  },
  {
    name: 'context_peek',
    capability: 'context',
    summary: 'The size of a context, its beginning, its end, or one item.',
    options: {},
    load: async () => {
      const { contextPeek } = await import('./native/tool/context-tools.ts');
      return (options: ToolOptions) => contextPeek(options);
    },
  },
  {
    name: 'subagent',
    capability: 'subagents',
    summary: 'A part of the work for a child run, inside the rights and the budget of its own.',
    options: {
      instructions: 'string?',
      tools: 'string?',
      capabilities: 'string?',
      turns: 'number?',
      tokens: 'number?',
      timeoutMs: 'number?',
    },
    load: async () => {
      const { subagent } = await import('./native/tool/subagent.ts');
      return (options: ToolOptions) => subagent(options);
    },
  },
  {
    name: 'command_start',
    capability: 'commands',
    summary: 'A shell command in the workspace, unconfined or in bubblewrap.',
    options: { sandbox: 'string?', network: 'boolean?', keep: 'boolean?', lifetimeMs: 'number?' },
    load: async () => {
      const { commandStart } = await import('./native/command/command-start.ts');
      return (options: ToolOptions) => commandStart(options, { env: process.env });
    },
  },
  {
    name: 'command_read',
    capability: 'commands',
    summary: 'The state and output of a command, or the list of the commands of the run.',
    options: {},
    load: async () => {
      const { commandRead } = await import('./native/command/command-tools.ts');
      return (options: ToolOptions) => commandRead(options, { env: process.env });
    },
  },
  {
    name: 'command_wait',
    capability: 'commands',
    summary: 'The state and output of a command once it has ended.',
    options: {},
    load: async () => {
      const { commandWait } = await import('./native/command/command-tools.ts');
      return (options: ToolOptions) => commandWait(options, { env: process.env });
    },
  },
  {
    name: 'command_write',
    capability: 'commands',
    summary: 'Text for the standard input of a running command.',
    options: {},
    load: async () => {
      const { commandWrite } = await import('./native/command/command-tools.ts');
      return (options: ToolOptions) => commandWrite(options, { env: process.env });
    },
  },
  {
    name: 'command_cancel',
    capability: 'commands',
    summary: 'The end of a command and of all that it started.',
    options: {},
    load: async () => {
      const { commandCancel } = await import('./native/command/command-tools.ts');
      return (options: ToolOptions) => commandCancel(options, { env: process.env });
    },
  },
  {
    name: 'file_write',
    capability: 'edit',
    summary: 'One text file of the workspace, made or replaced as a whole.',
    options: {},
    load: async () => {
      const { fileWrite } = await import('./native/edit/file-write.ts');
      return (options: ToolOptions) => fileWrite(options);
    },
  },
  {
    name: 'file_patch',
    capability: 'edit',
    summary: 'Exact replacements in one text file of the workspace.',
    options: {},
    load: async () => {
      const { filePatch } = await import('./native/edit/file-patch.ts');
      return (options: ToolOptions) => filePatch(options);
    },
  },
  {
    name: 'typed_plan_execute',
    capability: 'plan',
    summary: 'A whole plan of looks, calls and model steps, checked before its first step.',
    options: {},
    load: async () => {
      const { planTool } = await import('./native/plan/plan-tool.ts');
      return (options: ToolOptions) => planTool(options);
    },
  },
] as const satisfies readonly (Part<unknown> & {
  readonly capability: string;
  readonly options: OptionForm;
})[];

/** Where commands run; `command_start` names one in its option `sandbox`. */
export const sandboxes = [
  {
    name: 'local',
    summary: 'A process group of this user: tracked and ended, confined in nothing.',
    load: async () => (await import('./sandbox/sandboxes/local/local.ts')).local,
  },
  {
    name: 'bubblewrap',
    summary: 'Namespaces made by bwrap: the workspace to change, programs to read, no network unless given.',
    load: async () => (await import('./sandbox/sandboxes/bubblewrap/bubblewrap.ts')).bubblewrap,
  },
] as const satisfies readonly Part<unknown>[];

export const stores = [
  {
    name: 'sqlite',
    summary: 'One SQLite file that several processes may share; a kill loses nothing acknowledged.',
    load: async () => (await import('./ledger/stores/sqlite.ts')).sqliteStore,
  },
  {
    name: 'memory',
    summary: 'Records that end with the process; for tests.',
    load: async () => (await import('./ledger/stores/memory.ts')).memoryStore,
  },
] as const satisfies readonly Part<unknown>[];

export const probes = [
  {
    name: 'project-marker',
    summary: 'Whether a file of a given name stands in the workspace or near below it.',
    options: { files: 'names', skip: 'names?' },
    load: async () => (await import('./compose/probes/project-marker.ts')).projectMarker,
  },
] as const satisfies readonly (Part<unknown> & { readonly options: OptionForm })[];

/** What decides about the answer of a trial; `grader.kind` in experiment.yaml names one. */
export const graders = [
  {
    name: 'exact',
    summary: 'The answer, or its last line, is the expected text.',
    load: async () => gradedBy((await import('./prove/grade/exact.ts')).exact),
  },
  {
    name: 'numeric',
    summary: 'The last number of the answer lies near enough to the expected one.',
    load: async () => gradedBy((await import('./prove/grade/numeric.ts')).numeric),
  },
  {
    name: 'pattern',
    summary: 'A regular expression is found in the answer.',
    load: async () => gradedBy((await import('./prove/grade/pattern.ts')).pattern),
  },
  {
    name: 'json-schema',
    summary: 'The answer is JSON that fits a schema.',
    load: async () => gradedBy((await import('./prove/grade/json-schema.ts')).jsonSchema),
  },
  {
    name: 'sql',
    summary: 'The statement of the answer gives the rows of the expected one.',
    load: async () => gradedBy((await import('./prove/grade/sql.ts')).sql),
  },
  {
    name: 'command',
    summary: 'A program of the experiment decides, with the workspace as the agent left it.',
    load: async () => gradedBy((await import('./prove/grade/command.ts')).command),
  },
  {
    name: 'judge',
    summary: 'A model with fixed instructions, which does not learn of which arm an answer is.',
    load: async () => gradedBy((await import('./prove/grade/judge.ts')).judge),
  },
] as const satisfies readonly (Part<OpenGrader> & { readonly name: GraderFile['kind'] })[];

// Whoever opens a grader chose it by the kind of its options, so that they are its own.
function gradedBy<Options extends GraderFile>(
  make: (options: Options, surroundings: GraderSurroundings) => Grader | Promise<Grader>,
): OpenGrader {
  return async (options, surroundings) => make(options as Options, surroundings);
}

/** What an agent.yaml may name. */
export const vocabulary: Vocabulary = {
  tools: tools.map((tool) => tool.name),
  capabilities: [
    ...new Set<string>([...tools.map((tool) => tool.capability), ...Object.values(planCapabilities)]),
  ],
  probes: probes.map((probe) => probe.name),
  toolCapabilities: Object.fromEntries(tools.map((tool) => [tool.name, tool.capability])),
  toolOptions: Object.fromEntries(tools.map((tool) => [tool.name, tool.options])),
  probeOptions: Object.fromEntries(probes.map((probe) => [probe.name, probe.options])),
};
