/** `writ run --verify`: the state that the run will be in is measured, kept as `writ harness verify` keeps it, and relied on. */
import { authModeOf } from '../../deliver/adapter.ts';
import type { OutsideOptions } from '../../deliver/drive/options.ts';
import { keepMeasuredCells, measuredCellsPath } from '../../deliver/verify/measured-cells.ts';
import { verifyFirst } from '../../deliver/verify/verify-first.ts';
import type { Context } from '../context.ts';

/** What the harness rests on from now on. Throws a refusal where nothing could be measured; then nothing is kept. */
export async function verifyBefore(
  context: Context,
  { adapter, adapters, program, intent, fidelity, dimensions = {}, env, measured = [] }: OutsideOptions,
): Promise<Pick<OutsideOptions, 'version' | 'measured' | 'notices'>> {
  const { version, cells, notice } = await verifyFirst({
    ...{ adapter, adapters, program, intent, fidelity, env },
    words: (dimensions.agent ?? []).slice(1),
    model: dimensions.model ?? null,
    authMode: authModeOf(adapter, env),
    known: [...measured, ...adapter.cells],
    clock: context.clock,
    signal: context.interrupts(),
    progress: (what) => {
      if (context.stderr.terminal) context.stderr.write(`measuring ${adapter.name}: ${what}\n`);
    },
  });
  await keepMeasuredCells(measuredCellsPath(env), cells);
  return { version, measured: cells, notices: [notice] };
}
