/** `writ compose`: prints exactly the bytes that an agent's model would read. */
import { printJson } from '../context.ts';
import { exitCodes } from '../exit.ts';
import { givenPath, type NewCommand, withExamples } from '../program.ts';
import { composeFolder, withSituationFlags } from './situation-flags.ts';

export function composeCommand({ context, command, done }: NewCommand) {
  const flags = withSituationFlags(
    command('compose')
      .summary('print exactly the composed instructions')
      .description(
        'Composes the agent in a folder for one session and prints exactly those bytes: no line break is added.\nNothing in the folder is executed.',
      )
      .argument('<agent>', 'the agent folder', givenPath('AGENT')),
  )
    .option('--explain', 'print layers, decisions and sizes instead')
    .option('--json', 'print the composition as one JSON object instead');
  return withExamples(flags, [
    'writ compose agents/analyst',
    'writ compose agents/analyst --situation headless-plain --explain',
    'writ compose agents/analyst --fact workspace.dbt=true | sha256sum',
  ]).action(async (folder, options) => {
    const { agent, composition, situation, sources } = await composeFolder(context, folder, options);
    const [{ compositionJson, explain }, { explainSources }, { explainTools }] = await Promise.all([
      import('../../compose/explain.ts'),
      import('../../compose/explain-sources.ts'),
      import('../../compose/explain-tools.ts'),
    ]);
    if (options.json) printJson(context, compositionJson(composition));
    else if (!options.explain) context.stdout.write(composition.text);
    else
      context.stdout.write(
        explain(composition, agent) +
          explainTools(agent, situation) +
          explainSources(sources, situation.skills ?? []),
      );
    done(exitCodes.completed);
  });
}
