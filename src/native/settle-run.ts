/** The last act of a run: its tools end what it left at work, and what is not proven gone is put on record before the end. */
import { messageOf } from '../errors.ts';
import type { Host } from '../harness.ts';
import type { Tool } from './tool/tool.ts';

/** What of a tool is needed here. */
export interface Settling extends Pick<Tool, 'settle'> {
  readonly schema: Pick<Tool['schema'], 'name'>;
}

/** The code of the notice that names something which may still be at work after the end of its run. */
export const leftAtWork = 'native.left-at-work';

/** The same turns, with the tools settled behind them whatever they came to. */
export async function* settlingTools<Turn, Outcome>(
  turns: AsyncGenerator<Turn, Outcome, void>,
  { run, tools, host }: { readonly run: string; readonly tools: readonly Settling[]; readonly host: Host },
): AsyncGenerator<Turn, Outcome, void> {
  try {
    return yield* turns;
  } finally {
    const said = await Promise.all(tools.map((tool) => settled(tool, run)));
    for (const text of said.flat()) host.note([{ type: 'notice', code: leftAtWork, text }]);
  }
}

async function settled(tool: Settling, run: string): Promise<readonly string[]> {
  try {
    const said: readonly unknown[] = (await tool.settle?.(run)) ?? [];
    return said.map(messageOf);
  } catch (thrown) {
    return [`What ${tool.schema.name} left at work could not be ended: ${messageOf(thrown)}`];
  }
}
