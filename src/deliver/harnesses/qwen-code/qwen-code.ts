/** Qwen Code: its controls, and the plan of one run of it. */
import { join } from 'node:path';
import { type Adapter, type AdapterPlan, drivenProgram, type Resolved } from '../../adapter.ts';
import { readCells } from '../../cells.ts';
import { jsonFile } from '../../markdown-file.ts';
import { modelFamily } from '../../model-family.ts';
import type { DeliveryRequest, PermissionMode } from '../../request.ts';
import { mentionNotice, slashIsCommand, taskAsJsonLine } from '../../task.ts';
import { argumentFault, firstWay } from '../../transport.ts';
import cells from './cells.json' with { type: 'json' };
import { openStream, reports } from './stream.ts';

const approvals: { readonly [M in PermissionMode]: string } = {
  read: 'default',
  edit: 'auto-edit',
  all: 'yolo',
};

/** The harness of the command `qwen`. */
export const adapter: Adapter = {
  name: 'qwen-code',
  summary: 'Qwen Code of Alibaba, the command qwen.',
  program: 'qwen',
  versionArgv: ['--version'],
  declares: drivenProgram,
  controls: {
    replace: { control: 'QWEN_SYSTEM_MD', transport: 'file', lands: 'the start of the system message' },
    append: {
      control: '--append-system-prompt',
      transport: 'argv',
      lands: 'the end of the system message, after a line of three dashes',
    },
    developer: { none: 'it has no message of its own beside the system message' },
    context: { none: 'kept apart from the workspace it reads no context files at all' },
  },
  dimensions: {
    model: { control: '--model', transport: 'argv' },
    permissions: { control: '--approval-mode', transport: 'argv' },
    env: { control: 'its environment', transport: 'env' },
  },
  models: { openai: 'name' },
  family: modelFamily,
  keyVariables: ['OPENAI_API_KEY'],
  owns: /^(QWEN|OPENAI)_/,
  resume: 'send-again',
  cells: readCells(cells, 'cells of qwen-code'),
  plan,
  reports,
  openStream,
};

function plan({ request, control }: Resolved): AdapterPlan {
  const { home, intent, text, model, permissions, resume, baseUrl, authMode, platform } = request;
  if (intent === 'append')
    firstWay('qwen-code', 'text', text, [
      { ...control, fault: (addition) => argumentFault(addition, platform) },
    ]);
  return {
    argv: [
      // Its own files, servers and memory and those of the workspace stay out.
      '--bare',
      ...['--input-format', 'stream-json', '--output-format', 'stream-json', '--include-partial-messages'],
      ...['--auth-type', authMode === 'api-key' ? 'openai' : 'qwen-oauth'],
      // Joined to its flag, so that a leading dash is not taken for another.
      ...(intent === 'append' ? [`--append-system-prompt=${text}`] : []),
      ...(model === undefined ? [] : ['--model', model]),
      ...(permissions === undefined ? [] : ['--approval-mode', approvals[permissions]]),
      ...(resume === null ? [] : ['--resume', resume]),
    ],
    env: {
      QWEN_HOME: join(home, 'qwen'),
      // Set in every case, so that no file of the workspace can set it.
      QWEN_SYSTEM_MD: intent === 'replace' ? join(home, 'prompt.md') : '0',
      QWEN_CODE_NO_RELAUNCH: 'true',
      ...(baseUrl === null ? {} : { OPENAI_BASE_URL: baseUrl }),
    },
    inherit: [...(baseUrl === null ? ['OPENAI_BASE_URL'] : []), 'OPENAI_MODEL'],
    files: plannedFiles(request),
    seeds: [
      {
        from: '.qwen/oauth_creds.json',
        variable: 'QWEN_HOME',
        below: 'oauth_creds.json',
        to: 'qwen/oauth_creds.json',
      },
    ],
    // As plain text it would get blank lines behind it.
    ...taskAsJsonLine('qwen-code', request.task, slashIsCommand),
    notices: mentionNotice('qwen-code', request.task),
    residue: ['a list of the files of the workspace, in the first user message'],
  };
}

function plannedFiles({ intent, text }: DeliveryRequest) {
  return [
    ...(intent === 'replace' ? [{ path: 'prompt.md', text, until: 'run' } as const] : []),
    jsonFile('qwen/settings.json', {
      privacy: { usageStatisticsEnabled: false },
      // It would ask the model a second time after the answer, and count that as the answer's tokens.
      memory: { enableManagedAutoMemory: false, enableManagedAutoDream: false },
      general: { disableAutoUpdate: true, disableUpdateNag: true },
    }),
  ];
}
