/** `writ experiment report`: what the trials say, as a summary, as JSON and as one page. */
import { join } from 'node:path';
import { type Context, printJson } from '../context.ts';
import { exitCodes } from '../exit.ts';
import { givenPath, type NewCommand, withExamples } from '../program.ts';
import { visible } from '../view/visible.ts';
import type { ExperimentFlags } from './open-experiment.ts';

interface ReportFlags extends ExperimentFlags {
  readonly look?: string | undefined;
  readonly json?: true | undefined;
}

export function reportCommand({ context, command, done }: NewCommand) {
  const report = command('report')
    .summary('what the trials of an experiment say')
    .description(
      'Analyses the trials as registered and writes report.json and report.html into the record. Before all trials are done and\ngraded that is a look at the results: it needs --look, is recorded, and the result is exploratory from then on.',
    )
    .argument('<file>', 'the experiment.yaml', givenPath('FILE'))
    .option(
      '--record <dir>',
      'where the journal is kept (default: NAME.record beside the file)',
      givenPath('--record'),
    )
    .option(
      '--look <reason>',
      'why the results are looked at before the end; they are exploratory from then on',
    )
    .option('--json', 'print the report as one JSON object');
  return withExamples(report, [
    'writ experiment report experiments/protocol.yaml',
    'writ experiment report experiments/protocol.yaml --look "the provider retires the model"',
  ]).action(async (file, flags) => done(await reportFile(context, file, flags)));
}

async function reportFile(context: Context, file: string, flags: ReportFlags): Promise<number> {
  const [
    { recordFolder },
    { reportText },
    { replaceFile },
    { openJournal, readJournal },
    { notRegistered },
    { makeReport },
    { reportPage },
    { presentOf },
  ] = await Promise.all([
    import('./open-experiment.ts'),
    import('./report-text.ts'),
    import('../../compose/load/proof-files.ts'),
    import('../../prove/journal.ts'),
    import('../../prove/register.ts'),
    import('../../prove/report.ts'),
    import('../../prove/page/page.ts'),
    import('./present.ts'),
  ]);
  const record = recordFolder(context, file, flags);
  if ((await readJournal(record)) === undefined) throw notRegistered();
  const present = await presentOf(context, file);
  const journal = await openJournal(record, context.clock);
  try {
    const report = await makeReport(journal, { clock: context.clock, present, look: flags.look });
    const paths = { json: join(record, 'report.json'), html: join(record, 'report.html') };
    await replaceFile(paths.json, `${JSON.stringify(report, null, 1)}\n`, context.clock.id('draft'));
    await replaceFile(paths.html, reportPage(report), context.clock.id('draft'));
    if (flags.json) printJson(context, report);
    else context.stdout.write(visible(reportText(report, paths)));
    return exitCodes.completed;
  } finally {
    await journal.close();
  }
}
