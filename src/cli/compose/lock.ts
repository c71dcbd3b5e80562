/** `writ lock`: pins what the named situations of an agent compose to. */
import { join, resolve } from 'node:path';
import { printJson } from '../context.ts';
import { exitCodes } from '../exit.ts';
import { givenPath, type NewCommand, withExamples } from '../program.ts';
import { count } from '../view/figures.ts';
import { visible } from '../view/visible.ts';

export function lockCommand({ context, command, done }: NewCommand) {
  const lock = command('lock')
    .summary('pin what the named situations compose to')
    .description(
      'Composes every named situation of agent.yaml under every profile and writes the digests of the exact bytes\ninto writ.lock.json. A situation that depends on the machine at hand is refused.',
    )
    .argument('<agent>', 'the agent folder', givenPath('AGENT'))
    .option('--json', 'print the lock as one JSON object');
  return withExamples(lock, ['writ lock agents/analyst', 'writ lock agents/analyst --json']).action(
    async (folder, options) => {
      const [{ loadAgent }, { lockAgent, lockFile, lockText }, files, { vocabulary }] = await Promise.all([
        import('../../compose/load/agent.ts'),
        import('../../compose/proof/lock.ts'),
        import('../../compose/load/proof-files.ts'),
        import('../../catalog.ts'),
      ]);
      const agent = await loadAgent(resolve(context.cwd, folder), vocabulary);
      const digests = files.digestsOf(await files.readFragmentFiles(agent));
      const made = await lockAgent(agent, digests);
      const text = lockText(made);
      const path = join(agent.folder, lockFile);
      const before = await files.readBeside(agent.folder, lockFile);
      if (before !== text) await files.replaceFile(path, text, context.clock.id('new'));
      const pins = Object.values(made.situations).reduce((sum, one) => sum + Object.keys(one).length, 0);
      const what = `${count(pins, 'text')} of ${count(agent.situations.size, 'situation')}`;
      if (options.json) printJson(context, made);
      else
        context.stdout.write(
          before === text
            ? `${visible(lockFile)} already pins ${what}.\n`
            : `Pinned ${what} in ${visible(join(folder, lockFile))}.\n`,
        );
      done(exitCodes.completed);
    },
  );
}
