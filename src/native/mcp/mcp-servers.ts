/** The MCP servers of an agent: started together, their tools in an order that no start decides, ended together. */
import type { McpServer } from '../../compose/agent.ts';
import { messageOf } from '../../errors.ts';
import type { Secret } from '../../ledger/secrets.ts';
import { isLoopback } from '../model/base-url.ts';
import type { Tool } from '../tool/tool.ts';
import { type Connection, connect } from './connection.ts';
import { McpError } from './errors.ts';
import { mcpTool } from './mcp-tool.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface McpServersOptions {
  /** By name. */
  readonly servers: ReadonlyMap<string, McpServer>;
  /** The folder in which processes start. */
  readonly cwd: string;
  readonly env: Environment;
  /** Aborting it ends a start. */
  readonly signal?: AbortSignal;
  /** Takes known secrets out of what servers said. */
  readonly redact?: (text: string) => string;
  /** How long one server may take until it is ready; 30 seconds unless given. */
  readonly startTimeoutMs?: number;
}

export interface McpServers {
  /** Sorted by server, then by tool. */
  readonly tools: readonly Tool[];
  /** One sentence for each tool that cannot be shown to a model. */
  readonly notices: readonly string[];
  /** Ends every session and process. Safe to call twice. */
  close(): Promise<void>;
}

/** What every process gets where it is set: enough to find and start programs, and nothing that opens a door. */
const ordinary = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TMPDIR'] as const;

/**
 * The values that the servers are given by name, so that they can be kept out of the record. Throws `mcp.no-variable` for
 * a variable that is not set.
 */
export function mcpSecrets(servers: ReadonlyMap<string, McpServer>, env: Environment): readonly Secret[] {
  return [...servers].flatMap(([server, settings]) =>
    variablesOf(settings)
      .filter((name) => !ordinary.some((one) => one === name))
      .map((name) => ({ name, value: variable(server, name, env) })),
  );
}

/**
 * Starts all servers. Throws `mcp.bad-url`, `mcp.no-variable`, `mcp.start-failed`, `mcp.start-timeout` or
 * `mcp.name-clash`, and leaves no server running then.
 */
export async function openMcpServers(options: McpServersOptions): Promise<McpServers> {
  const { servers, env, cwd, signal, redact = (text) => text, startTimeoutMs = 30_000 } = options;
  const sorted = [...servers].sort(([a], [b]) => (a < b ? -1 : 1));
  const starts = sorted.map(([name, server]) => {
    const shared = { name, cwd, redact, startTimeoutMs };
    if ('url' in server) {
      mustBeSafe(name, server.url);
      const token = server.keyEnv === undefined ? undefined : variable(name, server.keyEnv, env);
      return { ...shared, server, env: {}, token };
    }
    return { ...shared, server, env: environmentOf(name, server, env) };
  });
  const started = await Promise.allSettled(starts.map((start) => connect(start, signal)));
  const connections = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const close = async () => {
    await Promise.all(connections.map((connection) => connection.close()));
  };
  try {
    for (const one of started) if (one.status === 'rejected') throw one.reason;
    return { ...toolsOf(sorted, connections), close };
  } catch (fault) {
    await close();
    throw fault;
  }
}

function toolsOf(
  servers: readonly (readonly [string, McpServer])[],
  connections: readonly Connection[],
): Pick<McpServers, 'tools' | 'notices'> {
  const tools: Tool[] = [];
  const notices: string[] = [];
  const origins = new Map<string, string>();
  for (const [i, connection] of connections.entries()) {
    const [name, { reads = [] }] = servers[i] ?? ['', {}];
    const named = [...connection.definitions()].sort(([a], [b]) => (a < b ? -1 : 1));
    for (const [toolName, definition] of named) {
      const origin = `${toolName} of ${name}`;
      let tool: Tool;
      try {
        tool = mcpTool(name, definition, connection, reads);
      } catch (fault) {
        notices.push(`The MCP tool ${origin} is left out: ${messageOf(fault)}`);
        continue;
      }
      const twin = origins.get(tool.schema.name);
      if (twin !== undefined) throw clash(tool.schema.name, twin, origin);
      origins.set(tool.schema.name, origin);
      tools.push(tool);
    }
  }
  return { tools, notices };
}

function clash(name: string, one: string, other: string): McpError {
  return new McpError('mcp.name-clash', `The MCP tools ${one} and ${other} would both be called '${name}'.`, {
    next: 'Give one of the servers another name in agent.yaml.',
    details: { tool: name },
  });
}

function variablesOf(server: McpServer): readonly string[] {
  if ('command' in server) return server.env ?? [];
  return server.keyEnv === undefined ? [] : [server.keyEnv];
}

function environmentOf(server: string, settings: McpServer, env: Environment): Record<string, string> {
  const shared = ordinary.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const]));
  const named = variablesOf(settings).map((name) => [name, variable(server, name, env)] as const);
  return Object.fromEntries([...shared, ...named]);
}

function variable(server: string, name: string, env: Environment): string {
  const value = env[name];
  if (value !== undefined && value !== '') return value;
  throw new McpError(
    'mcp.no-variable',
    `The MCP server '${server}' needs the variable ${name}, which is not set.`,
    {
      next: `Set ${name}, or take it out of agent.yaml.`,
      details: { server, variable: name },
    },
  );
}

function mustBeSafe(server: string, given: string): void {
  const url = URL.canParse(given) ? new URL(given) : null;
  const wrong =
    url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')
      ? 'no http or https address'
      : url.username !== '' || url.password !== ''
        ? 'an address with credentials in it'
        : url.protocol === 'http:' && !isLoopback(url.hostname)
          ? `plain http to ${url.host}, which is not this machine`
          : undefined;
  if (wrong === undefined) return;
  throw new McpError(
    'mcp.bad-url',
    `The url of the MCP server '${server}' should be https, and is ${wrong}.`,
    {
      next: 'Use https, http on this machine only, and keyEnv for the token.',
      details: { server },
    },
  );
}
