/** `writ import`: splits a prompt into an agent folder that composes to exactly the same bytes. */
import { basename, resolve } from 'node:path';
import { printJson } from '../context.ts';
import { CliError } from '../errors.ts';
import { exitCodes } from '../exit.ts';
import { givenPath, type NewCommand, withExamples } from '../program.ts';
import { shellWord } from '../run/open-store.ts';
import { readTextFile } from '../text-file.ts';
import { count } from '../view/figures.ts';
import { visible } from '../view/visible.ts';
import { keyFrom, makeAgent, readKey } from './new-agent.ts';

export function importCommand({ context, command, done }: NewCommand) {
  const make = command('import')
    .summary('split a prompt into fragments that compose to the same bytes')
    .description(
      'Splits a prompt into fragments in a folder that is new or empty. Before anything stands there, the agent is\ncomposed and its digest compared with that of the file.',
    )
    .argument('<file>', 'the prompt, in UTF-8')
    .argument('<dir>', 'the folder', givenPath('DIR'))
    .option('--by <headings|marks>', 'split at headings, or at lines <!-- fragment: NAME -->', 'headings')
    .option('--key <key>', 'what records and conditions call the agent (default: the name of the folder)')
    .option('--json', 'print what was made as one JSON object');
  return withExamples(make, [
    'writ import prompt.md agents/helper',
    'writ import prompt.md agents/helper --by marks --key helper',
  ]).action(async (file, dir, options) => {
    const [{ importedAgent, splitPrompt }, { sha256 }, { proveIdentical }] = await Promise.all([
      import('../../compose/proof/import-prompt.ts'),
      import('../../digest.ts'),
      import('../../compose/load/import-proof.ts'),
    ]);
    const folder = resolve(context.cwd, dir);
    const key = readKey(options.key ?? keyFrom(basename(folder)));
    const text = await readTextFile(context, 'writ import', file);
    if (text.trim() === '') {
      throw new CliError(
        'cli.bad-value',
        `writ import expected a prompt with text in it, found none in ${file}.`,
        {
          next: 'Name the file that holds the prompt, or begin with writ init.',
          details: { file },
        },
      );
    }
    const parts = splitPrompt(text, readBy(options.by));
    const digest = sha256(text);
    const files = await makeAgent(folder, importedAgent(key, parts), context.clock.id('new'), (draft) =>
      proveIdentical(draft, digest),
    );
    if (options.json)
      printJson(context, { folder, key, files, sha256: digest, bytes: Buffer.byteLength(text) });
    else {
      const lines = [
        `Made ${dir} with ${count(parts.length, 'fragment')}; it composes to the ${count(Buffer.byteLength(text), 'byte')} of ${file}.`,
        `sha256 ${digest}`,
        '',
        `Next: writ lock ${shellWord(dir)}`,
      ];
      context.stdout.write(visible(`${lines.join('\n')}\n`));
    }
    done(exitCodes.completed);
  });
}

function readBy(by: string): 'headings' | 'marks' {
  if (by === 'headings' || by === 'marks') return by;
  throw new CliError('cli.bad-value', `--by expected headings or marks, found '${by}'.`, {
    next: 'Write it like --by headings.',
    details: { option: '--by' },
  });
}
