/** What every adapter is tested with: requests, a cell that lets one pass, and the text that a plan carries. */
import type { Cell, DeliveryPlan, Dimension } from '../protocol/delivery.ts';
import { type Intent, intents } from '../protocol/intent.ts';
import type { Adapter } from './adapter.ts';
import { cellVersion } from './agent-version.ts';
import { isControl } from './permit.ts';
import type { DeliveryRequest, RequestedDimensions } from './request.ts';

export const sampleRequest: DeliveryRequest = {
  intent: 'replace',
  fidelity: 'base',
  text: 'You are the canary.',
  task: 'Say hello.',
  version: '1.0.0',
  authMode: 'api-key',
  home: '/nowhere/home',
  workspace: '/nowhere/workspace',
  platform: 'linux',
  resume: null,
  baseUrl: null,
};

/** The request that an adapter takes: one that starts a command of the caller's needs the command. */
export function requestFor(adapter: Adapter, changes: Partial<DeliveryRequest> = {}): DeliveryRequest {
  const agent = adapter.dimensions.agent === undefined ? {} : { agent: ['some-agent', '--acp'] };
  const asked = { ...sampleRequest, ...agent, ...changes };
  if ('version' in changes) return asked;
  return { ...asked, version: cellVersion(adapter, asked.agent, sampleRequest.version) };
}

/** A measurement that lets the adapter's control pass, in the state of the request. */
export function cellFor(adapter: Adapter, request: DeliveryRequest, changes: Partial<Cell> = {}): Cell {
  const row = adapter.controls[request.intent];
  return {
    harness: adapter.name,
    version: request.version ?? '1.0.0',
    modelFamily: adapter.family(request.model ?? null),
    authMode: request.authMode,
    intent: request.intent,
    fidelity: request.fidelity,
    control: isControl(row) ? row.control : 'none',
    delivered: true,
    position: { field: 'system', role: 'system', index: 0 },
    residue: { bytes: 0, firstWords: '' },
    builtInBytes: null,
    byteEquality: true,
    altered: [],
    date: '2026-01-02',
    ...changes,
  };
}

export function intentsOf(adapter: Adapter): readonly Intent[] {
  return intents.filter((intent) => isControl(adapter.controls[intent]));
}

/** A value with a canary for each dimension. */
export const sampleDimensions: Required<RequestedDimensions> = {
  model: 'canary-model',
  tools: ['sql_query'],
  skills: [{ name: 'canary-skill', description: 'When the canary sings.', text: 'Sing.\n' }],
  mcpServers: { canary: { command: 'canary-server', args: ['--x'] } },
  permissions: 'read',
  hooks: { Stop: [{ hooks: [{ type: 'command', command: 'canary-hook' }] }] },
  subagents: [{ name: 'canary-agent', description: 'Sings.', text: 'Sing.\n' }],
  commands: [{ name: 'canary-command', description: 'Sings.', text: 'Sing.\n' }],
  contextFiles: [{ name: 'canary-context', text: 'The canary is yellow.\n' }],
  reasoningEffort: 'low',
  temperature: 0.25,
  outputTokensMax: 4321,
  env: { CANARY: 'yellow' },
  json: { type: 'object', properties: { canary: { type: 'string' } } },
  agent: ['canary-agent'],
};

export function withDimension(dimension: Dimension): Partial<DeliveryRequest> {
  return { [dimension]: sampleDimensions[dimension] };
}

/** Every text that the harness would be given as instructions, decoded the way the harness itself decodes it. */
export function carriedTexts(plan: DeliveryPlan): readonly string[] {
  const files = plan.files.flatMap(({ path, text }) => {
    if (path.endsWith('opencode.json')) return stringsIn(JSON.parse(filledIn(text)));
    if (path.endsWith('config.toml'))
      return [...text.matchAll(/ = (".*")$/gm)].map(([, value = '']) => JSON.parse(value));
    return [text];
  });
  const flags = plan.argv.map((word) => word.replace(/^--append-system-prompt=/, ''));
  return [...files, ...flags, ...stringsIn(plan.acp?.session ?? null)];
}

// What opencode does to its configuration before it reads it as JSON.
function filledIn(text: string): string {
  return text.replaceAll(/\{(env|file):([^}]*)\}/g, 'FILLED');
}

function stringsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}
