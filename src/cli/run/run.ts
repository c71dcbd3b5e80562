/** `writ run`: composes an agent, gives its model the task, and records everything. */
import { Option } from '@commander-js/extra-typings';
import { policiesFor } from '../../compose/policies.ts';
import { surfaceModes } from '../../compose/surface/mode.ts';
import { permissionModes } from '../../deliver/request.ts';
import { type WireName, wireNames } from '../../native/model/wire-names.ts';
import { fidelities, intents } from '../../protocol/intent.ts';
import { configuredRun } from '../compose/configured.ts';
import {
  absoluteFlags,
  type Composed,
  collect,
  composeFolder,
  withSituationFlags,
} from '../compose/situation-flags.ts';
import type { Context } from '../context.ts';
import { CliError } from '../errors.ts';
import { harnessOption } from '../harness-option.ts';
import { givenPath, type NewCommand, withExamples } from '../program.ts';
import { readStdin, readTextFile } from '../text-file.ts';
import { skillFolders } from './built-in-tool.ts';
import { overlayLimits, unlimitedNotices } from './limits.ts';
import type { Origin } from './origin.ts';
import type { RunFlags } from './run-flags.ts';
import { approveOption, effortOption, trustOption } from './run-seat.ts';

/** `task` is what stood after `--`, which the parser never sees. */
export function runCommand({ context, command, done }: NewCommand, task: string | undefined) {
  const flags = withSituationFlags(
    command('run')
      .summary('run a task')
      .usage('<agent> [options] -- TASK')
      .description(
        'Runs a task with the agent in a folder. The answer goes to stdout, progress to stderr.\nEverything after -- is the task, word for word.',
      )
      .argument('<agent>', 'the agent folder', givenPath('AGENT')),
  )
    .addOption(harnessOption('native, which is the default, or the agent program'))
    .addOption(
      new Option(
        '--intent <intent>',
        "what is done to the program's own prompt (default: agent.yaml's, else append)",
      ).choices(intents),
    )
    .addOption(
      new Option('--fidelity <fidelity>', "how strictly (default: agent.yaml's, else base)").choices(
        fidelities,
      ),
    )
    .addOption(
      new Option(
        '--unmeasured <choice>',
        'what to do in a state that nobody measured (default: refuse)',
      ).choices(['refuse', 'warn'] as const),
    )
    .option('--verify', 'measure what the program does with the text, then run only if it is honoured')
    .addOption(
      new Option('--permissions <mode>', 'what the program may do without asking (default: its own)').choices(
        permissionModes,
      ),
    )
    .option('--bin <path>', 'the program (default: the one on PATH)')
    .option('--bin-arg <word>', 'a word behind the program of an ACP agent; may be repeated', collect)
    .option(
      '--metered',
      "lead the program's requests through a recorder that keeps the budget and proves the text in each",
    )
    .option(
      '--lower <guarantee=level>',
      'do without a guarantee that the program does not give, or all; may be repeated',
      collect,
    )
    .option('--model <provider/name>', 'the model (default: the one in agent.yaml)')
    .option('--base-url <url>', 'a server of your own choice')
    .addOption(
      new Option(
        '--wire <name>',
        "the protocol that the server speaks (default: the provider's, else openai-chat)",
      ).choices(wireNames),
    )
    .option('--key-env <name>', 'the environment variable that holds the key')
    .option('--session <id>', 'continue this session instead of starting one')
    .addOption(approveOption())
    .option(
      '--budget <k=v>',
      'a limit over that of agent.yaml, or k=none to lift one; may be repeated',
      collect,
    )
    .addOption(
      new Option(
        '--surface <mode>',
        'how the session chooses from the tools of its servers (default: the mode in agent.yaml, else compiled)',
      ).choices(surfaceModes),
    )
    .addOption(
      new Option(
        '--root <way>',
        'how the model works: turn by turn, or by one decision between an answer and a plan (default: loop)',
      ).choices(['loop', 'decide'] as const),
    )
    .option('--spec <file>', 'what has to be true in the end: looked after once the model has answered')
    .option('--max-tokens <n>', 'the most tokens of one answer', readCount)
    .addOption(effortOption('--reasoning-effort', 'how much the model reasons'))
    .addOption(
      effortOption(
        '--decision-effort',
        'how much it reasons about its decision, with --root decide (default: --reasoning-effort)',
      ),
    )
    .option('--task-file <file>', 'read the task from a file, or from standard input with -')
    .option(
      '--context <[alias=]file>',
      'a file that the model may look into without reading it whole; may be repeated',
      collect,
    )
    .addOption(trustOption())
    .option('--ledger <path>', 'the ledger (default: the nearest .writ, else the one of the user)')
    .option('--json', 'print the result as one JSON object');
  return withExamples(flags, [
    'writ run agents/analyst --workspace data -- "Which country grew fastest?"',
    'writ run agents/analyst --model openai/gpt-4.1-mini --budget costUsd=0.10 -- "List the tables."',
    'git diff | writ run agents/reviewer --task-file - --json',
    'writ run agents/writer --harness codex --intent developer --lower all -- "Tidy the notes."',
    'writ run agents/writer --harness pi --metered --base-url https://api.openai.com/v1 --budget modelCalls=9 --lower all -- "Tidy the notes."',
    'writ run agents/writer --spec done.json -- "Write CHANGES.md."',
    'writ run agents/analyst -- --version      (the task is the text "--version")',
  ]).action(async (folder, options) => done(await runTask(context, folder, options, task)));
}

