/** The command line as one function: arguments and surroundings in, output and an exit code out. */
import { CommanderError } from '@commander-js/extra-typings';
import { checkCommand } from './compose/check.ts';
import { composeCommand } from './compose/compose.ts';
import { diffCommand } from './compose/diff.ts';
import { importCommand } from './compose/import.ts';
import { initCommand } from './compose/init.ts';
import { lockCommand } from './compose/lock.ts';
import { spaceCommand } from './compose/space.ts';
import { type Context, type Environment, openContext, type Streams } from './context.ts';
import { deliverCommand } from './deliver/deliver.ts';
import { demoCommand } from './demo/demo-command.ts';
import { doctorCommand } from './doctor/doctor.ts';
import { CliError } from './errors.ts';
import { exitCodes, usageExitCode } from './exit.ts';
import { experimentCommand } from './experiment/experiment.ts';
import { harnessCommand } from './harness/harness.ts';
import type { Interrupts } from './interrupts.ts';
import { planCommand } from './plan/plan.ts';
import { commandMaker, type NewCommand, usageError, withoutHelpForNothing } from './program.ts';
import { recordCommand } from './record/record.ts';
import { reportError } from './report-error.ts';
import { runCommand } from './run/run.ts';
import { runsCommand } from './runs/runs.ts';

/**
 * Runs one command line. `argv` is what follows the program's name, `cwd` the current folder, null where it is gone.
 * Resolves with the exit code once all output was taken; never rejects and never exits the process. The streams stay the
 * caller's.
 */
export async function main(
  argv: readonly string[],
  env: Environment,
  streams: Streams,
  cwd: string | null,
  interrupts: Interrupts = () => new AbortController().signal,
): Promise<number> {
  const context = openContext(env, streams, cwd ?? '/', interrupts, argv);
  const { options, task } = splitTask(argv);
  const json = options.includes('--json');
  const work = cwd === null ? Promise.reject(noCurrentFolder()) : runCommandLine(context, options, task);
  const code = await work.catch((thrown: unknown) => {
    const shown = reportError(context, thrown, json);
    // What was given up on request, before there was a run to cancel, did not fail.
    return interrupts().aborted ? exitCodes.cancelled : shown;
  });
  try {
    await context.stdout.flush();
    await context.stderr.flush();
    return code;
  } catch (thrown) {
    // The output is lost, for instance on a full disk: whatever was done, the caller did not get it.
    const lost = reportError(context, thrown, false);
    await context.stderr.flush().catch(() => {});
    return code === exitCodes.completed ? lost : code;
  }
}

function noCurrentFolder(): CliError {
  return new CliError(
    'cli.no-current-folder',
    'Expected a current folder, found that it was removed or cannot be read.',
    {
      next: 'Change to a folder that is there: cd "$HOME"',
    },
  );
}

async function runCommandLine(
  context: Context,
  argv: readonly string[],
  task: string | undefined,
): Promise<number> {
  let exitCode: number = exitCodes.completed;
  const parts: NewCommand = {
    context,
    command: commandMaker(context),
    done: (code) => {
      exitCode = code;
    },
  };
  const program = parts
    .command('writ')
    .description('Compose an agent, run its task inside its authority and budget, and keep the record.')
    .option('-V, --version', 'print the version')
    .addHelpText('after', '\nEvery command explains itself: writ run --help');
  for (const command of [
    demoCommand(parts),
    doctorCommand(parts),
    initCommand(parts),
    importCommand(parts),
    composeCommand(parts),
    lockCommand(parts),
    checkCommand(parts),
    diffCommand(parts),
    spaceCommand(parts),
    deliverCommand(parts, task),
    experimentCommand(parts),
    planCommand(parts),
    harnessCommand(parts),
    recordCommand(parts),
    runCommand(parts, task),
    runsCommand(parts),
  ])
    program.addCommand(command);
  const words = withoutHelpForNothing(program, argv);
  try {
    await program.parseAsync([...words], { from: 'user' });
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) throw thrown;
    const misuse = usageError(thrown, words);
    if (misuse !== undefined) throw misuse;
    // Help that was asked for is an answer; help because no command was named is not.
    return thrown.exitCode === 0 ? exitCodes.completed : usageExitCode;
  }
  return exitCode;
}

/**
 * What follows the first `--` of `writ run` and `writ deliver` is the task and never an option, whatever it looks like.
 * Elsewhere `--` keeps its usual meaning.
 */
function splitTask(argv: readonly string[]): {
  readonly options: readonly string[];
  readonly task: string | undefined;
} {
  const at = argv[0] === 'run' || argv[0] === 'deliver' ? argv.indexOf('--') : -1;
  if (at < 0) return { options: argv, task: undefined };
  return { options: argv.slice(0, at), task: argv.slice(at + 1).join(' ') };
}
