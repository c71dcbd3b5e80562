/** Claude Code: its controls, and the plan of one run of it. */
import { join } from 'node:path';
import type { DeliveryPlan, PlannedFile } from '../../../protocol/delivery.ts';
import { type Adapter, type AdapterPlan, drivenProgram, type Resolved } from '../../adapter.ts';
import { readCells } from '../../cells.ts';
import { dollarBraces, filledServer } from '../../filled-server.ts';
import { machineFiles } from '../../machine-files.ts';
import { describedFile, jsonFile, skillFiles } from '../../markdown-file.ts';
import { modelFamily } from '../../model-family.ts';
import type { DeliveryRequest, PermissionMode, RequestedServer } from '../../request.ts';
import { mentionNotice, slashIsCommand, taskAsJsonLine } from '../../task.ts';
import cells from './cells.json' with { type: 'json' };
import { openStream, reports } from './stream.ts';

const permissionFlags: { readonly [M in PermissionMode]: readonly string[] } = {
  read: ['--disallowed-tools', 'Bash,Edit,Write,MultiEdit,NotebookEdit,WebFetch'],
  edit: ['--permission-mode', 'acceptEdits'],
  all: ['--dangerously-skip-permissions'],
};

const machine = {
  linux: '/etc/claude-code',
  darwin: '/Library/Application Support/ClaudeCode',
  win32: 'C:\\Program Files\\ClaudeCode',
};

/** The harness of the command `claude`. */
export const adapter: Adapter = {
  name: 'claude-code',
  summary: 'Claude Code of Anthropic, the command claude.',
  program: 'claude',
  versionArgv: ['--version'],
  declares: drivenProgram,
  controls: {
    replace: {
      control: '--system-prompt-file',
      transport: 'file',
      lands: 'the last part of the system prompt, whole',
    },
    append: {
      control: '--append-system-prompt-file',
      transport: 'file',
      lands: 'the end of the last part of the system prompt, after a blank line',
    },
    developer: { none: 'it has no message of role developer' },
    context: {
      control: 'CLAUDE.md',
      transport: 'file',
      lands: 'a reminder in the first user message, under a heading of its own',
    },
  },
  dimensions: {
    model: { control: '--model', transport: 'argv' },
    skills: { control: 'skills/NAME/SKILL.md', transport: 'file' },
    mcpServers: { control: '--mcp-config', transport: 'file' },
    permissions: { control: '--permission-mode, --disallowed-tools', transport: 'argv' },
    hooks: { control: '--settings', transport: 'file' },
    subagents: { control: 'agents/NAME.md', transport: 'file' },
    commands: { control: 'commands/NAME.md', transport: 'file' },
    contextFiles: { control: 'rules/NAME.md', transport: 'file' },
    reasoningEffort: { control: '--effort', transport: 'argv' },
    outputTokensMax: { control: 'CLAUDE_CODE_MAX_OUTPUT_TOKENS', transport: 'env' },
    env: { control: 'its environment', transport: 'env' },
    json: { control: '--json-schema', transport: 'argv' },
  },
  models: { anthropic: 'name' },
  family: modelFamily,
  keyVariables: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN'],
  vendorUrl: 'https://api.anthropic.com',
  owns: /^(CLAUDE|ANTHROPIC|DISABLE)_/,
  resume: 'send-again',
  cells: readCells(cells, 'cells of claude-code'),
  loginForVerify,
  plan,
  reports,
  openStream,
};

function plan({ request }: Resolved): AdapterPlan {
  const files = plannedFiles(request);
  return {
    argv: [
      '-p',
      ...['--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose'],
      '--include-partial-messages',
      // Only the home's own files are the user's here; those of the workspace stay out.
      ...['--setting-sources', files.some(({ path }) => path.startsWith('claude/')) ? 'user' : ''],
      '--strict-mcp-config',
      ...controlArgv(request),
      ...dimensionArgv(request),
      ...(request.resume === null ? [] : ['--resume', request.resume]),
    ],
    env: environment(request),
    inherit: ['CLAUDE_CODE_OAUTH_TOKEN'],
    files,
    seeds: [
      {
        from: '.claude/.credentials.json',
        variable: 'CLAUDE_CONFIG_DIR',
        below: '.credentials.json',
        to: 'claude/.credentials.json',
      },
    ],
    ...taskAsJsonLine('claude-code', request.task, slashIsCommand),
    ambient: machineFiles(machine, request.platform, {
      // Its hooks speak in the system prompt.
      'managed-settings.json': 'system',
      'managed-settings.d': 'system',
      'CLAUDE.md': 'beside',
    }),
    notices: mentionNotice('claude-code', request.task),
  };
}