async function runTask(
  context: Context,
  folder: string,
  flags: RunFlags,
  task: string | undefined,
): Promise<number> {
  const text = await readTask(context, flags, task);
  const { harness = 'native' } = flags;
  if (harness !== 'native') {
    const { runOutside } = await import('./outside-run.ts');
    return runOutside(context, folder, { ...flags, harness }, text);
  }
  mustBeNative(flags);
  return runNative(context, await composeFolder(context, folder, flags), flags, text);
}

/** Has our own harness work on the task with a composed agent. Resolves with the exit code. */
export async function runNative(
  context: Context,
  composed: Composed,
  flags: RunFlags,
  text: string,
): Promise<number> {
  mustBeKeepable(composed);
  const limits = overlayLimits(composed.agent.budget, flags.budget);
  const described = originOf(context, composed, flags);
  const [
    { givenSpecFile },
    { planSkillsOf },
    { contextFiles },
    { openHarness },
    { originRecord },
    { openStore },
    { mustBeOwn },
    { inSeat },
    { startRun },
  ] = await Promise.all([
    import('./spec-file.ts'),
    import('./plan-skills.ts'),
    import('./context-files.ts'),
    import('./harness-parts.ts'),
    import('./origin.ts'),
    import('./open-store.ts'),
    import('./own-ledger.ts'),
    import('./run-seat.ts'),
    import('../../run/run.ts'),
  ]);
  const contexts = await contextFiles(context, flags, composed.workspace);
  const spec = await givenSpecFile(context, flags.spec, composed.agent.spec);
  const planSkills = await planSkillsOf(composed.agent, composed.situation.skills);
  const origin = {
    ...described,
    ...(contexts.length === 0 ? {} : { contexts }),
    ...(spec === undefined ? {} : { spec }),
    ...(planSkills === undefined ? {} : { planSkills }),
  };
  const { key: agent, capabilities } = composed.agent;
  const quiet = flags.json === true;
  const parts = await openHarness(context, origin, {
    agent,
    trust: flags.trust === true,
    quiet,
    capabilities,
  });
  try {
    const opened = await openStore(context, flags, composed.workspace);
    try {
      if (flags.session !== undefined)
        await mustBeOwn(context, opened, 'run', '…', '--session', flags.session);
      return await inSeat(context, opened, parts, flags, (seat) =>
        startRun({
          ...seat,
          composition: composed.composition,
          capabilities: composed.agent.capabilities,
          limits,
          // A plan ends by itself: its worst case was counted before its first step.
          notices: flags.root === 'plan' ? [] : unlimitedNotices(limits, flags.budget),
          task: text,
          ...(flags.session === undefined ? {} : { session: flags.session }),
          origin: originRecord(origin),
        }),
      );
    } finally {
      await opened.store.close();
    }
  } finally {
    await parts.close();
  }
}

const ofPrograms = {
  bin: '--bin',
  binArg: '--bin-arg',
  metered: '--metered',
  lower: '--lower',
  unmeasured: '--unmeasured',
  verify: '--verify',
  permissions: '--permissions',
} as const;

// Our own harness keeps every guarantee and has no program to be given.
function mustBeNative(flags: RunFlags): void {
  const found = Object.entries(ofPrograms).find(
    ([name]) => flags[name as keyof typeof ofPrograms] !== undefined,
  );
  if (found === undefined) return;
  throw new CliError('cli.unsupported', `${found[1]} is for agent programs, and the harness is native.`, {
    next: `Leave ${found[1]} out, or name a program with --harness.`,
    details: { option: found[1] },
  });
}

async function readTask(context: Context, flags: RunFlags, task: string | undefined): Promise<string> {
  const { taskFile } = flags;
  if (task !== undefined && taskFile !== undefined) {
    throw new CliError('cli.bad-value', 'Expected one task, found one after -- and one in --task-file.', {
      next: 'Take one of the two away.',
    });
  }
  let text = task ?? '';
  if (taskFile === '-') text = await readStdin(context, '--task-file');
  else if (taskFile !== undefined) text = await readTextFile(context, '--task-file', taskFile);
  if (text.trim() !== '') return text;
  // The same error that the runtime gives, before a model or a ledger is looked for.
  const { RunError } = await import('../../run/errors.ts');
  throw new RunError('run.task-empty', 'Expected a task, found none.', {
    next: 'Give it after two dashes: writ run AGENT -- TASK, or with --task-file.',
  });
}

