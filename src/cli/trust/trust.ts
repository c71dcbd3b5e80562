/** Whether the code that an agent folder brings may run here: its digest, and the refusal where nobody accepted it. */
import type { McpServer } from '../../compose/agent.ts';
import { type Digest, jsonDigest } from '../../digest.ts';
import type { Context } from '../context.ts';
import { CliError } from '../errors.ts';
import { commandDepth } from '../program.ts';
import { shellWord } from '../run/open-store.ts';
import { count } from '../view/figures.ts';
import { visible } from '../view/visible.ts';
import { accept, keepShown, knownCode } from './accepted.ts';
import type { ToolFile } from './tool-files.ts';

/** Everything of an agent that would run, or be spoken to. */
export interface OwnCode {
  readonly files: readonly ToolFile[];
  readonly servers: ReadonlyMap<string, McpServer>;
}

export interface Consent {
  /** The agent's key. */
  readonly agent: string;
  /** True for `--trust`: what a person last saw of the agent's code here is accepted and remembered. */
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

/**
 * Throws `cli.untrusted` for code that was not accepted. It never asks: who answers must have read first. `--trust` accepts
 * the bytes that the refusal showed; where a refusal showed others, or others were accepted before, it shows what is there
 * now. Only of an agent that this machine knows nothing of does it accept what nobody was shown here.
 */
export async function mustBeTrusted(context: Context, code: OwnCode, consent: Consent): Promise<void> {
  const digest = digestOf(code);
  const { agent, trust, quiet } = consent;
  const { accepted, seen } = await knownCode(context, agent);
  if (accepted.has(digest)) return;
  const listed = [...code.files.map(fileLine), ...[...code.servers].map(serverLine), `digest ${digest}`];
  if (!trust || (seen !== null && seen !== digest)) {
    // Where it cannot be kept nothing can be accepted either, so the refusal is worth more than that fault.
    await keepShown(context, agent, digest).catch(() => {});
    throw untrusted(context, agent, digest, trust, listed);
  }
  await accept(context, agent, digest);
  if (!quiet)
    context.stderr.write(`trusted from now on:\n${listed.map((line) => `  ${visible(line)}\n`).join('')}`);
}

function untrusted(
  context: Context,
  agent: string,
  digest: Digest,
  changed: boolean,
  listed: readonly string[],
): CliError {
  const found = changed
    ? 'other code than was last seen on this machine, and --trust accepts only what was seen'
    : 'code that nobody accepted on this machine';
  return new CliError('cli.untrusted', `'${agent}' would run ${found}:\n${listed.join('\n')}`, {
    next: `Read it, then accept it with: ${withTrust(context.argv)}`,
    details: { agent, digest, code: listed.slice(0, -1) },
  });
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

/** The command line that was given, with `--trust` behind the name of its command unless it is there. */
function withTrust(argv: readonly string[]): string {
  const end = argv.indexOf('--');
  if (argv.slice(0, end < 0 ? argv.length : end).includes('--trust'))
    return ['writ', ...argv].map(shellWord).join(' ');
  const depth = commandDepth(argv);
  return ['writ', ...argv.slice(0, depth), '--trust', ...argv.slice(depth)].map(shellWord).join(' ');
}
