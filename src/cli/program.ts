/** The command line's parser: how every command is made, and how a misuse becomes an error with a next step. */
import { Command, type CommanderError, type CommandUnknownOpts } from '@commander-js/extra-typings';
import type { Context } from './context.ts';
import { CliError, type CliErrorCode } from './errors.ts';

/** What a command's file gets to make its command. */
export interface NewCommand {
  readonly context: Context;
  /** A command that prints through the context and never exits the process. */
  readonly command: (name: string) => Command;
  /** Says the exit code; a command that throws says it by its error. */
  readonly done: (exitCode: number) => void;
}

/** A maker of commands for one call of the command line. */
export function commandMaker(context: Context): NewCommand['command'] {
  return (name) =>
    new Command(name).exitOverride().configureOutput({
      writeOut: (text) => context.stdout.write(text),
      writeErr: (text) => context.stderr.write(text),
      // Misuse is shown by `reportError`, like every other error.
      outputError: () => {},
      getOutHelpWidth: () => Math.min(context.stdout.columns(), 100),
      getErrHelpWidth: () => Math.min(context.stderr.columns(), 100),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    });
}

/** Puts examples at the end of a command's help. */
export function withExamples<C extends { addHelpText(position: 'after', text: string): C }>(
  command: C,
  examples: readonly string[],
): C {
  return command.addHelpText('after', `\nExamples:\n${examples.map((line) => `  ${line}`).join('\n')}`);
}

/** Takes the path that an argument or option was given; an empty one, as an unset variable gives it, is refused. */
export function givenPath(name: string): (path: string) => string {
  return (path) => {
    if (path !== '') return path;
    throw new CliError('cli.bad-value', `${name} expected a path, found an empty text.`, {
      next: 'Give a path; the current folder is a dot.',
      details: { name },
    });
  };
}

/**
 * The words of a command line, without the wish for help where it is about a command that there is not: the parser would
 * answer with the help of the group, as if that were what was asked for.
 */
export function withoutHelpForNothing(
  program: CommandUnknownOpts,
  argv: readonly string[],
): readonly string[] {
  let group = program;
  for (const [i, word] of argv.entries()) {
    const topic = word === 'help' ? argv[i + 1] : word;
    if (topic === undefined || topic.startsWith('-')) return argv;
    const known = group.commands.find((command) => command.name() === topic);
    if (known === undefined) return [...argv.slice(0, i), topic];
    if (word === 'help' || known.commands.length === 0) return argv;
    group = known;
  }
  return argv;
}

const codes: Readonly<Record<string, CliErrorCode>> = {
  'commander.unknownCommand': 'cli.unknown-command',
  'commander.unknownOption': 'cli.unknown-option',
  'commander.missingArgument': 'cli.missing-argument',
  'commander.optionMissingArgument': 'cli.missing-argument',
  'commander.missingMandatoryOptionValue': 'cli.missing-argument',
  'commander.excessArguments': 'cli.too-many-arguments',
  'commander.invalidArgument': 'cli.bad-value',
};

const groups = ['runs', 'harness', 'experiment', 'plan'];

/** How many words at the beginning of a command line name its command. */
export function commandDepth([first = '']: readonly string[]): 1 | 2 {
  return groups.includes(first) ? 2 : 1;
}

/** What the parser found wrong, as an error of ours; undefined where it only showed help. */
export function usageError(fault: CommanderError, argv: readonly string[]): CliError | undefined {
  const code = codes[fault.code];
  if (code === undefined) return undefined;
  const [first = '', suggestion] = fault.message.replace(/^error: /, '').split('\n');
  const near = /Did you mean (?:one of )?(.+)\?\)$/.exec(suggestion ?? '')?.[1];
  // The help that names what was missed: of the command itself, or of the group that has no such command.
  const depth = commandDepth(argv) - (code === 'cli.unknown-command' ? 1 : 0);
  const words = argv.slice(0, depth).filter((word) => /^[a-z]+$/.test(word));
  const help = `${['writ', ...words].join(' ')} --help`;
  const task = argv[0] === 'run' && code === 'cli.too-many-arguments';
  const next = task
    ? 'Put the task after two dashes: writ run AGENT -- TASK.'
    : near === undefined
      ? `See: ${help}`
      : `Write ${near}, or see: ${help}`;
  const message = `${first.charAt(0).toUpperCase()}${first.slice(1)}`.replace(/\.?$/, '.');
  return new CliError(code, message, { next });
}
