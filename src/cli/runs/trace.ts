/** `writ runs trace`: a run with its children as spans, for programs that draw or compare them. */
import { Option } from '@commander-js/extra-typings';
import { CliError } from '../errors.ts';
import { exitCodes } from '../exit.ts';
import { type NewCommand, withExamples } from '../program.ts';
import { openStoreToLook } from '../run/open-store.ts';
import { findRun, ledgerWords, runWords } from './find-run.ts';

export function traceCommand({ context, command, done }: NewCommand) {
  const trace = command('trace')
    .summary('one run with its children, as spans')
    .description(
      'Prints turns, requests, calls, steps of plans and children of a run as spans: one JSON object, or one line of JSON each.',
    )
    .argument('<run>', runWords)
    .addOption(
      new Option('--format <form>', 'json, or jsonl')
        .choices(['json', 'jsonl'] as const)
        .default('json' as const),
    )
    .option('--ledger <path>', ledgerWords)
    .option('--json', 'the same as --format json');
  return withExamples(trace, ['writ runs trace last', 'writ runs trace last --format jsonl']).action(
    async (word, options) => {
      if (options.json === true && options.format === 'jsonl')
        throw new CliError('cli.bad-value', 'Expected one form, found --json and --format jsonl.', {
          next: 'Leave out --json for one object a line, or --format for one object.',
        });
      const { store, path } = await openStoreToLook(context, options);
      try {
        const { run, session } = await findRun(store, word, path);
        const { readTrace, traceLines } = await import('../../run/trace.ts');
        const found = await readTrace(store, run, session);
        const lines = options.format === 'jsonl' ? traceLines(found) : [JSON.stringify(found, null, 2)];
        for (const line of lines) context.stdout.write(`${line}\n`);
        done(exitCodes.completed);
      } finally {
        await store.close();
      }
    },
  );
}
