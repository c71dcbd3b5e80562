/** Codex: its controls, and the plan of one run of it. */
import { join } from 'node:path';
import type { PlannedFile } from '../../../protocol/delivery.ts';
import { type Adapter, type AdapterPlan, drivenProgram, type Resolved } from '../../adapter.ts';
import { readCells } from '../../cells.ts';
import { machineFiles } from '../../machine-files.ts';
import { skillFiles } from '../../markdown-file.ts';
import { modelFamily } from '../../model-family.ts';
import { refusal } from '../../permit.ts';
import type { DeliveryRequest, PermissionMode, RequestedServer } from '../../request.ts';
import { dropsByteOrderMark, taskAsText } from '../../task.ts';
import cells from './cells.json' with { type: 'json' };
import { configToml } from './config-toml.ts';
import { openStream, reports } from './stream.ts';

const sandboxes: { readonly [M in PermissionMode]: string } = {
  read: 'read-only',
  edit: 'workspace-write',
  all: 'danger-full-access',
};

const machine = {
  linux: '/etc/codex',
  darwin: '/etc/codex',
  win32: 'C:\\ProgramData\\OpenAI\\Codex',
};

/** Of a file of project instructions it reads this much and silently drops the rest. */
const contextBytesMax = 32_768;

/** The harness of the command `codex`. */
export const adapter: Adapter = {
  name: 'codex',
  summary: 'Codex of OpenAI, the command codex.',
  program: 'codex',
  versionArgv: ['--version'],
  declares: drivenProgram,
  controls: {
    replace: {
      // A file named by model_instructions_file would lose blank lines at its ends, and could not be empty.
      control: 'instructions',
      transport: 'file',
      lands: 'a developer message in the place of the base prompt, whole',
    },
    append: { none: 'what it adds becomes a developer message beside the system prompt' },
    developer: {
      control: 'developer_instructions',
      transport: 'file',
      lands: 'a part of its own in the developer message',
    },
    context: {
      control: 'AGENTS.md',
      transport: 'file',
      lands: 'a user message, under a heading of its own',
    },
  },
  dimensions: {
    model: { control: 'model', transport: 'file' },
    skills: { control: 'skills/NAME/SKILL.md', transport: 'file' },
    mcpServers: { control: 'mcp_servers.NAME', transport: 'file' },
    permissions: { control: 'sandbox_mode', transport: 'file' },
    contextFiles: { control: 'AGENTS.md', transport: 'file' },
    reasoningEffort: { control: 'model_reasoning_effort', transport: 'file' },
    env: { control: 'its environment', transport: 'env' },
    json: { control: '--output-schema', transport: 'file' },
  },
  models: { openai: 'name' },
  family: modelFamily,
  keyVariables: ['OPENAI_API_KEY', 'CODEX_API_KEY'],
  vendorUrl: 'https://api.openai.com/v1',
  loginUrl: 'https://chatgpt.com/backend-api/codex',
  owns: /^(CODEX|OPENAI)_/,
  resume: 'kept',
  cells: readCells(cells, 'cells of codex'),
  loginForVerify,
  plan,
  reports,
  openStream,
};

function plan({ request }: Resolved): AdapterPlan {
  const { home, resume, json } = request;
  const schema = json === undefined ? [] : ['--output-schema', join(home, 'schema.json')];
  return {
    argv: [
      'exec',
      ...(resume === null ? [] : ['resume']),
      '--json',
      '--skip-git-repo-check',
      ...schema,
      ...(resume === null ? [] : [resume]),
      // The task is read from stdin, where nothing is taken for an option.
      '-',
    ],
    env: { CODEX_HOME: join(home, 'codex') },
    files: plannedFiles(request),
    seeds: [{ from: '.codex/auth.json', variable: 'CODEX_HOME', below: 'auth.json', to: 'codex/auth.json' }],
    ...taskAsText('codex', request.task, dropsByteOrderMark),
    // One takes our place, the other speaks where we are silent.
    ambient: machineFiles(machine, request.platform, {
      'managed_config.toml': 'system',
      'config.toml': 'system',
    }),
    residue: ['permissions and other developer messages of its own'],
  };
}

function plannedFiles(request: DeliveryRequest): readonly PlannedFile[] {
  const { intent, text, resume, json, skills } = request;
  // What it was told at the start it keeps; told again, the text would stand twice.
  const first = resume === null;
  const replace = first && intent === 'replace';
  const developer = first && intent === 'developer';
  const config = configToml(
    {
      ...(replace ? { instructions: text } : {}),
      ...(developer ? { developer_instructions: text } : {}),
      ...settings(request),
    },
    tables(request),
  );
  return [
    { path: 'codex/config.toml', text: config, until: 'run' },
    ...contextFile(request),
    ...skillFiles('codex/skills', skills),
    ...(json === undefined ? [] : [schemaFile(json)]),
  ];
}

