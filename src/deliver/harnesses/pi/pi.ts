/** pi: its controls, and the plan of one run of it. */
import { join } from 'node:path';
import type { PlannedFile } from '../../../protocol/delivery.ts';
import { type Adapter, type AdapterPlan, drivenProgram, type Resolved } from '../../adapter.ts';
import { readCells } from '../../cells.ts';
import { jsonFile, skillFiles } from '../../markdown-file.ts';
import { modelFamily } from '../../model-family.ts';
import type { DeliveryRequest, PermissionMode } from '../../request.ts';
import { argumentFault, firstWay, type Way } from '../../transport.ts';
import cells from './cells.json' with { type: 'json' };
import { openStream, reports } from './stream.ts';

const toolFlags: { readonly [M in PermissionMode]: readonly string[] } = {
  read: ['--tools', 'read,grep,find,ls'],
  edit: ['--tools', 'read,grep,find,ls,edit,write'],
  all: [],
};

/** The harness of the command `pi`. */
export const adapter: Adapter = {
  name: 'pi',
  summary: 'The coding agent pi, the command pi.',
  program: 'pi',
  versionArgv: ['--version'],
  declares: drivenProgram,
  controls: {
    replace: {
      control: '--system-prompt',
      transport: 'file',
      lands: 'the start of the system message',
    },
    append: {
      control: '--append-system-prompt',
      transport: 'file',
      lands: 'the system message, before its lines of date and folder',
    },
    developer: { none: 'it has no message of its own beside the system prompt' },
    context: { none: 'its project files can only be read together with those of the workspace' },
  },
  dimensions: {
    model: { control: '--model', transport: 'argv' },
    skills: { control: '--skill', transport: 'file' },
    permissions: { control: '--tools', transport: 'argv' },
    env: { control: 'its environment', transport: 'env' },
  },
  models: {
    anthropic: 'provider/name',
    google: 'provider/name',
    openai: 'provider/name',
    openrouter: 'provider/name',
  },
  family: modelFamily,
  keyVariables: ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'GEMINI_API_KEY', 'OPENROUTER_API_KEY'],
  owns: /^PI_/,
  resume: 'send-again',
  cells: readCells(cells, 'cells of pi'),
  plan,
  reports,
  openStream,
};

function plan({ request }: Resolved): AdapterPlan {
  const { home, intent, task, resume, platform } = request;
  const way = firstWay('pi', 'task', task, taskWays(platform));
  // Given even where there is nothing to add: else the workspace's own file would be taken.
  const addition = intent === 'append' ? join(home, 'prompt.md') : '';
  return {
    argv: [
      ...['--print', '--mode', 'json', '--offline'],
      ...['--no-context-files', '--no-skills', '--no-extensions', '--no-prompt-templates'],
      ...['--session-dir', join(home, 'sessions')],
      ...(intent === 'replace' ? ['--system-prompt', join(home, 'prompt.md')] : []),
      ...['--append-system-prompt', addition],
      ...dimensionArgv(request),
      ...(resume === null ? [] : ['--session', resume]),
      ...(way.transport === 'argv' ? [task] : []),
    ],
    env: { PI_CODING_AGENT_DIR: join(home, 'pi') },
    files: plannedFiles(request),
    seeds: [
      {
        from: '.pi/agent/auth.json',
        variable: 'PI_CODING_AGENT_DIR',
        below: 'auth.json',
        to: 'pi/auth.json',
      },
    ],
    stdin: way.transport === 'stdin' ? task : null,
    task: way,
    ambient: [
      ...(intent === 'replace'
        ? []
        : [{ path: '.pi/SYSTEM.md', where: 'workspace', touches: 'system' } as const]),
      { path: '.pi/settings.json', where: 'workspace', touches: 'beside' },
    ],
    residue: ['lines that say the date and the folder, at the end of the system message'],
  };
}

/** From stdin it takes off blank ends; of an argument it takes a dash for an option and an at sign for a file. */
function taskWays(platform: NodeJS.Platform): readonly Way[] {
  return [
    {
      control: 'stdin',
      transport: 'stdin',
      fault: (task) =>
        task === task.trim() ? null : { kind: 'content', why: 'it takes off the blanks at both ends' },
    },
    {
      control: 'the last argument',
      transport: 'argv',
      fault: (task) =>
        /^[-@]/.test(task)
          ? { kind: 'content', why: 'it takes a leading dash or at sign for its own' }
          : argumentFault(task, platform),
    },
  ];
}

function dimensionArgv({ model, baseUrl, ...request }: DeliveryRequest): readonly string[] {
  const { home, skills = [], permissions } = request;
  return [
    // Without a model's name it would leave the provider aside and go to its own.
    ...(baseUrl === null ? [] : ['--provider', 'writ', '--model', model ?? 'default']),
    ...(baseUrl === null && model !== undefined ? ['--model', model] : []),
    ...skills.flatMap(({ name }) => ['--skill', join(home, 'skills', name)]),
    ...(permissions === undefined ? [] : toolFlags[permissions]),
  ];
}

function plannedFiles({ text, skills, baseUrl, model }: DeliveryRequest): readonly PlannedFile[] {
  return [
    { path: 'prompt.md', text, until: 'run' },
    ...skillFiles('skills', skills),
    ...(baseUrl === null ? [] : [jsonFile('pi/models.json', modelsOf(baseUrl, model ?? 'default'))]),
  ];
}

function modelsOf(baseUrl: string, id: string) {
  // It reads the key from the variable of this name.
  return {
    providers: {
      writ: { baseUrl, api: 'openai-completions', apiKey: 'OPENAI_API_KEY', models: [{ id }] },
    },
  };
}
