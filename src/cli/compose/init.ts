/** `writ init`: a new agent folder with a place for its record, all of it or nothing. */

import { basename, resolve } from 'node:path';
import { Option } from '@commander-js/extra-typings';
import { adapters } from '../../catalog.ts';
import type { Intent } from '../../protocol/intent.ts';
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
    .addOption(
      new Option('--harness <name>', 'the agent program that it is for (default: native)').choices(
        adapters.map(({ name }) => name),
      ),
    )
    .option('--json', 'print what was made as one JSON object');
  return withExamples(init, [
    'writ init agents/helper',
    'writ init . --key helper',
    'writ init agents/tidy --harness codex',
  ]).action(async (dir, options) => {
    const folder = resolve(context.cwd, dir);
    const key = readKey(options.key ?? keyFrom(basename(folder)));
    const { scaffoldAgent } = await import('../../compose/scaffold.ts');
    const { harness = 'native' } = options;
    const intent = await intentFor(harness);
    const files = await makeAgent(folder, scaffoldAgent(key, intent), context.clock.id('new'));
    if (options.json) printJson(context, { folder, key, files });
    else context.stdout.write(nextSteps(dir, files, harness));
    done(exitCodes.completed);
  });
}

// What leaves the vendor's prompt in its place goes before what takes it away. Null for ours, which has none.
const preferred = ['append', 'developer', 'context', 'replace'] as const satisfies readonly Intent[];

async function intentFor(harness: string): Promise<Intent | null> {
  if (harness === 'native') return null;
  const [adapter, { isControl }] = await Promise.all([
    adapters.find(({ name }) => name === harness)?.load(),
    import('../../deliver/permit.ts'),
  ]);
  return preferred.find((intent) => adapter !== undefined && isControl(adapter.controls[intent])) ?? null;
}

function nextSteps(dir: string, files: readonly string[], harness: string): string {
  return [
    `Made ${visible(dir)} with ${files.join(', ')}.`,
    '',
    'Next:',
    // From inside, the record of its runs goes into the folder's own .writ.
    ...(dir === '.' ? [] : [`  cd ${dir.startsWith('-') ? '-- ' : ''}${shellWord(dir)}`]),
    '  writ compose .',
    ...runSteps(harness),
    '',
  ].join('\n');
}

function runSteps(harness: string): readonly string[] {
  const task = '-- "What is in this folder?"';
  if (harness === 'native') return [`  writ run . --model openrouter/VENDOR/NAME ${task}`];
  // An agent of a protocol is named by its path.
  const named = harness === 'acp' ? `${harness} --bin PATH` : harness;
  return [`  writ deliver . --harness ${harness}`, `  writ run . --harness ${named} --lower all ${task}`];
}
