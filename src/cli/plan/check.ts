/** `writ plan check`: whether a plan is one, what it needs at its worst, and whether an agent may run it. Runs nothing. */
import { collect, composeFolder } from '../compose/situation-flags.ts';
import { type Context, printJson } from '../context.ts';
import { exitCodes } from '../exit.ts';
import { givenPath, type NewCommand, withExamples } from '../program.ts';
import { admitText } from './admit-text.ts';
import { type InputFlags, readInputs, readPlanFile } from './plan-file.ts';

interface CheckFlags extends InputFlags {
  readonly agent?: string | undefined;
  readonly workspace?: string | undefined;
  readonly model?: string | undefined;
  readonly json?: boolean | undefined;
}

export function planCheckCommand({ context, command, done }: NewCommand) {
  const check = command('check')
    .summary('say whether a plan may run, and what it needs')
    .description(
      'Checks the form of a plan, its names, its rights and its worst case. Nothing is run.\nWithout --agent only the form is judged, as if every right were held.',
    )
    .argument('<file>', 'the plan, or - for standard input', givenPath('FILE'))
    .option('--agent <folder>', 'the agent that would run it', givenPath('--agent'))
    .option('--workspace <dir>', 'where the agent would work (default: the current folder)')
    .option('--model <provider/name>', 'the model of its model steps (default: the one in agent.yaml)')
    .option('--input <name=text>', 'an input of the plan; may be repeated', collect)
    .option('--input-file <name=file>', 'an input from a file; may be repeated', collect)
    .option('--json', 'print the result as one JSON object');
  return withExamples(check, [
    'writ plan check plan.json',
    'writ plan check plan.json --agent agents/analyst --input question=Why --json',
  ]).action(async (file, options) => done(await checkFile(context, file, options)));
}

async function checkFile(context: Context, file: string, flags: CheckFlags): Promise<number> {
  const text = await readPlanFile(context, file);
  const inputs = Object.keys(await readInputs(context, flags));
  const { agent, workspace, model } = flags;
  const compose = agent === undefined ? undefined : () => composeFolder(context, agent, { workspace });
  const admitted = await admitText(text, inputs, compose, { model });
  const { digest, estimate, limits } = admitted.accepted;
  if (flags.json === true) printJson(context, { valid: true, digest, estimate, limits });
  else {
    const amounts = Object.entries(estimate).map(
      ([name, amount]) => `  ${name.padEnd(12)}${amount} of ${limits[name as keyof typeof estimate]}`,
    );
    context.stdout.write(`The plan may run. At its worst it needs:\n${amounts.join('\n')}\n`);
  }
  return exitCodes.completed;
}
