/** `writ deliver`: prints how an agent would be delivered to a harness, and touches nothing. */
import { Option } from '@commander-js/extra-typings';
import { allAdapters } from '../../catalog.ts';
import type { DeliveryPlan } from '../../protocol/delivery.ts';
import { type Fidelity, fidelities, type Intent, intents } from '../../protocol/intent.ts';
import { composeFolder, type SituationFlags, withSituationFlags } from '../compose/situation-flags.ts';
import { type Context, printJson } from '../context.ts';
import { exitCodes } from '../exit.ts';
import { harnessOption } from '../harness-option.ts';
import { givenPath, type NewCommand, withExamples } from '../program.ts';
import { planText } from './plan-text.ts';

interface DeliverFlags extends SituationFlags {
  readonly workspace?: string | undefined;
  readonly harness: string;
  readonly intent?: Intent | undefined;
  readonly fidelity?: Fidelity | undefined;
  readonly model?: string | undefined;
  readonly harnessVersion?: string | undefined;
  readonly unmeasured: 'refuse' | 'warn';
  readonly json?: true | undefined;
}

/** `task` is what stood after `--`, which the parser never sees. */
export function deliverCommand({ context, command, done }: NewCommand, task: string | undefined) {
  const flags = withSituationFlags(
    command('deliver')
      .summary('print how an agent would be delivered to a harness')
      .usage('<agent> --harness <name> [options] [-- TASK]')
      .description(
        'Composes the agent in a folder and prints the plan of one run on a harness: files, arguments, variables, input.\nNothing is started, written or connected. What the harness cannot honour is refused, with exit code 3.',
      )
      .argument('<agent>', 'the agent folder', givenPath('AGENT')),
  )
    .addOption(harnessOption('the harness').makeOptionMandatory())
    .addOption(
      new Option(
        '--intent <intent>',
        "what is done to the harness's own prompt (default: agent.yaml's, else append)",
      ).choices(intents),
    )
    .addOption(
      new Option('--fidelity <fidelity>', "how strictly (default: agent.yaml's, else base)").choices(
        fidelities,
      ),
    )
    .option(
      '--model <name>',
      "the model, as the harness names it (default: agent.yaml's where it is known, else it chooses)",
    )
    .option('--harness-version <version>', 'the version it has (default: the one that was measured)')
    .addOption(
      new Option('--unmeasured <choice>', 'what to do in a state that nobody measured')
        .choices(['refuse', 'warn'] as const)
        .default('refuse' as const),
    )
    .option('--json', 'print the plan as one JSON object');
  return withExamples(flags, [
    'writ deliver agents/analyst --harness claude-code',
    'writ deliver agents/analyst --harness codex --intent developer --json',
    'writ deliver agents/analyst --harness gemini --intent replace --fidelity exact -- "Say hello."',
  ]).action(async (folder, options) => {
    const plan = await planFor(context, folder, options, task);
    if (options.json) printJson(context, plan);
    else context.stdout.write(planText(plan));
    done(exitCodes.completed);
  });
}

async function planFor(
  context: Context,
  folder: string,
  flags: DeliverFlags,
  task: string | undefined,
): Promise<DeliveryPlan> {
  const { env } = context;
  const [
    { adapterOf, planDelivery },
    { dimensionsOf },
    { agentModel },
    { authModeOf },
    cells,
    { homeOf, homesFolder },
  ] = await Promise.all([
    import('../../deliver/plan-delivery.ts'),
    import('../../deliver/agent-dimensions.ts'),
    import('../../deliver/agent-model.ts'),
    import('../../deliver/adapter.ts'),
    import('../../deliver/verify/measured-cells.ts'),
    import('../../deliver/drive/home.ts'),
  ]);
  const rules = {
    adapters: await allAdapters(),
    measured: await cells.readMeasuredCells(cells.measuredCellsPath(env)),
    unmeasured: flags.unmeasured,
  };
  const { agent, composition, situation, workspace } = await composeFolder(context, folder, flags);
  const intent = flags.intent ?? agent.deliver.intent ?? 'append';
  const adapter = adapterOf(flags.harness, { intent }, rules);
  const { model, notices } = agentModel(adapter, agent.model, { given: flags.model, redirected: false });
  const plan = planDelivery(
    adapter.name,
    {
      intent,
      fidelity: flags.fidelity ?? agent.deliver.fidelity ?? 'base',
      text: composition.text,
      task: task ?? 'TASK',
      version: flags.harnessVersion ?? null,
      authMode: authModeOf(adapter, env),
      // A run has a home of its own below this folder; a plan that is only shown stands for all of them.
      home: homeOf(homesFolder(env), 'SESSION'),
      workspace,
      platform: process.platform,
      resume: null,
      baseUrl: null,
      ...(await dimensionsOf(adapter.name, agent, situation.skills)),
      ...(model === null ? {} : { model }),
    },
    rules,
  );
  return { ...plan, notices: [...plan.notices, ...notices] };
}
