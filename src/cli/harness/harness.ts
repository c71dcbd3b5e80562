/** `writ harness`: the agent programs that can be delivered to, and what was measured of them. */
import { allAdapters } from '../../catalog.ts';
import { printJson } from '../context.ts';
import { exitCodes } from '../exit.ts';
import { type NewCommand, withExamples } from '../program.ts';
import { verifyCommand } from './verify.ts';

/** Prints the table, and groups the commands about it. */
export function harnessCommand(parts: NewCommand) {
  const harness = parts
    .command('harness')
    .summary('agent programs that can be delivered to')
    .description('The agent programs that a composition can be delivered to, and what was measured of them.')
    .option('--json', 'print the table as one JSON object')
    .action(async (options) => {
      const [cells, { controlTable, controlTableText }] = await Promise.all([
        import('../../deliver/verify/measured-cells.ts'),
        import('./control-table.ts'),
      ]);
      const measured = await cells.readMeasuredCells(cells.measuredCellsPath(parts.context.env));
      const rows = controlTable(await allAdapters(), measured);
      if (options.json) printJson(parts.context, { harnesses: rows });
      else parts.context.stdout.write(controlTableText(rows));
      parts.done(exitCodes.completed);
    });
  harness.addCommand(verifyCommand(parts));
  return withExamples(harness, ['writ harness', 'writ harness verify', 'writ harness verify codex']);
}
