/** The visible surface: which tools a session shows its model, in a fixed order, as bytes that never change again. */
import { openCatalogue } from '../compose/surface/catalogue.ts';
import { compileSurface, type Surface } from '../compose/surface/compile-surface.ts';
import { explainSurface } from '../compose/surface/explain-surface.ts';
import type { SurfaceMode } from '../compose/surface/mode.ts';
import { requestLimits } from '../compose/surface/request.ts';
import { unitId, unitLimits } from '../compose/surface/unit.ts';
import { type ToolParts, unitsOfTools } from '../compose/surface/units-of-tools.ts';
import { jsonDigest } from '../digest.ts';
import type { Projection, SurfaceRecord } from '../harness.ts';
import { NativeError } from './errors.ts';
import type { Model } from './model/model.ts';
import type { Tool } from './tool/tool.ts';

/** Tools beside the listed ones, such as those of MCP servers, and how the session chooses from them. */
export interface Offer {
  readonly tools: readonly Tool[];
  /** `compiled` lets the task choose where not all fit; `all_tools` shows all that are allowed. */
  readonly mode: SurfaceMode;
  /** Tokens that the chosen tools may take; null is no limit. */
  readonly budgetTokens: number | null;
}

/** Some forty tools of usual size. More of them cost every request, and make a model choose worse. */
export const offerTokensUsual = 10_000;

/** What a session shows is decided by these, once. */
export interface ProjectionRequest {
  readonly capabilities: readonly string[];
  readonly task: string;
}

/**
 * Projects the listed tools whose capability is held, in the order they were given, and behind them what is chosen of the
 * offer. A listed tool is shown whatever the task says. Throws `native.tool-name-clash` if two tools, shown or not, bear one
 * name.
 */
export function projectTools(
  listed: readonly Tool[],
  offer: Offer,
  { capabilities, task }: ProjectionRequest,
  model: Model,
): Projection {
  mustDiffer([...listed, ...offer.tools]);
  const held = listed.filter((tool) => capabilities.includes(tool.capability));
  const chosen = offer.tools.length === 0 ? undefined : chooseFrom(offer, capabilities, task);
  const shownTools = [...held, ...(chosen?.tools ?? [])];
  const shown = shownTools.map((tool) => tool.schema);
  const definitions = shownTools.flatMap((tool) =>
    tool.definition === undefined ? [] : [[tool.schema.name, tool.definition() ?? ''] as const],
  );
  return {
    tools: shown.map((schema) => schema.name),
    text: shown.length === 0 ? '' : model.tools(shown),
    ...(definitions.length === 0 ? {} : { definitions: Object.fromEntries(definitions) }),
    ...(chosen === undefined ? {} : { surface: recordOf(chosen, offer, held) }),
  };
}

function mustDiffer(tools: readonly Tool[]): void {
  const names = new Set<string>();
  for (const { schema } of tools) {
    if (names.has(schema.name)) {
      throw new NativeError('native.tool-name-clash', `Two tools are named '${schema.name}'.`, {
        next: 'Name each tool once in the agent folder.',
        details: { tool: schema.name },
      });
    }
    names.add(schema.name);
  }
}

interface Chosen {
  /** In the order of the offer, so that a task that leaves some out moves no other. */
  readonly tools: readonly Tool[];
  readonly surface: Surface;
  /** Too large to be a unit: never shown. */
  readonly oversized: readonly Tool[];
}

/** Where all that is allowed fits the budget, the task need not choose: a tool that is not there cannot be asked for later. */
function chooseFrom({ tools, mode, budgetTokens }: Offer, held: readonly string[], task: string): Chosen {
  const oversized = tools.filter((tool) => JSON.stringify(tool.schema).length > unitLimits.content);
  const offered = tools.filter((tool) => !oversized.includes(tool));
  const catalogue = openCatalogue(unitsOfTools(offered.map(partsOf)));
  const needed = new Set(offered.map((tool) => tool.capability));
  const request = {
    task: beginning(task),
    capabilities: held.filter((name) => needed.has(name)),
    budgetTokens,
  };
  const whole = compileSurface(catalogue, { ...request, mode: 'all_tools' });
  const surface =
    mode === 'compiled' && whole.pending.length > 0 ? compileSurface(catalogue, { ...request, mode }) : whole;
  const active = new Set(surface.active.map(({ unit }) => unit));
  return { tools: offered.filter((tool) => active.has(idOf(tool))), surface, oversized };
}

const serverCapability = /^mcp\.(.+)$/;

function partsOf({ schema, capability }: Tool): ToolParts {
  const server = serverCapability.exec(capability)?.[1];
  return { schema, capability, ...(server === undefined ? {} : { server }) };
}

function idOf(tool: Tool): string {
  const { schema, server } = partsOf(tool);
  return unitId(server === undefined ? 'tool' : 'mcp_tool', schema.name, server);
}

// A longer task is mostly data; what is to be done stands at its beginning.
function beginning(task: string): string {
  const cut = task.slice(0, requestLimits.taskCharacters);
  return /[\ud800-\udbff]$/.test(cut) && cut.length < task.length ? cut.slice(0, -1) : cut;
}

function recordOf(
  { surface, oversized }: Chosen,
  { tools, mode, budgetTokens }: Offer,
  held: readonly Tool[],
) {
  const names = new Map(tools.map((tool) => [idOf(tool), tool.schema.name]));
  const decided = [...names].map(([unit, tool]) => ({ tool, ...explainSurface(surface, unit) }));
  const large = new Set(oversized.map((tool) => tool.schema.name));
  const record: SurfaceRecord = {
    fingerprint: jsonDigest({ surface: surface.fingerprint, listed: held.map(({ schema }) => schema), mode }),
    mode,
    chosenBy: surface.request.mode === 'compiled' ? 'task' : 'room',
    budgetTokens,
    tokens: surface.sizes.tokens,
    offered: tools.length,
    decisions: decided
      .filter(({ tool, state }) => !large.has(tool) && state !== 'hidden' && state !== 'cut')
      .map(({ tool, state, text }) => ({ tool, shown: state === 'active', text })),
    cut: decided.flatMap(({ tool, state }) => (state === 'cut' ? [tool] : [])),
    hidden: decided.flatMap(({ tool, state }) => (state === 'hidden' && !large.has(tool) ? [tool] : [])),
    oversized: [...large],
  };
  return record;
}

/** One sentence for the record where tools that the session was offered are not shown; undefined where all are. */
export function surfaceNotice({ surface, tools }: Projection): string | undefined {
  if (surface === undefined) return undefined;
  const decided = new Set(surface.decisions.filter((one) => one.shown).map((one) => one.tool));
  const shown = tools.filter((tool) => decided.has(tool)).length;
  if (shown === surface.offered) return undefined;
  const how = surface.chosenBy === 'task' ? 'chosen by its first task' : 'as many as are allowed and fit';
  return `The session shows ${shown} of ${surface.offered} tools that it is offered beside the listed ones, ${how}. Why: writ runs show RUN --surface.`;
}

/** Shown tools of outside servers that are not here any more as the session showed them. */
export function changedTools(
  { definitions = {} }: Projection,
  tools: ReadonlyMap<string, Tool>,
): readonly string[] {
  return Object.keys(definitions).filter((name) => tools.get(name)?.definition?.() !== definitions[name]);
}
