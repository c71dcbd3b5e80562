/** `writ experiment status`: how far an experiment is, and nothing of what came out, so that asking is no look. */

import { type Context, printJson } from '../context.ts';
import { exitCodes } from '../exit.ts';
import { givenPath, type NewCommand, withExamples } from '../program.ts';
import { count } from '../view/figures.ts';
import type { ExperimentFlags } from './open-experiment.ts';

interface StatusFlags extends ExperimentFlags {
  readonly json?: true | undefined;
}

export function statusCommand({ context, command, done }: NewCommand) {
  const status = command('status')
    .summary('how far an experiment is, without a look at its results')
    .description(
      'Counts the trials that are done and graded, of both arms together. Shows nothing of what came out, so that it is no\nlook: the result stays what it was registered to be. May be asked while the experiment runs.',
    )
    .argument('<file>', 'the experiment.yaml', givenPath('FILE'))
    .option(
      '--record <dir>',
      'where the journal is kept (default: NAME.record beside the file)',
      givenPath('--record'),
    )
    .option('--json', 'print the counts as one JSON object');
  return withExamples(status, ['writ experiment status experiments/protocol.yaml']).action(
    async (file, flags) => done(await statusOf(context, file, flags)),
  );
}

async function statusOf(context: Context, file: string, flags: StatusFlags): Promise<number> {
  const [{ recordFolder }, { readJournal }, { notRegistered }, { standingOf }] = await Promise.all([
    import('./open-experiment.ts'),
    import('../../prove/journal.ts'),
    import('../../prove/register.ts'),
    import('../../prove/standing.ts'),
  ]);
  const state = await readJournal(recordFolder(context, file, flags));
  if (state === undefined) throw notRegistered();
  const standing = standingOf(state);
  const { trials, done, toGrade, lost, unsent, complete, exploratory } = standing;
  if (flags.json) printJson(context, standing);
  else
    context.stdout.write(
      [
        `${done} of ${count(trials, 'trial')} have an outcome; ${lost} of them are lost to outages or invalid.`,
        ...(toGrade > 0 ? [`${toGrade} are still to be graded.`] : []),
        ...(unsent > 0
          ? [`${count(unsent, 'attempt')} ended before anything was sent; what is left of them begins anew.`]
          : []),
        ...(exploratory ? ['The result is exploratory: it was looked at or changed before.'] : []),
        complete ? 'All trials are done and graded.' : 'What came out is not shown before the end.',
        '',
      ].join('\n'),
    );
  return exitCodes.completed;
}
