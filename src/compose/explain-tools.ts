/** What of an agent's tools a session shows, as lines for people, as far as it can be told while nothing runs. */
import type { Agent, McpServer } from './agent.ts';
import type { ReadFact } from './conditions.ts';
import { capabilityFact, type ToolOffer } from './facts.ts';
import { factReader, type Situation } from './situation.ts';

/** Empty for an agent without tools and servers. */
export function explainTools(agent: Agent, { facts }: Pick<Situation, 'facts'>): string {
  const read = factReader(facts);
  const lines = [
    ...[...agent.toolOffers.values()]
      .filter(({ listed }) => listed)
      .map((offer) => `  ${toolLine(offer, read)}`),
    ...[...agent.mcp].flatMap(([name, server]) => serverLines(agent, name, server, read)),
  ];
  return lines.length === 0 ? '' : `\nTOOLS\n${lines.join('\n')}\n`;
}

// Which tools a server has, only the server knows. Those that the agent names itself are units as well, and no surer: a server
// may have none of that name.
function serverLines(agent: Agent, name: string, server: McpServer, read: ReadFact): string[] {
  if (read(capabilityFact(`mcp.${name}`)) === false)
    return [`  out  server ${name} · the capability 'mcp.${name}' is not held`];
  const { mode, tokens } = agent.surface;
  const how = `${mode}${tokens === null ? '' : `, at most ${tokens} tokens`}`;
  return [
    ...(server.reads ?? []).map(
      (tool) => `  ?    mcp_tool ${tool} of ${name} · named in reads; unknown until the server is asked`,
    ),
    `  ?    mcp_tool * of ${name} · unknown: the server is not asked here; a run asks it and chooses from its tools (${how}): writ runs show RUN --surface`,
  ];
}

function toolLine({ tool, capability }: ToolOffer, read: ReadFact): string {
  if (capability === null)
    return `?    ${tool} · listed, and in if the capability is held that its file asks for; agent.yaml does not say which`;
  return read(capabilityFact(capability)) === false
    ? `out  ${tool} · the capability '${capability}' is not held`
    : `in   ${tool} · listed`;
}
