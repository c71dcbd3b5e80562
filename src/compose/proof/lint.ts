/** Lint of an agent's text: tools that it names where they are not offered, and fragments that nothing uses. */
import type { Agent, Fragment } from '../agent.ts';
import type { ReadFact } from '../conditions.ts';
import { capabilityFact, type ToolOffer } from '../facts.ts';
import { factReader, fragmentsOf } from '../situation.ts';
import type { Piece } from '../template.ts';
import { type Finding, finding } from './finding.ts';
import type { PinnedText } from './lock.ts';

/** Text of a fragment that may reach the model, and where it begins in the body. */
interface Stretch {
  readonly text: string;
  readonly offset: number;
}

/** A view of the agent in which fragments are in or out and capabilities are held or not. */
interface View {
  readonly label: string;
  readonly profile: string;
  readonly read: ReadFact;
}

/**
 * Fragments that name a tool which is not offered: not among the agent's tools, or its capability is off. Asked of every
 * pinned text, and of each profile once with everything unknown that the agent itself does not settle, so that a
 * fragment which no named situation reaches is looked at too. A tool whose capability nobody said is taken for offered:
 * `unsaidFindings` tells of it. `bodyLine` is the line where a fragment's body begins.
 */
export function toolFindings(
  agent: Agent,
  texts: readonly PinnedText[],
  bodyLine: (fragment: Fragment) => number,
): Finding[] {
  const offers = [...agent.toolOffers.values()].filter(({ tool }) => !isServer(agent, tool));
  const found = new Map<string, { readonly finding: Finding; readonly where: Set<string> }>();
  for (const view of viewsOf(agent, texts)) {
    const missing = offers.flatMap((offer) => notOffered(offer, view));
    for (const fragment of fragmentsOf(agent, view.profile)) {
      if (fragment.when !== null && fragment.when.evaluate(view.read) === false) continue;
      for (const { name, reason } of missing) {
        for (const line of linesNaming(fragment, name, view.read)) {
          const place = { file: fragment.file, line: bodyLine(fragment) + line };
          const message = `fragment '${fragment.id}' names the tool '${name}', and ${reason}`;
          const key = `${place.file}:${place.line}:${message}`;
          const known = found.get(key) ?? {
            finding: finding('tool-not-offered', message, place),
            where: new Set(),
          };
          known.where.add(view.label);
          found.set(key, known);
        }
      }
    }
  }
  return [...found.values()].map(({ finding: one, where }) => ({
    ...one,
    more: [`in ${[...where].join(', ')}`],
  }));
}

function viewsOf(agent: Agent, texts: readonly PinnedText[]): View[] {
  const settled = new Map<string, boolean | string>([['agent.key', agent.key]]);
  for (const [name] of agent.facts) {
    if (!name.startsWith('capability.')) continue;
    settled.set(
      name,
      agent.capabilities.some((held) => capabilityFact(held) === name),
    );
  }
  const pinned = texts.map(({ name, profile, situation }) => ({
    label: `${name} (profile ${profile})`,
    profile,
    read: factReader(situation.facts),
  }));
  const bare = [...agent.profiles.keys()].map((profile) => ({
    label: `any situation (profile ${profile})`,
    profile,
    read: (name: string) => settled.get(name),
  }));
  return [...pinned, ...bare];
}

function notOffered({ tool, listed, capability }: ToolOffer, { read }: View) {
  if (!listed) return [{ name: tool, reason: 'the agent does not have it' }];
  if (capability === null || read(capabilityFact(capability)) !== false) return [];
  return [{ name: tool, reason: `the capability '${capability}' is off` }];
}

// A file of tools/ that a server is started from makes no tool of that name.
function isServer({ mcp, tools }: Agent, name: string): boolean {
  if (tools.some((tool) => tool.name === name)) return false;
  const words = [...mcp.values()].flatMap((server) =>
    'url' in server ? [] : [server.command, ...server.args],
  );
  return words.some((word) => word.endsWith(`tools/${name}.mjs`));
}

/** Lines of the body, from 0, on which a stretch that may be in names the tool. */
function linesNaming(fragment: Fragment, name: string, read: ReadFact): number[] {
  const pattern = namePattern(name);
  const lines = new Set<number>();
  for (const { text, offset } of stretches(fragment, read)) {
    for (const { index } of text.matchAll(pattern))
      lines.add(fragment.body.slice(0, offset + index).split('\n').length - 1);
  }
  return [...lines];
}

// A name like `edit` is a word too: it counts in code, or beside the word tool. One like sql_query is nothing else.
function namePattern(name: string): RegExp {
  const exact = name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const token = `(?<![\\p{L}\\p{N}_-])${exact}(?![\\p{L}\\p{N}_-])`;
  if (/[^a-z]/.test(name)) return new RegExp(token, 'gu');
  return new RegExp(`(?<=\`)${exact}(?=[\`(])|${token}(?= tool\\b)|(?<=\\btool )${token}`, 'gu');
}

function stretches(fragment: Fragment, read: ReadFact): Stretch[] {
  const { body, template } = fragment;
  if (template === null) return [{ text: body, offset: 0 }];
  const found: Stretch[] = [];
  let at = 0;
  // Pieces stand in the order of the body, so that each is found behind the one before, taken or not.
  const walk = (pieces: readonly Piece[], taken: boolean): void => {
    for (const piece of pieces) {
      if (piece.kind === 'text') {
        const offset = body.indexOf(piece.text, at);
        if (offset >= 0) at = offset + piece.text.length;
        if (taken) found.push({ text: piece.text, offset: Math.max(offset, 0) });
      }
      if (piece.kind !== 'when') continue;
      const value = piece.condition.evaluate(read);
      walk(piece.first, taken && value !== false);
      walk(piece.otherwise, taken && value !== true);
    }
  };
  walk(template.pieces, true);
  return found;
}

/** Own tools of which agent.yaml does not say the capability, so that nothing here can tell whether they are offered. */
export function unsaidFindings(agent: Agent, line: (tool: string) => number): Finding[] {
  return agent.tools
    .filter(({ own, capability }) => own === true && capability === undefined)
    .map(({ name, options }) => {
      const among = Object.hasOwn(options, 'capability')
        ? ' (the capability among its options is for the tool itself)'
        : '';
      return finding(
        'tool-capability-unsaid',
        `whether '${name}' is offered cannot be told: nothing of tools/${name}.mjs is run here, and agent.yaml does not say beside its name which capability it asks for${among}`,
        {
          file: 'agent.yaml',
          line: line(name),
          more: [`- ${name}: {}`, '  capability: NAME'],
        },
      );
    });
}

/** Fragments that stand in no profile. */
export function unusedFindings(agent: Agent): Finding[] {
  return agent.unused.map((id) =>
    finding('unused-fragment', `fragment '${id}' stands in no profile`, {
      file: agent.fragments.get(id)?.file ?? id,
    }),
  );
}
