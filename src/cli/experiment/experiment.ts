/** `writ experiment`: registers, runs, watches, reports and verifies a paired comparison of two arms. */
import { type NewCommand, withExamples } from '../program.ts';
import { registerCommand } from './register.ts';
import { reportCommand } from './report.ts';
import { runExperimentCommand } from './run.ts';
import { statusCommand } from './status.ts';
import { verifyReportCommand } from './verify.ts';

/** Groups the commands about experiments. */
export function experimentCommand(parts: NewCommand) {
  const experiment = parts
    .command('experiment')
    .summary('prove by a paired experiment what a change does')
    .description(
      'Compares two arms on the same items: registered before the first trial, run in a drawn order, analysed as registered.',
    );
  for (const one of [
    registerCommand(parts),
    runExperimentCommand(parts),
    statusCommand(parts),
    reportCommand(parts),
    verifyReportCommand(parts),
  ])
    experiment.addCommand(one);
  return withExamples(experiment, [
    'writ experiment register experiment.yaml',
    'writ experiment run experiment.yaml',
    'writ experiment status experiment.yaml',
    'writ experiment report experiment.yaml',
    'writ experiment verify experiment.record/report.json',
  ]);
}
