/** `writ experiment register`: freezes what is asked, before anything is known, and says what the design can find. */
import type { Registered } from '../../prove/register.ts';
import type { ArmRecord, Registration } from '../../prove/registration.ts';
import { type Context, printJson } from '../context.ts';
import { exitCodes } from '../exit.ts';
import { givenPath, type NewCommand, withExamples } from '../program.ts';
import { count, shortDigest } from '../view/figures.ts';
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
  const [{ openExperiment }, { openJournal }, { register }, { registrationDigest }] = await Promise.all([
    import('./open-experiment.ts'),
    import('../../prove/journal.ts'),
    import('../../prove/register.ts'),
    import('../../prove/registration.ts'),
  ]);
  const { registration, record } = await openExperiment(context, file, flags);
  const journal = await openJournal(record, context.clock);
  try {
    const status = await register(journal, registration, {
      clock: context.clock,
      deviation: flags.deviation,
    });
    const digest = registrationDigest(registration);
    if (flags.json) printJson(context, { status, digest, record, registration });
    else context.stdout.write(visible(registrationText(registration, status, digest, record)));
    return exitCodes.completed;
  } finally {
    await journal.close();
  }
}

const statusWords: Readonly<Record<Registered, string>> = {
  registered: 'registered',
  unchanged: 'registered before, and unchanged',
  replaced: 'registered in place of the earlier one; no trial had been run',
  deviated: 'registered as a deviation: the result is exploratory',
};

function registrationText(
  registration: Registration,
  status: Registered,
  digest: string,
  record: string,
): string {
  const { question, arms, cell, items, repeats, primary, secondary, design, alpha, errors, grader } =
    registration;
  const { power, smallestP, trials } = design;
  const assumed = power.assumed as {
    readonly kind: string;
    readonly given: boolean;
    readonly effect: number;
  };
  const lines = [
    question,
    '',
    `control    ${armText(arms.control)}`,
    `treatment  ${armText(arms.treatment)}`,
    `cell       ${cell}`,
    `items      ${items.length}, each ${count(repeats, 'time')} in both arms: ${count(trials, 'trial')}`,
    `primary    ${primary === null ? 'none: nothing decides by itself' : `${primary.metric}, ${primary.question}${primary.margin === null ? '' : `, margin ${primary.margin}`}`}`,
    `secondary  ${secondary.map((one) => (one.per === null ? one.metric : `${one.metric} per ${one.per}`)).join(', ') || 'none'}`,
    `grader     ${grader.kind} ${shortDigest(grader.digest)}`,
    `outages    above ${(100 * errors.limit).toFixed(0)} % of lost pairs the result is inconclusive`,
    '',
    `smallest p that this design can give: ${smallestP.toPrecision(2)} (alpha ${alpha})`,
    `power: ${(100 * power.power).toFixed(0)} % for a difference of ${assumed.effect}${assumed.given ? '' : ', under assumptions that nobody gave (assume: in the file)'}`,
    '',
    `${statusWords[status]}: ${digest}`,
    `record: ${record}`,
  ];
  return `${lines.join('\n')}\n`;
}

function armText({ label, agent, model, harness, prompt, tokens, overrides }: ArmRecord): string {
  const changed = Object.entries(overrides).map(([id, presence]) => `${id} ${presence}`);
  return [
    label,
    `${agent} on ${model}${harness === undefined ? '' : ` by ${harness.name} (${harness.intent}, ${harness.fidelity})`}`,
    `prompt ${shortDigest(prompt)}, ${count(tokens, 'token')}`,
    ...changed,
  ].join(' · ');
}
