/** The names that an agent folder brings itself: a tool for each file in `tools/`, a capability for each MCP server. */
import type { z } from 'zod';
import type { Vocabulary } from './names.ts';
import { type agentSchema, namePattern } from './schema.ts';

export interface OwnNames {
  /** What the agent may name: the caller's vocabulary and its own. */
  readonly known: Vocabulary;
  /** Tools that a file of `tools/` makes. */
  readonly ownTools: readonly string[];
}

/**
 * `files` are the names in `tools/`. A file `mail.mjs` is the tool `mail`; a server `files` has the capability `mcp.files`.
 * Which capabilities the tools of a file ask for is known only once it has run, unless agent.yaml says it, so an agent that
 * names one of its own tools may name new capabilities; `writ run` refuses one that no tool turns out to have.
 */
export function ownNames(
  written: z.output<typeof agentSchema>,
  files: readonly string[],
  vocabulary: Vocabulary,
): OwnNames {
  const ownTools = files.flatMap((file) => /^([A-Za-z0-9][A-Za-z0-9_-]{0,63})\.mjs$/.exec(file)?.[1] ?? []);
  const named = (written.tools ?? []).flatMap((entry) =>
    typeof entry === 'string' ? [entry] : Object.keys(entry).filter((key) => key !== 'capability'),
  );
  const said = (written.tools ?? []).flatMap((entry) => {
    const { capability = {} }: Exclude<typeof entry, string> = typeof entry === 'string' ? {} : entry;
    return typeof capability === 'string' ? [capability] : Object.values(capability);
  });
  const free = named.some((name) => ownTools.includes(name)) ? capabilityNames(written.capabilities) : [];
  const capabilities = [
    ...vocabulary.capabilities,
    ...Object.keys(written.mcp ?? {}).map((server) => `mcp.${server}`),
    ...said,
    ...free,
  ];
  return {
    known: {
      ...vocabulary,
      tools: [...new Set([...vocabulary.tools, ...ownTools])],
      capabilities: [...new Set(capabilities)],
    },
    ownTools,
  };
}

function capabilityNames(written: z.output<typeof agentSchema>['capabilities']): readonly string[] {
  if (written === undefined || typeof written === 'string') return [];
  const names = Array.isArray(written) ? written : Object.keys(written).filter((name) => name !== 'from');
  // A server's capability comes from its entry under mcp, so a misspelt one is found at once.
  return names.filter((name) => namePattern.test(name) && !name.startsWith('mcp.'));
}
