/** `writ experiment register`: freezes what is asked, before anything is known, and says what the design can find. */
import { resolve } from 'node:path';
import { type Context, printJson } from '../context.ts';
import { exitCodes } from '../exit.ts';
import { givenPath, type NewCommand, withExamples } from '../program.ts';
import { visible } from '../view/visible.ts';
import type { ExperimentFlags } from './open-experiment.ts';

interface RegisterFlags extends ExperimentFlags {
  readonly deviation?: string | undefined;
  readonly json?: true | undefined;
}

export function registerCommand({ context, command, done }: NewCommand) {
  const register = command('register')
    .summary('freeze an experiment before its first trial')
    .description(
      'Resolves both arms, checks the items, and records everything under one digest. Runs nothing. After the first trial a\nchange needs --deviation, and the result is exploratory from then on.',
    )
    .argument('<file>', 'the experiment.yaml', givenPath('FILE'))
    .option(
      '--record <dir>',
      'where the journal is kept (default: NAME.record beside the file)',
      givenPath('--record'),
    )
    .option('--deviation <reason>', 'why something is changed after the first trial')
    .option('--json', 'print the registration as one JSON object');
  return withExamples(register, [
    'writ experiment register experiments/protocol.yaml',
    'writ experiment register experiments/protocol.yaml --deviation "five repeats were too few"',
  ]).action(async (file, flags) => done(await registerFile(context, file, flags)));
}

async function registerFile(context: Context, file: string, flags: RegisterFlags): Promise<number> {
  const [
    { openExperiment, recordFolder },
    { registrationText },
    { loadExperiment },
    { openJournal },
    { register },
    { registrationDigest },
    { withoutServer },
  ] = await Promise.all([
    import('./open-experiment.ts'),
    import('./register-text.ts'),
    import('../../prove/experiment.ts'),
    import('../../prove/journal.ts'),
    import('../../prove/register.ts'),
    import('../../prove/registration.ts'),
    import('./without-server.ts'),
  ]);
  const opened = await openExperiment(context, await loadExperiment(resolve(context.cwd, file)));
  const { registration } = opened;
  const serverless = await withoutServer(opened);
  const record = recordFolder(context, file, flags);
  const journal = await openJournal(record, context.clock);
  try {
    const status = await register(journal, registration, {
      clock: context.clock,
      deviation: flags.deviation,
    });
    const digest = registrationDigest(registration);
    if (flags.json) printJson(context, { status, digest, record, serverless, registration });
    else
      context.stdout.write(visible(registrationText(registration, { status, digest, record, serverless })));
    return exitCodes.completed;
  } finally {
    await journal.close();
  }
}
