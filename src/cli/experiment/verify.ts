/** `writ experiment verify`: computes every number of a report again from what the report itself publishes. */
import { printJson } from '../context.ts';
import { exitCodes } from '../exit.ts';
import { givenPath, type NewCommand, withExamples } from '../program.ts';
import { readTextFile } from '../text-file.ts';
import { count } from '../view/figures.ts';
import { visible } from '../view/visible.ts';

export function verifyReportCommand({ context, command, done }: NewCommand) {
  const verify = command('verify')
    .summary('compute the numbers of a report again')
    .description(
      'Checks the digests of a report and computes all its numbers and claims again from its table of trials, its\nregistration and its seed. Needs nothing but the file. Ends with 1 if something does not hold.',
    )
    .argument('<report>', 'the report.json', givenPath('REPORT'))
    .option('--json', 'print the checks as one JSON object');
  return withExamples(verify, ['writ experiment verify experiments/protocol.record/report.json']).action(
    async (file, flags) => {
      const { readReport, verifyReport } = await import('../../prove/verify.ts');
      const verification = verifyReport(readReport(await readTextFile(context, 'REPORT', file), file));
      if (flags.json) printJson(context, verification);
      else {
        const lines = verification.checks.map(
          ({ what, ok, found }) => `${ok ? 'ok   ' : 'WRONG'} ${what}${ok ? '' : `: ${found}`}`,
        );
        const verdict = verification.ok
          ? `verified: ${count(verification.numbers, 'number')}`
          : 'not verified';
        context.stdout.write(visible(`${[...lines, verdict].join('\n')}\n`));
      }
      done(verification.ok ? exitCodes.completed : exitCodes.failed);
    },
  );
}