function settings({ model, permissions, reasoningEffort, baseUrl, json }: DeliveryRequest) {
  if (json === true)
    throw refusal('deliver.dimension-unsupported', 'codex takes a schema of the answer, not any object.', {
      harness: 'codex',
      field: 'json',
      requirement: 'a native way to ask for any JSON object',
      alternative: 'a schema under json',
      able: [],
    });
  return {
    // Files of the project stay out; those of our own home are not counted by this.
    project_doc_max_bytes: 0,
    check_for_update_on_startup: false,
    ...(baseUrl === null ? {} : { model_provider: 'writ' }),
    ...(model === undefined ? {} : { model }),
    ...(permissions === undefined ? {} : { sandbox_mode: sandboxes[permissions] }),
    ...(reasoningEffort === undefined ? {} : { model_reasoning_effort: reasoningEffort }),
  };
}

function tables({ baseUrl, authMode, skills, mcpServers = {} }: DeliveryRequest) {
  const provider = {
    name: 'writ',
    base_url: baseUrl ?? '',
    ...(authMode === 'login' ? { requires_openai_auth: true } : { env_key: 'OPENAI_API_KEY' }),
    wire_api: 'responses',
  };
  return {
    // Without a network each run would wait for its statistics to be taken.
    analytics: { enabled: false },
    skills: { include_instructions: skills !== undefined },
    ...(baseUrl === null ? {} : { 'model_providers.writ': provider }),
    ...Object.fromEntries(
      Object.entries(mcpServers).map(([name, server]) => [
        `mcp_servers.${serverKey(name)}`,
        serverOf(server),
      ]),
    ),
  };
}

// It drops a name that needs quotes without a word.
function serverKey(name: string): string {
  if (/^[A-Za-z0-9_-]+$/.test(name)) return name;
  throw refusal('deliver.dimension-unsupported', `codex drops an MCP server that is named ${name}.`, {
    harness: 'codex',
    field: 'mcpServers',
    requirement: 'a name of letters, digits, dashes and underscores',
    alternative: 'another name for the server',
    able: [],
  });
}

function serverOf(server: RequestedServer) {
  if (!('command' in server)) {
    const { url, headers = {}, keyEnv } = server;
    return { url, http_headers: headers, ...(keyEnv === undefined ? {} : { bearer_token_env_var: keyEnv }) };
  }
  const { command, args = [], env = {}, envFrom = [] } = server;
  return { command, args, env, env_vars: envFrom };
}

function contextFile({ intent, text, contextFiles = [] }: DeliveryRequest): readonly PlannedFile[] {
  const texts = [...(intent === 'context' ? [text] : []), ...contextFiles.map((file) => file.text)];
  if (texts.length === 0) return [];
  const whole = texts.join('\n\n');
  const bytes = Buffer.byteLength(whole);
  if (bytes > contextBytesMax)
    throw refusal(
      'deliver.too-large',
      `AGENTS.md would have ${bytes} bytes, and codex reads ${contextBytesMax}; ${bytes - contextBytesMax} would be lost.`,
      {
        harness: 'codex',
        field: intent === 'context' ? 'text' : 'contextFiles',
        requirement: 'every byte as it is',
        alternative: 'the developer intent, or a shorter text',
        able: [],
      },
    );
  return [{ path: 'codex/AGENTS.md', text: whole, until: 'run' }];
}

function schemaFile(json: NonNullable<DeliveryRequest['json']>): PlannedFile {
  return { path: 'schema.json', text: JSON.stringify(json), until: 'run' };
}

/** As `codex login` leaves it, with tokens that nobody signed. */
function loginForVerify(): readonly PlannedFile[] {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = {
    exp: 4_102_444_800,
    'https://api.openai.com/auth': { chatgpt_plan_type: 'pro', chatgpt_account_id: 'writ-verify' },
  };
  const token = `${part({ alg: 'none' })}.${part(claims)}.none`;
  const login = {
    auth_mode: 'chatgpt',
    OPENAI_API_KEY: null,
    tokens: { id_token: token, access_token: token, refresh_token: 'none', account_id: 'writ-verify' },
    last_refresh: '2100-01-01T00:00:00Z',
  };
  return [{ path: 'codex/auth.json', text: JSON.stringify(login), until: 'session' }];
}
