/** `writ space`: every distinct prompt that an agent's conditions can produce. */
import { resolve } from 'node:path';
import { printJson } from '../context.ts';
import { exitCodes } from '../exit.ts';
import { givenPath, type NewCommand, withExamples } from '../program.ts';
import { visible } from '../view/visible.ts';

export function spaceCommand({ context, command, done }: NewCommand) {
  const space = command('space')
    .summary('every distinct prompt the conditions can produce')
    .description(
      'Enumerates what the conditions of a profile can tell apart, unknown facts included: the distinct prompts with size\nand an example, fragments that are never or always in, conditions that exclude each other, prompts that no pin covers.',
    )
    .argument('<agent>', 'the agent folder', givenPath('AGENT'))
    .option('--profile <name>', 'the list of fragments to use', 'default')
    .option('--render', 'print the text of each listed prompt too')
    .option('--json', 'print the space as one JSON object');
  return withExamples(space, [
    'writ space agents/analyst',
    'writ space agents/analyst --profile qa --json',
  ]).action(async (folder, options) => {
    const [
      { loadAgent },
      { lockFile, readLock },
      { readBeside },
      { spaceOf },
      { spaceText },
      { vocabulary },
    ] = await Promise.all([
      import('../../compose/load/agent.ts'),
      import('../../compose/proof/lock.ts'),
      import('../../compose/load/proof-files.ts'),
      import('../../compose/proof/space.ts'),
      import('../../compose/proof/space-view.ts'),
      import('../../catalog.ts'),
    ]);
    const agent = await loadAgent(resolve(context.cwd, folder), vocabulary);
    const written = await readBeside(agent.folder, lockFile);
    const pins = written === undefined ? [] : Object.values(readLock(written).situations);
    const locked = new Set(pins.flatMap((profiles) => profiles[options.profile]?.sha256 ?? []));
    const found = await spaceOf(agent, options.profile, locked);
    if (options.json) {
      const prompts = found.prompts.map(({ text, ...prompt }) =>
        options.render ? { ...prompt, text } : prompt,
      );
      // JSON has no undefined: unknown is null, as in the examples.
      const groups = found.groups.map((group) => ({
        ...group,
        facts: group.facts.map(({ name, values }) => ({
          name,
          values: values.map((value) => value ?? null),
        })),
      }));
      printJson(context, { ...found, groups, prompts });
    } else context.stdout.write(visible(spaceText(found, options.render === true)));
    done(exitCodes.completed);
  });
}
