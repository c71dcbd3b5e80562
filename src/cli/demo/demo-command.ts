/** `writ demo`: the main job on parts that come with the package; needs no key and no network. */
import { type NewCommand, withExamples } from '../program.ts';

export function demoCommand({ context, command, done }: NewCommand) {
  const demo = command('demo')
    .summary('watch an agent work; needs no key')
    .description(
      'Runs the analyst of the examples on a scripted model that is a real server on this machine, over real data.',
    );
  return withExamples(demo, ['writ demo']).action(async () => {
    const { demo: runDemo } = await import('./demo.ts');
    done(await runDemo(context));
  });
}
