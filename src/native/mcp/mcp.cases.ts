/** What tests of MCP share: the driven server, one call of a tool, and whether processes are still there. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach } from 'vitest';
import { systemClock } from '../../clock.ts';
import type { McpServer } from '../../compose/agent.ts';
import type { Json } from '../../protocol/json.ts';
import type { Tool, ToolOutput } from '../tool/tool.ts';
import { type McpServers, type McpServersOptions, openMcpServers } from './mcp-servers.ts';

export const program = resolve('test/children/mcp-server.mjs');

/** The server of `test/children`, with words that say how it behaves. */
export function driven(
  words: readonly string[] = [],
  more: Partial<McpServer & { env: string[] }> = {},
): McpServer {
  return { command: process.execPath, args: [program, ...words], ...more };
}

const opened: McpServers[] = [];
const folders: string[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
  for (const one of folders.splice(0)) await rm(one, { recursive: true, force: true });
});

/** Opens servers that are closed after the test. */
export async function open(
  servers: Readonly<Record<string, McpServer>>,
  more: Partial<McpServersOptions> = {},
): Promise<McpServers> {
  const { PATH, HOME } = process.env;
  const options = { servers: new Map(Object.entries(servers)), cwd: tmpdir(), ...more };
  const one = await openMcpServers({ ...options, env: { PATH, HOME, ...more.env } });
  opened.push(one);
  return one;
}

export async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'writ-mcp-'));
  folders.push(folder);
  return folder;
}

/** Checks the arguments and runs the tool, as the loop does. */
export async function callTool(
  { tools }: { readonly tools: readonly Tool[] },
  name: string,
  args: { readonly [key: string]: Json } = {},
  signal: AbortSignal = new AbortController().signal,
): Promise<ToolOutput> {
  const tool = tools.find(({ schema }) => schema.name === name);
  if (tool === undefined) throw new Error(`no tool ${name}`);
  const checked = tool.check(args);
  if (!checked.ok) throw new Error(checked.problems.join(' '));
  const context = () => {
    throw new Error('MCP tools read no contexts');
  };
  return tool.execute(checked.value, { signal, clock: systemClock, idempotencyKey: 'k', context });
}

/** The ids in a file, one a line, that still are processes. */
export async function alive(file: string): Promise<number[]> {
  const ids = (await readFile(file, 'utf8')).trim().split('\n').map(Number);
  const states = await Promise.all(
    ids.map((id) =>
      readFile(`/proc/${id}/stat`, 'utf8').then(
        // A zombie has ended; only its parent has not looked yet.
        (stat) => !/\) Z /.test(stat),
        () => false,
      ),
    ),
  );
  return ids.filter((_, i) => states[i]);
}
