/** `writ init`: a new agent folder with a place for its record, all of it or nothing. */

import { basename, resolve } from 'node:path';
import { printJson } from '../context.ts';
import { exitCodes } from '../exit.ts';
import { givenPath, type NewCommand, withExamples } from '../program.ts';
import { shellWord } from '../run/open-store.ts';
import { visible } from '../view/visible.ts';
import { keyFrom, makeAgent, readKey } from './new-agent.ts';

export function initCommand({ context, command, done }: NewCommand) {
  const init = command('init')
    .summary('make a new agent')
    .description('Makes a small agent in a folder that is new or empty.')
    .argument('<dir>', 'the folder', givenPath('DIR'))
    .option('--key <key>', 'what records and conditions call the agent (default: the name of the folder)')
    .option('--json', 'print what was made as one JSON object');
  return withExamples(init, ['writ init agents/helper', 'writ init . --key helper']).action(
    async (dir, options) => {
      const folder = resolve(context.cwd, dir);
      const key = readKey(options.key ?? keyFrom(basename(folder)));
      const { scaffoldAgent } = await import('../../compose/scaffold.ts');
      const files = await makeAgent(folder, scaffoldAgent(key), context.clock.id('new'));
      if (options.json) printJson(context, { folder, key, files });
      else context.stdout.write(nextSteps(dir, files));
      done(exitCodes.completed);
    },
  );
}

function nextSteps(dir: string, files: readonly string[]): string {
  return [
    `Made ${visible(dir)} with ${files.join(', ')}.`,
    '',
    'Next:',
    // From inside, the record of its runs goes into the folder's own .writ.
    ...(dir === '.' ? [] : [`  cd ${dir.startsWith('-') ? '-- ' : ''}${shellWord(dir)}`]),
    '  writ compose .',
    '  writ run . --model openrouter/VENDOR/NAME -- "What is in this folder?"',
    '',
  ].join('\n');
}
