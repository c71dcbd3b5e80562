/** opencode: its controls, and the plan of one run of it. */
import { join } from 'node:path';
import type { PlannedFile } from '../../../protocol/delivery.ts';
import type { Json } from '../../../protocol/json.ts';
import { type Adapter, type AdapterPlan, drivenProgram, type Resolved } from '../../adapter.ts';
import { readCells } from '../../cells.ts';
import { filledServer } from '../../filled-server.ts';
import { machineFiles } from '../../machine-files.ts';
import { describedFile, skillFiles } from '../../markdown-file.ts';
import { modelFamily } from '../../model-family.ts';
import type { DeliveryRequest, PermissionMode, RequestedServer } from '../../request.ts';
import { dropsByteOrderMark, taskAsText } from '../../task.ts';
import cells from './cells.json' with { type: 'json' };
import { openStream, reports } from './stream.ts';

const permissionMaps: { readonly [M in PermissionMode]: { readonly [tool: string]: string } } = {
  read: { edit: 'deny', bash: 'deny', webfetch: 'deny' },
  edit: { edit: 'allow', bash: 'deny', webfetch: 'deny' },
  all: { edit: 'allow', bash: 'allow', webfetch: 'allow' },
};

const machine = {
  linux: '/etc/opencode',
  darwin: '/Library/Application Support/opencode',
  win32: 'C:\\ProgramData\\opencode',
};

/** The harness of the command `opencode`. */
export const adapter: Adapter = {
  name: 'opencode',
  summary: 'The coding agent opencode, the command opencode.',
  program: 'opencode',
  versionArgv: ['--version'],
  declares: drivenProgram,
  controls: {
    replace: {
      control: 'agent.build.prompt',
      transport: 'file',
      lands: 'the start of the system message',
    },
    append: {
      control: 'instructions',
      transport: 'file',
      lands: 'inside the system message, under the line "Instructions from: …"',
    },
    developer: { none: 'it has no message of role developer' },
    context: {
      control: 'AGENTS.md',
      transport: 'file',
      lands: 'inside the system message, under the line "Instructions from: …"',
    },
  },
  dimensions: {
    model: { control: '--model', transport: 'argv' },
    skills: { control: 'skill/NAME/SKILL.md', transport: 'file' },
    mcpServers: { control: 'mcp', transport: 'file' },
    permissions: { control: 'permission', transport: 'file' },
    subagents: { control: 'agent/NAME.md', transport: 'file' },
    contextFiles: { control: 'instructions', transport: 'file' },
    env: { control: 'its environment', transport: 'env' },
  },
  models: { anthropic: 'provider/name', openai: 'provider/name', openrouter: 'provider/name' },
  family: modelFamily,
  keyVariables: ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'OPENROUTER_API_KEY', 'OPENCODE_API_KEY'],
  owns: /^(OPENCODE|XDG)_/,
  resume: 'send-again',
  cells: readCells(cells, 'cells of opencode'),
  plan,
  reports,
  openStream,
};

function plan({ request }: Resolved): AdapterPlan {
  const { home, model, resume, baseUrl } = request;
  return {
    argv: [
      'run',
      ...['--format', 'json'],
      // A title is else asked of the model, with a prompt of its own.
      ...['--title', 'writ'],
      // Without a model's name it would leave the provider aside and go to its own.
      ...(baseUrl === null ? [] : ['--model', `writ/${model ?? 'default'}`]),
      ...(baseUrl === null && model !== undefined ? ['--model', model] : []),
      ...(resume === null ? [] : ['--session', resume]),
    ],
    env: {
      XDG_CONFIG_HOME: join(home, 'config'),
      XDG_DATA_HOME: join(home, 'data'),
      XDG_STATE_HOME: join(home, 'state'),
      XDG_CACHE_HOME: join(home, 'cache'),
      // Else it reads .opencode of the user's own home, whose agents and skills would speak in our place.
      OPENCODE_TEST_HOME: home,
      OPENCODE_DISABLE_PROJECT_CONFIG: '1',
      OPENCODE_DISABLE_CLAUDE_CODE: '1',
      OPENCODE_DISABLE_EXTERNAL_SKILLS: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_AUTOUPDATE: '1',
    },
    files: plannedFiles(request),
    seeds: [
      {
        from: '.local/share/opencode/auth.json',
        variable: 'XDG_DATA_HOME',
        below: 'opencode/auth.json',
        to: 'data/opencode/auth.json',
      },
    ],
    ...taskAsText('opencode', request.task, dropsByteOrderMark),
    // Read last, so that it takes the place of what our own configuration says.
    ambient: machineFiles(machine, request.platform, {
      'opencode.json': 'system',
      'opencode.jsonc': 'system',
    }),
  };
}

function plannedFiles(request: DeliveryRequest): readonly PlannedFile[] {
  const { intent, text, skills, subagents = [], contextFiles = [] } = request;
  const own = 'config/opencode';
  const addition: PlannedFile = { path: 'prompt.md', text, until: 'run' };
  return [
    { path: `${own}/opencode.json`, text: configText(request), until: 'run' },
    ...(intent === 'append' ? [addition] : []),
    ...(intent === 'context' ? [{ ...addition, path: `${own}/AGENTS.md` }] : []),
    ...contextFiles.map(
      ({ name, text }): PlannedFile => ({ path: `instructions/${name}.md`, text, until: 'session' }),
    ),
    ...skillFiles(`${own}/skill`, skills),
    ...subagents.map(({ name, description, text }) =>
      describedFile(`${own}/agent/${name}.md`, { description, mode: 'subagent' }, text),
    ),
  ];
}

/**
 * It fills `{env:…}` and `{file:…}` into the text of its configuration before that is read as JSON. A brace in a text of
 * ours is written as an escape, which it does not find; what it is to fill in is put there afterwards.
 */
function configText(request: DeliveryRequest): string {
  const text = JSON.stringify(config(request), null, 2).replaceAll(/\{(?=env:|file:)/g, '\\u007b');
  return `${text.replaceAll(/(?<="(?:Bearer )?)\\ud800([A-Za-z0-9_]+)(?=")/g, '{env:$1}')}\n`;
}

// Half of a UTF-16 pair, which no text of a request holds, marks the name of a variable.
const fill = (name: string) => `\ud800${name}`;

function config({ intent, text, home, baseUrl, model, ...request }: DeliveryRequest): Json {
  const { permissions, contextFiles = [], mcpServers = {} } = request;
  const instructions = [
    ...(intent === 'append' ? [join(home, 'prompt.md')] : []),
    ...contextFiles.map(({ name }) => join(home, 'instructions', `${name}.md`)),
  ];
  return {
    share: 'disabled',
    autoupdate: false,
    instructions,
    agent: { build: intent === 'replace' ? { prompt: text } : {} },
    mcp: Object.fromEntries(Object.entries(mcpServers).map(([name, server]) => [name, serverOf(server)])),
    ...(permissions === undefined ? {} : { permission: permissionMaps[permissions] }),
    ...(baseUrl === null ? {} : { provider: { writ: providerOf(baseUrl, model ?? 'default') } }),
  };
}

function providerOf(baseURL: string, model: string): Json {
  return {
    npm: '@ai-sdk/openai-compatible',
    options: { baseURL, apiKey: fill('OPENAI_API_KEY') },
    models: { [model]: {} },
  };
}

function serverOf(server: RequestedServer): Json {
  const filled = filledServer(server, fill);
  if ('url' in filled) return { type: 'remote', ...filled };
  return { type: 'local', command: [filled.command, ...filled.args], environment: filled.env };
}