function controlArgv({ intent, home }: DeliveryRequest): readonly string[] {
  const file = join(home, 'prompt.md');
  if (intent === 'replace') return ['--system-prompt-file', file];
  return intent === 'append' ? ['--append-system-prompt-file', file] : [];
}

function dimensionArgv(request: DeliveryRequest): readonly string[] {
  const { model, mcpServers, permissions, hooks, reasoningEffort, json, home } = request;
  return [
    ...(model === undefined ? [] : ['--model', model]),
    ...(mcpServers === undefined ? [] : ['--mcp-config', join(home, 'mcp.json')]),
    ...(permissions === undefined ? [] : permissionFlags[permissions]),
    ...(hooks === undefined ? [] : ['--settings', join(home, 'settings.json')]),
    ...(reasoningEffort === undefined ? [] : ['--effort', reasoningEffort]),
    ...(json === undefined
      ? []
      : ['--json-schema', JSON.stringify(json === true ? { type: 'object' } : json)]),
  ];
}

function environment({ home, baseUrl, outputTokensMax }: DeliveryRequest): DeliveryPlan['env'] {
  return {
    CLAUDE_CONFIG_DIR: join(home, 'claude'),
    // A title is asked of the model with a prompt of its own.
    CLAUDE_CODE_DISABLE_TERMINAL_TITLE: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_ERROR_REPORTING: '1',
    ...(baseUrl === null ? {} : { ANTHROPIC_BASE_URL: baseUrl }),
    ...(outputTokensMax === undefined ? {} : { CLAUDE_CODE_MAX_OUTPUT_TOKENS: String(outputTokensMax) }),
  };
}

function plannedFiles(request: DeliveryRequest): readonly PlannedFile[] {
  const {
    intent,
    text,
    mcpServers,
    hooks,
    skills,
    subagents = [],
    commands = [],
    contextFiles = [],
  } = request;
  const prompt = { path: intent === 'context' ? 'claude/CLAUDE.md' : 'prompt.md', text };
  return [
    { ...prompt, until: 'run' },
    ...(mcpServers === undefined ? [] : [jsonFile('mcp.json', { mcpServers: serversOf(mcpServers) })]),
    ...(hooks === undefined ? [] : [jsonFile('settings.json', { hooks })]),
    ...skillFiles('claude/skills', skills),
    ...subagents.map(({ name, description, text }) =>
      describedFile(`claude/agents/${name}.md`, { name, description }, text),
    ),
    ...commands.map(({ name, description, text }) =>
      describedFile(`claude/commands/${name}.md`, { description }, text),
    ),
    ...contextFiles.map(
      ({ name, text }): PlannedFile => ({ path: `claude/rules/${name}.md`, text, until: 'session' }),
    ),
  ];
}

function serversOf(servers: NonNullable<DeliveryRequest['mcpServers']>) {
  return Object.fromEntries(Object.entries(servers).map(([name, server]) => [name, serverOf(server)]));
}

function serverOf(server: RequestedServer) {
  const filled = filledServer(server, dollarBraces);
  return { type: 'url' in filled ? 'http' : 'stdio', ...filled };
}

/** As `claude` leaves it after `/login`, with tokens that nobody gave out. */
function loginForVerify(): readonly PlannedFile[] {
  const login = {
    claudeAiOauth: {
      accessToken: 'writ-verify',
      refreshToken: 'none',
      expiresAt: 4_102_444_800_000,
      scopes: ['user:inference', 'user:profile'],
      subscriptionType: 'max',
    },
  };
  return [{ path: 'claude/.credentials.json', text: JSON.stringify(login), until: 'session' }];
}
