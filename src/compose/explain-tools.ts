/** What of an agent's tools a session shows, as lines for people, as far as it can be told while nothing runs. */
import type { Agent } from './agent.ts';
import { capabilityFact, toolName } from './facts.ts';
import { factReader, type Situation } from './situation.ts';

/** Empty for an agent without tools and servers. */
export function explainTools(agent: Agent, { facts }: Pick<Situation, 'facts'>): string {
  const read = factReader(facts);
  const { mode, tokens } = agent.surface;
  const lines = [
    ...agent.tools.map(({ name }) => `  ${toolLine(agent, name, read)}`),
    ...[...agent.mcp.keys()].map((server) =>
      read(capabilityFact(`mcp.${server}`)) === false
        ? `  out  server ${server} · the capability 'mcp.${server}' is not held`
        : `  in   server ${server} · a run chooses from its tools (${mode}${tokens === null ? '' : `, at most ${tokens} tokens`}): writ runs show RUN --surface`,
    ),
  ];
  return lines.length === 0 ? '' : `\nTOOLS\n${lines.join('\n')}\n`;
}

function toolLine(agent: Agent, name: string, read: ReturnType<typeof factReader>): string {
  const offer = agent.toolOffers.get(toolName(name));
  if (offer === undefined || !('capability' in offer))
    return `in   ${name} · listed, if the capability that its file asks for is held`;
  const capability = offer.capability.replace(/^capability\./, '');
  return read(offer.capability) === false
    ? `out  ${name} · the capability '${capability}' is not held`
    : `in   ${name} · listed`;
}
