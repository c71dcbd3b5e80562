/** Whether the code that an agent folder brings may run here: its digest, and the refusal where nobody accepted it. */
import type { McpServer } from '../../compose/agent.ts';
import { type Digest, jsonDigest } from '../../digest.ts';
import type { Context } from '../context.ts';
import { CliError } from '../errors.ts';
import { shellWord } from '../run/open-store.ts';
import { count } from '../view/figures.ts';
import { visible } from '../view/visible.ts';
import { accept, isAccepted } from './accepted.ts';
import type { ToolFile } from './tool-files.ts';

/** Everything of an agent that would run, or be spoken to. */
export interface OwnCode {
  readonly files: readonly ToolFile[];
  readonly servers: ReadonlyMap<string, McpServer>;
}

export interface Consent {
  /** The agent's key. */
  readonly agent: string;
  /** True for `--trust`: what is there now is accepted and remembered. */
  readonly trust: boolean;
  /** Nothing is said on stderr. */
  readonly quiet: boolean;
  /** What the agent holds, where it is to be checked that some tool has it. */
  readonly capabilities?: readonly string[];
}

/** Of every file's path and bytes, and of the servers as agent.yaml has them, whatever the order of their keys. */
export function digestOf({ files, servers }: OwnCode): Digest {
  return jsonDigest({
    tools: files.map(({ path, digest, executable }) => [path, digest, executable]),
    mcp: JSON.parse(JSON.stringify(Object.fromEntries(servers))),
  });
}

/** Throws `cli.untrusted` for code that was not accepted. It never asks: who answers must have read first. */
export async function mustBeTrusted(context: Context, code: OwnCode, consent: Consent): Promise<void> {
  const digest = digestOf(code);
  const { agent, trust, quiet } = consent;
  if (await isAccepted(context, agent, digest)) return;
  const listed = [...code.files.map(fileLine), ...[...code.servers].map(serverLine), `digest ${digest}`];
  if (!trust) throw untrusted(context, agent, digest, listed);
  await accept(context, agent, digest);
  if (!quiet)
    context.stderr.write(`trusted from now on:\n${listed.map((line) => `  ${visible(line)}\n`).join('')}`);
}

function untrusted(context: Context, agent: string, digest: Digest, listed: readonly string[]): CliError {
  const what = listed.join('\n');
  return new CliError(
    'cli.untrusted',
    `'${agent}' would run code that nobody accepted on this machine:\n${what}`,
    {
      next: `Read it, then accept it with: ${withTrust(context.argv)}`,
      details: { agent, digest, code: listed.slice(0, -1) },
    },
  );
}

function fileLine({ path, bytes, digest }: ToolFile): string {
  return `${path} (${count(bytes.length, 'byte')}, sha256 ${digest.slice(0, 12)})`;
}

function serverLine([name, server]: readonly [string, McpServer]): string {
  if ('url' in server) return `MCP server ${name}: ${server.url}${given([server.keyEnv ?? []].flat())}`;
  const { command, args, env = [] } = server;
  return `MCP server ${name}: ${[command, ...args].map(shellWord).join(' ')}${given(env)}`;
}

function given(variables: readonly string[]): string {
  return variables.length === 0 ? '' : ` (is given ${variables.join(', ')})`;
}

/** The command line that was given, with `--trust` behind the name of its command. */
function withTrust(argv: readonly string[]): string {
  const depth = argv[0] === 'runs' ? 2 : 1;
  return ['writ', ...argv.slice(0, depth), '--trust', ...argv.slice(depth)].map(shellWord).join(' ');
}
