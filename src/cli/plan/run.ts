/** `writ plan run`: runs a plan with an agent's tools and rights, inside its budget, and records every step. */
import { type Composed, collect, composeFolder, withSituationFlags } from '../compose/situation-flags.ts';
import type { Context } from '../context.ts';
import { givenPath, type NewCommand, withExamples } from '../program.ts';
import { runNative } from '../run/run.ts';
import type { RunFlags } from '../run/run-flags.ts';
import { approveOption, effortOption, trustOption } from '../run/run-seat.ts';
import { admitText } from './admit-text.ts';
import { type InputFlags, readInputs, readPlanFile } from './plan-file.ts';

interface PlanRunFlags extends RunFlags, InputFlags {
  readonly agent?: string | undefined;
}

export function planRunCommand({ context, command, done }: NewCommand) {
  const run = withSituationFlags(
    command('run')
      .summary('run a plan with an agent')
      .description(
        'Checks a whole plan and runs it with the tools, the rights and the budget of an agent. The value of its final goes to stdout.\nA run that was interrupted goes on behind its last finished step: writ runs resume.',
      )
      .argument('<file>', 'the plan, or - for standard input', givenPath('FILE'))
      .requiredOption('--agent <folder>', 'the agent that runs it'),
  )
    .option('--input <name=text>', 'an input of the plan; may be repeated', collect)
    .option('--input-file <name=file>', 'an input from a file; may be repeated', collect)
    .option('--model <provider/name>', 'the model of its model steps (default: the one in agent.yaml)')
    .option('--base-url <url>', 'a server of your own choice')
    .option('--key-env <name>', 'the environment variable that holds the key')
    .addOption(effortOption('--reasoning-effort', 'how much the model reasons, whatever its steps say'))
    .addOption(approveOption())
    .option(
      '--budget <k=v>',
      'a limit over that of agent.yaml, or k=none to lift one; may be repeated',
      collect,
    )
    .option(
      '--context <[alias=]file>',
      'a file that its steps may look into without reading it whole; may be repeated',
      collect,
    )
    .option('--spec <file>', 'what has to be true in the end: looked after once the plan is done')
    .addOption(trustOption())
    .option('--ledger <path>', 'the ledger (default: the nearest .writ, else the one of the user)')
    .option('--json', 'print the result as one JSON object');
  return withExamples(run, [
    'writ plan run plan.json --agent agents/analyst --workspace data',
    'writ plan run - --agent agents/analyst --input question=Why --budget toolCalls=4 --json < plan.json',
  ]).action(async (file, options) => done(await runFile(context, file, options)));
}

async function runFile(context: Context, file: string, flags: PlanRunFlags): Promise<number> {
  const folder = givenPath('--agent')(flags.agent ?? '');
  const [text, inputs] = await Promise.all([readPlanFile(context, file), readInputs(context, flags)]);
  // Only where the plan is one, and once: its probes look at the machine.
  let composed: Promise<Composed> | undefined;
  const compose = () => {
    composed ??= composeFolder(context, folder, flags);
    return composed;
  };
  const { asksModel } = await admitText(text, Object.keys(inputs), compose, flags);
  const { planTask } = await import('../../native/plan/session-plans.ts');
  const modelless = asksModel ? undefined : true;
  return runNative(context, await compose(), { ...flags, root: 'plan', modelless }, planTask(text, inputs));
}