// What an agent asks for and this harness does not do must not be passed over: it may be what makes the agent safe.
function mustBeKeepable({ agent, situation }: Composed): void {
  const { deliver, tools, capabilities } = agent;
  const { intent } = deliver;
  const readable = capabilities.includes('skills') && tools.some((tool) => tool.name === 'skill_read');
  if (situation.skills !== undefined && !readable) {
    throw new CliError(
      'cli.unsupported',
      'The session has skills, which a model reads with the tool skill_read and the capability skills; one of the two is missing.',
      {
        next: 'Add skill_read to tools and skills to capabilities, or take skills out.',
        details: { key: 'skills' },
      },
    );
  }
  // The text is the whole system message: nothing of a vendor's is there to keep, so replace and append come to the same.
  const channel = intent === 'developer' || intent === 'context' ? `deliver.intent: ${intent}` : undefined;
  if (channel === undefined) return;
  throw new CliError(
    'cli.unsupported',
    `agent.yaml sets ${channel}, which the native harness does not keep.`,
    {
      next: `Take ${channel} out, or use an agent without it.`,
      details: { key: channel },
    },
  );
}

function originOf(context: Context, composed: Composed, flags: RunFlags): Origin {
  const { agent, folder, workspace, situation } = composed;
  const configured = configuredRun(composed.configured);
  const policies = policiesFor(agent.policies, flags.interactive === true);
  const model = flags.modelless === true ? 'none' : (flags.model ?? configured.model ?? agent.model);
  // A server, its protocol and its key belong together: none of a configuration goes with a server of the flags.
  const server = flags.baseUrl === undefined ? configured : undefined;
  if (model === null) {
    throw new CliError(
      'cli.no-model',
      'Expected a model, found none on the command line, in a configuration or in agent.yaml.',
      {
        next: 'Give one with --model provider/name, or write model: provider/name into agent.yaml.',
      },
    );
  }
  return {
    agentFolder: folder,
    workspace,
    model,
    ...(flags.modelless === true ? { modelless: true } : {}),
    baseUrl: flags.baseUrl ?? server?.baseUrl,
    wire: flags.wire ?? readWire(server?.wire),
    keyEnv: flags.keyEnv ?? server?.keyEnv,
    maxTokens: flags.maxTokens,
    ...effortsOf(flags),
    ...(flags.root === undefined || flags.root === 'loop' ? {} : { root: flags.root }),
    price: configured.prices.get(model) ?? agent.prices.get(model),
    tools: agent.tools.map(({ options, ...tool }) => ({ ...tool, options: { ...options } })),
    resolved: composed.resolution,
    surface: { ...agent.surface, ...(flags.surface === undefined ? {} : { mode: flags.surface }) },
    ...(Object.keys(policies).length === 0 ? {} : { policies: JSON.parse(JSON.stringify(policies)) }),
    ...(agent.conversation === null ? {} : { conversation: { ...agent.conversation } }),
    ...(agent.mcp.size === 0 ? {} : { mcp: JSON.parse(JSON.stringify(Object.fromEntries(agent.mcp))) }),
    ...(situation.skills === undefined ? {} : { skills: skillFolders(situation.skills) }),
    situation: absoluteFlags(context, agent, flags),
  };
}

function effortsOf({ reasoningEffort, decisionEffort, root, modelless }: RunFlags) {
  if (decisionEffort !== undefined && root !== 'decide') {
    throw new CliError('cli.bad-value', '--decision-effort is for a decision, and --root is not decide.', {
      next: 'Add --root decide, or use --reasoning-effort.',
      details: { option: '--decision-effort' },
    });
  }
  // Where nothing asks a model, nothing reasons.
  return modelless === true ? {} : { reasoningEffort, decisionEffort };
}

function readWire(text: string | undefined): WireName | undefined {
  const wire = wireNames.find((name) => name === text);
  if (wire !== undefined || text === undefined) return wire;
  throw new CliError('cli.bad-value', `wire in config.yaml expected a protocol, found '${text}'.`, {
    next: `Write one of: ${wireNames.join(', ')}.`,
    details: { key: 'wire' },
  });
}

function readCount(text: string): number {
  const amount = Number(text);
  if (/^[1-9]\d*$/.test(text) && Number.isSafeInteger(amount)) return amount;
  throw new CliError('cli.bad-value', `--max-tokens expected a whole number above zero, found '${text}'.`, {
    next: 'Write it like --max-tokens 2000.',
    details: { option: '--max-tokens' },
  });
}
