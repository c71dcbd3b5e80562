/** `writ experiment run`: runs the trials that have no outcome yet, and shows how far it is without showing what comes out. */
import { resolve } from 'node:path';
import type { Progress, RunSummary } from '../../prove/experiment-run.ts';
import { collect } from '../compose/situation-flags.ts';
import { type Context, printJson } from '../context.ts';
import { CliError } from '../errors.ts';
import { exitCodes } from '../exit.ts';
import { givenPath, type NewCommand, withExamples } from '../program.ts';
import { openStore, shellWord } from '../run/open-store.ts';
import { duration, shortDigest } from '../view/figures.ts';
import { fitCells } from '../view/visible.ts';
import type { ExperimentFlags, OpenedExperiment } from './open-experiment.ts';
import type { ServerFlags } from './trial-run.ts';

interface RunFlags extends ExperimentFlags, ServerFlags {
  readonly ledger?: string | undefined;
  readonly json?: true | undefined;
}

export function runExperimentCommand({ context, command, done }: NewCommand) {
  const run = command('run')
    .summary('run what is left of a registered experiment')
    .description(
      'Runs each trial as an ordinary run, in the registered order, and grades it. Ctrl-C or a kill loses no finished trial:\nthe same command goes on. Progress is shown on a terminal, elsewhere by `writ experiment status`; what comes out is not.',
    )
    .argument('<file>', 'the experiment.yaml', givenPath('FILE'))
    .option(
      '--record <dir>',
      'where the journal is kept (default: NAME.record beside the file)',
      givenPath('--record'),
    )
    .option('--base-url <url>', 'a server of your own choice')
    .option('--bin <name=path>', 'the program of a harness that an arm names; may be repeated', collect)
    .option('--trust', 'accept what the agent folders and the command of the grader would run')
    .option(
      '--ledger <path>',
      'the ledger (default: the nearest .writ above the file, else the one of the user)',
    )
    .option('--json', 'print what was done as one JSON object');
  return withExamples(run, [
    'writ experiment run experiments/protocol.yaml',
    'writ experiment run experiments/protocol.yaml --base-url http://127.0.0.1:8080/v1',
  ]).action(async (file, flags) => done(await runFile(context, file, flags)));
}

async function runFile(context: Context, file: string, flags: RunFlags): Promise<number> {
  const [
    { canariesOf, openExperiment, recordFolder },
    { executorOf, judgeOf },
    { openJournal },
    { mustBeAsRegistered },
    { runExperiment },
    { loadExperiment },
  ] = await Promise.all([
    import('./open-experiment.ts'),
    import('./trial-run.ts'),
    import('../../prove/journal.ts'),
    import('../../prove/register.ts'),
    import('../../prove/run-experiment.ts'),
    import('../../prove/experiment.ts'),
  ]);
  const signal = context.interrupts();
  const experiment = await loadExperiment(resolve(context.cwd, file));
  const { folder, items, written } = experiment;
  const { store } = await openStore(context, flags, folder);
  try {
    const opened = await openExperiment(context, experiment, judgeOf(context, store, flags, written));
    const journal = await openJournal(recordFolder(context, file, flags), context.clock);
    try {
      mustBeAsRegistered(journal, opened.registration);
      mustBeTrusted(opened, flags);
      const shown = progressLine(context, flags.json === true);
      const summary = await runExperiment({
        journal,
        store,
        items,
        grader: opened.grader,
        build: opened.build,
        agentFolders: {
          control: opened.arms.control.agent.folder,
          treatment: opened.arms.treatment.agent.folder,
        },
        execute: executorOf(context, opened, store, flags),
        clock: context.clock,
        signal,
        canaries: await canariesOf(context, experiment),
        limits: limitsOf(written.limits),
        onProgress: shown.show,
      }).finally(shown.close);
      if (flags.json) printJson(context, summary);
      else context.stdout.write(summaryText(summary, file, flags.record));
      return summary.complete ? exitCodes.completed : exitCodes.cancelled;
    } finally {
      await journal.close();
    }
  } finally {
    await store.close();
  }
}

/** A grader's command is code of a folder that may be anybody's. Throws `cli.untrusted`. */
function mustBeTrusted({ grader, experiment }: OpenedExperiment, flags: RunFlags): void {
  const { grader: written } = experiment.written;
  if (written.kind !== 'command' || flags.trust === true) return;
  throw new CliError(
    'cli.untrusted',
    `The experiment grades by a command of its folder, which runs outside of any sandbox: ${written.command.join(' ')} (digest ${shortDigest(grader.digest)}).`,
    { next: 'Look at it, then run the experiment with --trust.', details: { digest: grader.digest } },
  );
}

function limitsOf(limits: { concurrency?: number | undefined; startsPerMinute?: number | undefined } = {}) {
  const { concurrency, startsPerMinute } = limits;
  return {
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(startsPerMinute === undefined ? {} : { startsPerMinute }),
  };
}

/** What has an outcome, and the command that comes next: with `record` where it is not beside the file. */
export function summaryText(
  { trials, done, here, complete }: RunSummary,
  file: string,
  record: string | undefined,
): string {
  const at = shellWord(file) + (record === undefined ? '' : ` --record ${shellWord(record)}`);
  const next = complete
    ? `All trials are done. The report: writ experiment report ${at}`
    : `Stopped. It goes on with: writ experiment run ${at}`;
  return `${done} of ${trials} trials have an outcome, ${here} of them by this call.\n${next}\n`;
}

/** One line that is redrawn, on a terminal alone. What came out of a trial is not shown: that would be a look. */
function progressLine({ stderr }: Context, quiet: boolean) {
  if (quiet || !stderr.terminal) return { show: () => {}, close: () => {} };
  return {
    show(progress: Progress): void {
      stderr.write(`\r\u001b[2K${fitCells(progressText(progress), stderr.columns() - 1)}`);
    },
    close: () => stderr.write('\r\u001b[2K'),
  };
}

/** `123 of 540 trials · 1 min 5 s · 3 min 40 s left` */
export function progressText({ done, trials, elapsedMs, leftMs }: Progress): string {
  const left = leftMs === null ? 'time left unknown' : `${duration(leftMs)} left`;
  return `${done} of ${trials} trials · ${duration(elapsedMs)} · ${left}`;
}
