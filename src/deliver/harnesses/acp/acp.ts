/** An agent of the Agent Client Protocol: the request names the command, and a session's parameters carry the text. */
import type { McpServer, NewSessionRequest } from '@agentclientprotocol/sdk';
import type { AcpTurn } from '../../../protocol/delivery.ts';
import type { Adapter, AdapterPlan, Resolved } from '../../adapter.ts';
import { readCells } from '../../cells.ts';
import type { DeliverError } from '../../errors.ts';
import { modelFamily } from '../../model-family.ts';
import { refusal } from '../../permit.ts';
import type { DeliveryRequest, RequestedServer } from '../../request.ts';
import cells from './cells.json' with { type: 'json' };

// The protocol has no field for instructions. Some agents take them from here; any other lets it pass without a word,
// so only a measurement of the agent itself lets it be used.
const meta = { control: '_meta.systemPrompt', transport: 'request', silent: true } as const;

/** Any agent that speaks the protocol, version 1, over its standard streams. */
export const adapter: Adapter = {
  name: 'acp',
  summary: 'Any agent of the Agent Client Protocol, by its command; each is measured by itself.',
  program: null,
  versionArgv: ['--version'],
  declares: { budget: 'none', approval: 'none', effects: 'observed', resume: 'none', cancel: 'observed' },
  controls: {
    replace: { ...meta, lands: 'where the agent puts it' },
    append: { ...meta, lands: 'where the agent puts it, behind its own prompt' },
    developer: { none: 'the protocol has no message of role developer' },
    context: { none: 'the protocol has no surface of project instructions' },
  },
  dimensions: {
    mcpServers: { control: 'mcpServers of session/new', transport: 'request' },
    env: { control: 'its environment', transport: 'env' },
    agent: { control: 'the command itself', transport: 'argv' },
  },
  models: {},
  family: modelFamily,
  keyVariables: [],
  redirects: false,
  owns: /^$/,
  resume: 'none',
  cells: readCells(cells, 'cells of acp'),
  plan,
  // The SDK takes a while to load, which only a turn pays.
  converse: async (turn, conversation) => (await import('./converse.ts')).converse(turn, conversation),
};

function plan({ request }: Resolved): AdapterPlan {
  const [program, ...argv] = request.agent ?? [];
  if (program === undefined) throw new TypeError('No measurement is of an agent without a command.');
  return {
    program,
    argv,
    env: request.baseUrl === null ? {} : elsewhere(request.baseUrl),
    acp: turnOf(request),
    task: { control: 'session/prompt', transport: 'request' },
    residue: ['all that the agent reads on its own: nothing of the protocol keeps it out'],
  };
}

/** The protocol says nothing of model servers; these are the variables that the vendors' own clients read. */
function elsewhere(baseUrl: string) {
  const url = baseUrl.replace(/\/$/, '');
  return {
    ANTHROPIC_BASE_URL: url,
    GOOGLE_GEMINI_BASE_URL: url,
    OPENAI_BASE_URL: url.endsWith('/v1') ? url : `${url}/v1`,
  };
}

function turnOf({ intent, text, workspace, mcpServers = {}, task }: DeliveryRequest): AcpTurn {
  const session = {
    cwd: workspace,
    mcpServers: Object.entries(mcpServers).map(([name, server]) => serverOf(name, server)),
    _meta: { systemPrompt: intent === 'append' ? { append: text } : text },
  } satisfies NewSessionRequest;
  return { session, prompt: task };
}

function serverOf(name: string, server: RequestedServer) {
  const pairs = (values: Readonly<Record<string, string>> = {}) =>
    Object.entries(values).map(([name, value]) => ({ name, value }));
  if (!('command' in server)) {
    if (server.keyEnv !== undefined) throw secretInMessage(name, [server.keyEnv]);
    return { type: 'http', name, url: server.url, headers: pairs(server.headers) } satisfies McpServer;
  }
  const { command, args = [], env, envFrom = [] } = server;
  if (envFrom.length > 0) throw secretInMessage(name, envFrom);
  return { name, command, args: [...args], env: pairs(env) } satisfies McpServer;
}

// The protocol carries values only, and what it carries is stored by agents and shown in their logs.
function secretInMessage(server: string, names: readonly string[]): DeliverError {
  return refusal(
    'deliver.dimension-unsupported',
    `acp would have to write ${names.join(', ')} of the MCP server ${server} into its message.`,
    {
      harness: 'acp',
      field: 'mcpServers',
      requirement: 'that no secret is written into a message',
      alternative: 'a server that needs no variable of the caller',
      able: [],
    },
  );
}
