/** `writ runs show RUN --surface`: which tools a session shows its model, and what became of those it was offered. */
import type { Projection, SurfaceRecord } from '../../harness.ts';
import type { Store } from '../../ledger/store.ts';
import type { SessionRecord } from '../../protocol/record.ts';
import { readText } from '../../run/session.ts';
import { type Context, printJson } from '../context.ts';
import { count } from '../view/figures.ts';
import { visible } from '../view/visible.ts';

/** Prints it as it was stored when the session began. Throws `run.record-damaged` where that is not what is there now. */
export async function printSurface(
  context: Context,
  store: Store,
  session: SessionRecord,
  json: boolean,
): Promise<void> {
  const stored = JSON.parse(await readText(store, session.projection, 'projection')) as Projection;
  const { tools, surface } = stored;
  if (json)
    printJson(context, {
      session: session.id,
      projection: session.projection,
      tools,
      surface: surface ?? null,
    });
  else context.stdout.write(visible(`${surfaceLines(tools, surface).join('\n')}\n`));
}

function surfaceLines(tools: readonly string[], surface: SurfaceRecord | undefined): string[] {
  if (surface === undefined)
    return tools.length === 0
      ? ['No tools are shown.']
      : ['SHOWN', ...tools.map((tool) => `  ${tool} · listed`)];
  const decided = new Map(surface.decisions.map((one) => [one.tool, one]));
  const shown = tools.map((tool) => `  ${tool} · ${decided.get(tool)?.text ?? 'listed'}`);
  const leftOut = [
    ...surface.decisions.filter((one) => !one.shown).map(({ tool, text }) => `  ${tool} · ${text}`),
    ...surface.cut.map((tool) => `  ${tool} · the task speaks for it, and too many others rank higher`),
    ...surface.hidden.map((tool) => `  ${tool} · nothing in the task speaks for it`),
    ...surface.oversized.map((tool) => `  ${tool} · its schema is too large to be shown`),
  ];
  const budget = surface.budgetTokens === null ? 'no limit' : `${surface.budgetTokens} tokens`;
  const how = surface.chosenBy === 'task' ? 'the task chose' : 'all that is allowed, as far as it fits';
  return [
    `${surface.mode}: ${how}; ${surface.tokens} tokens of ${budget}, ${count(surface.offered, 'tool')} offered`,
    `fingerprint ${surface.fingerprint}`,
    'SHOWN',
    ...(shown.length === 0 ? ['  none'] : shown),
    ...(leftOut.length === 0 ? [] : ['LEFT OUT', ...leftOut]),
  ];
}
