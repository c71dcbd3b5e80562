/** The code that an agent folder brings, opened once it is trusted: its tools, and its MCP servers. */
import { join } from 'node:path';
import type { McpServer } from '../../compose/agent.ts';
import { redactor, type Secret } from '../../ledger/secrets.ts';
import type { Tool } from '../../native/tool/tool.ts';
import type { Context } from '../context.ts';
import type { Origin } from '../run/origin.ts';
import { loadOwnTool } from './own-tools.ts';
import { copyPrivately, type PrivateCopy, readToolFiles } from './tool-files.ts';
import { type Consent, mustBeTrusted } from './trust.ts';

export interface OpenedCode {
  /** By the name under which agent.yaml asks for them. */
  readonly own: ReadonlyMap<string, readonly Tool[]>;
  /** In their order. */
  readonly mcp: readonly Tool[];
  /** Values of variables that servers were given. */
  readonly secrets: readonly Secret[];
  readonly notices: readonly string[];
  /** Closes tools and servers, and removes what was copied. */
  close(): Promise<void>;
}

const nothing: OpenedCode = { own: new Map(), mcp: [], secrets: [], notices: [], close: async () => {} };

/**
 * Opens what the origin asks for. Nothing is run before its digest was accepted, and what runs are the bytes that were
 * digested: a file that changes meanwhile changes nothing. Not pinned is what those bytes load or start: packages, the
 * programs of servers outside `tools/`, and what such a server downloads. `known` are the secrets of others, which are
 * taken out of what servers say. Throws a CliError or an McpError, and leaves nothing behind then.
 */
export async function openOwnCode(
  context: Context,
  origin: Origin,
  consent: Consent,
  known: readonly Secret[],
): Promise<OpenedCode> {
  const servers = new Map(Object.entries(origin.mcp ?? {}));
  const wanted = origin.tools.filter((tool) => tool.own === true);
  if (wanted.length === 0 && servers.size === 0) return nothing;
  const files = await readToolFiles(origin.agentFolder);
  await mustBeTrusted(context, { files, servers }, consent);

  // From here on Ctrl-C has something to clean up.
  const signal = context.interrupts();
  const closers: (() => Promise<unknown>)[] = [];
  // The newest first: what was copied goes last.
  const close = async () => {
    for (const one of closers.splice(0).reverse()) await one();
  };
  try {
    const copy = await copyPrivately(files, origin.agentFolder);
    closers.push(copy.remove);
    const own = new Map<string, readonly Tool[]>();
    for (const tool of wanted) {
      const made = await loadOwnTool(copy, tool, origin.workspace);
      closers.push(() => Promise.all(made.map((one) => one.close())));
      own.set(tool.name, made);
    }
    if (servers.size === 0) return { ...nothing, own, close };
    // The SDK takes a while to load, which only an agent with servers pays.
    const { mcpSecrets, openMcpServers } = await import('../../native/mcp/mcp-servers.ts');
    const secrets = mcpSecrets(servers, context.env);
    const redact = redactor([...known, ...secrets]).text;
    const here = new Map([...servers].map(([name, server]) => [name, placed(server, copy, origin)] as const));
    const opened = await openMcpServers({
      servers: here,
      cwd: origin.workspace,
      env: context.env,
      signal,
      redact,
    });
    closers.push(opened.close);
    return { own, mcp: opened.tools, secrets, notices: opened.notices, close };
  } catch (fault) {
    await close();
    throw fault;
  }
}

/** A command of `tools/` runs from the copy; another that begins with `./` from the agent folder. */
function placed(server: McpServer, copy: PrivateCopy, { agentFolder }: Origin): McpServer {
  if ('url' in server || !server.command.startsWith('./')) return server;
  const folder = server.command.startsWith('./tools/') ? copy.folder : agentFolder;
  return { ...server, command: join(folder, server.command) };
}
