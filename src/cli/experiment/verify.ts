/** `writ experiment verify`: computes every number of a report again, and holds it against its journal and what is there now. */
import { stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Verification } from '../../prove/verify.ts';
import { type Context, printJson } from '../context.ts';
import { exitCodes } from '../exit.ts';
import { givenPath, type NewCommand, withExamples } from '../program.ts';
import { readTextFile } from '../text-file.ts';
import { count } from '../view/figures.ts';
import { visible } from '../view/visible.ts';
import { driftLines } from './report-text.ts';

interface VerifyFlags {
  readonly record?: string | undefined;
  readonly experiment?: string | undefined;
  readonly json?: true | undefined;
}

export function verifyReportCommand({ context, command, done }: NewCommand) {
  const verify = command('verify')
    .summary('compute the numbers of a report again')
    .description(
      'Checks the digests of a report and computes all its numbers and claims again from its table of trials, its\nregistration and its seed. Beside its journal, it must be a report that was made of it. Says how what is there now\ndiffers from what was measured. Ends with 1 if something does not hold.',
    )
    .argument('<report>', 'the report.json', givenPath('REPORT'))
    .option('--record <dir>', 'where its journal is kept (default: beside the report)', givenPath('--record'))
    .option(
      '--experiment <file>',
      'the experiment.yaml (default: NAME.yaml beside NAME.record)',
      givenPath('--experiment'),
    )
    .option('--json', 'print the checks as one JSON object');
  return withExamples(verify, [
    'writ experiment verify experiments/protocol.record/report.json',
    'writ experiment verify report.json --record experiments/protocol.record --experiment experiments/protocol.yaml',
  ]).action(async (file, flags) => done(await verifyFile(context, file, flags)));
}

async function verifyFile(context: Context, file: string, flags: VerifyFlags): Promise<number> {
  const [{ readReport, verifyReport }, { presentOf }, { recordIn }] = await Promise.all([
    import('../../prove/verify.ts'),
    import('./present.ts'),
    import('./record-in.ts'),
  ]);
  const text = await readTextFile(context, 'REPORT', file);
  const report = readReport(text, file);
  const folder = resolve(context.cwd, flags.record ?? dirname(file));
  const record = await recordIn(folder, report.journal, flags.record !== undefined);
  const present = await presentOf(context, flags.experiment ?? (await experimentOf(folder)));
  const verification = verifyReport(report, {
    text,
    present,
    ...(record === undefined ? {} : { record }),
  });
  if (flags.json) printJson(context, verification);
  else context.stdout.write(visible(verificationText(verification)));
  return verification.ok ? exitCodes.completed : exitCodes.failed;
}

/** The file whose record a folder is by its name, if it is there. */
async function experimentOf(folder: string): Promise<string | undefined> {
  if (!folder.endsWith('.record')) return undefined;
  for (const ending of ['yaml', 'yml']) {
    const file = `${folder.slice(0, -'.record'.length)}.${ending}`;
    if (
      await stat(file).then(
        (found) => found.isFile(),
        () => false,
      )
    )
      return file;
  }
  return undefined;
}

function verificationText({ ok, checks, notChecked, numbers, drift }: Verification): string {
  const changed = driftLines(drift);
  return [
    ...checks.map((one) => `${one.ok ? 'ok   ' : 'WRONG'} ${one.what}${one.ok ? '' : `: ${one.found}`}`),
    ...notChecked.map(({ what, why }) => `?     ${what}: not checked, ${why}`),
    ...(changed.length === 0 ? ['what is there now is what was measured'] : changed),
    ok ? `verified: ${count(numbers, 'number')}` : 'not verified',
    '',
  ].join('\n');
}
