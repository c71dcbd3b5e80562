/** Gemini CLI: its controls, and the plan of one run of it. */
import { join } from 'node:path';
import type { PlannedFile } from '../../../protocol/delivery.ts';
import { type Adapter, type AdapterPlan, drivenProgram, type Resolved } from '../../adapter.ts';
import { readCells } from '../../cells.ts';
import { dollarBraces, filledServer } from '../../filled-server.ts';
import { machineFiles } from '../../machine-files.ts';
import { jsonFile, skillFiles } from '../../markdown-file.ts';
import { modelFamily } from '../../model-family.ts';
import { refusal } from '../../permit.ts';
import type { DeliveryRequest, PermissionMode, RequestedServer } from '../../request.ts';
import { mentionNotice, taskAsText } from '../../task.ts';
import { type Fault, firstWay, trimmedText } from '../../transport.ts';
import cells from './cells.json' with { type: 'json' };
import { openStream, reports } from './stream.ts';

const routerNotice =
  'Without a model gemini first asks a smaller one which to use, with a prompt of its own.';

const approvals: { readonly [M in PermissionMode]: string } = {
  read: 'default',
  edit: 'auto_edit',
  all: 'yolo',
};

const machine = {
  linux: '/etc/gemini-cli',
  darwin: '/Library/Application Support/GeminiCli',
  win32: 'C:\\ProgramData\\gemini-cli',
};

/** The harness of the command `gemini`. */
export const adapter: Adapter = {
  name: 'gemini',
  summary: 'Gemini CLI of Google, the command gemini.',
  program: 'gemini',
  versionArgv: ['--version'],
  declares: drivenProgram,
  controls: {
    replace: { control: 'GEMINI_SYSTEM_MD', transport: 'file', lands: 'the system instruction, whole' },
    append: { none: 'its memory file is the only text it adds, under headings of its own' },
    developer: { none: 'its protocol has no role developer' },
    context: {
      control: 'GEMINI.md',
      transport: 'file',
      lands: 'the end of the system instruction, inside headings of its own',
    },
  },
  dimensions: {
    model: { control: '--model', transport: 'argv' },
    skills: { control: 'skills/NAME/SKILL.md', transport: 'file' },
    mcpServers: { control: 'mcpServers', transport: 'file' },
    permissions: { control: '--approval-mode', transport: 'argv' },
    env: { control: 'its environment', transport: 'env' },
  },
  models: { google: 'name' },
  family: modelFamily,
  keyVariables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
  vendorUrl: 'https://generativelanguage.googleapis.com',
  owns: /^(GEMINI|GOOGLE)_/,
  resume: 'send-again',
  cells: readCells(cells, 'cells of gemini'),
  plan,
  reports,
  openStream,
};

function plan({ request, control }: Resolved): AdapterPlan {
  const { home, intent, baseUrl, mcpServers = {} } = request;
  const fault = intent === 'replace' ? systemFault : memoryFault;
  firstWay('gemini', 'text', request.text, [{ ...control, fault }]);
  if (intent === 'replace' && request.skills !== undefined) throw skillsGone();
  const servers = Object.keys(mcpServers);
  return {
    argv: [
      ...['--output-format', 'stream-json', '--skip-trust'],
      // Without this a server starts and its tools are not shown; with a name that none bears nothing of others is.
      ...['--allowed-mcp-server-names', servers.length === 0 ? 'none' : servers.join(',')],
      ...(request.model === undefined ? [] : ['--model', request.model]),
      ...(request.permissions === undefined ? [] : ['--approval-mode', approvals[request.permissions]]),
      ...(request.resume === null ? [] : ['--resume', request.resume]),
    ],
    env: {
      GEMINI_CLI_HOME: home,
      // Set in every case, so that no file of the workspace can set it.
      GEMINI_SYSTEM_MD: intent === 'replace' ? join(home, 'prompt.md') : '0',
      GEMINI_CLI_NO_RELAUNCH: 'true',
      ...(baseUrl === null ? {} : { GOOGLE_GEMINI_BASE_URL: baseUrl }),
    },
    files: plannedFiles(request),
    seeds: ['oauth_creds.json', 'google_accounts.json'].map((file) => ({
      from: `.gemini/${file}`,
      variable: 'GEMINI_CLI_HOME',
      below: `.gemini/${file}`,
      to: `.gemini/${file}`,
    })),
    ...taskAsText('gemini', request.task, () => null),
    ambient: [
      { path: 'GEMINI.md', where: 'upward', touches: 'beside' },
      ...machineFiles(machine, request.platform, {
        'settings.json': 'beside',
        'system-defaults.json': 'beside',
      }),
    ],
    residue: ['a list of the files of the workspace, in the first user message'],
    notices: [
      ...mentionNotice('gemini', request.task),
      ...(request.model === undefined ? [routerNotice] : []),
    ],
  };
}

function plannedFiles(request: DeliveryRequest): readonly PlannedFile[] {
  const { intent, text, skills } = request;
  return [
    { path: intent === 'replace' ? 'prompt.md' : '.gemini/GEMINI.md', text, until: 'run' },
    jsonFile('.gemini/settings.json', settings(request)),
    ...skillFiles('.gemini/skills', skills),
  ];
}

// It lists skills in its own system prompt alone, and would find them and say nothing of them.
function skillsGone() {
  return refusal(
    'deliver.dimension-unsupported',
    'gemini tells of skills only in the prompt that is replaced.',
    {
      harness: 'gemini',
      field: 'skills',
      requirement: 'that the model is told of each skill',
      alternative: 'the context intent, or a request without skills',
      able: [],
    },
  );
}

/** What it does to a system prompt, its own or ours, before it sends it. */
function promptFault(text: string): Fault | null {
  if (text !== text.trim())
    return { ...content('it takes off the blanks and line ends at both ends'), instead: trimmedText };
  if (/\n{3,}/.test(text)) return content('it makes one of several blank lines');
  return null;
}

/** It fills in names of its own where they stand in a system prompt. */
function systemFault(text: string): Fault | null {
  return /\$\{(AgentSkills|SubAgents|AvailableTools|\w+_ToolName)\}/.test(text)
    ? content('it fills in names of its own that stand behind a dollar sign')
    : promptFault(text);
}

/** Its memory takes a word behind an at sign for a file, and puts that file's text in its place. */
function memoryFault(text: string): Fault | null {
  return /(^|\s)@\S/.test(text)
    ? content('it takes a word behind an at sign for an import')
    : promptFault(text);
}

function content(why: string): Fault {
  return { kind: 'content', why };
}

function settings({ authMode, mcpServers = {} }: DeliveryRequest) {
  return {
    security: {
      auth: { selectedType: authMode === 'api-key' ? 'gemini-api-key' : 'oauth-personal' },
    },
    privacy: { usageStatisticsEnabled: false },
    general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
    // An .env of the workspace could send the requests elsewhere.
    advanced: { ignoreLocalEnv: true },
    mcpServers: Object.fromEntries(
      Object.entries(mcpServers).map(([name, server]) => [name, serverOf(server)]),
    ),
  };
}

function serverOf(server: RequestedServer) {
  const filled = filledServer(server, dollarBraces);
  return 'url' in filled ? { httpUrl: filled.url, headers: filled.headers } : filled;
}
