/** The command line's parser: how every command is made, and how a misuse becomes an error with a next step. */
import { Command, type CommanderError } from '@commander-js/extra-typings';
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

const codes: Readonly<Record<string, CliErrorCode>> = {
  'commander.unknownCommand': 'cli.unknown-command',
  'commander.unknownOption': 'cli.unknown-option',
  'commander.missingArgument': 'cli.missing-argument',
  'commander.optionMissingArgument': 'cli.missing-argument',
  'commander.missingMandatoryOptionValue': 'cli.missing-argument',
  'commander.excessArguments': 'cli.too-many-arguments',
  'commander.invalidArgument': 'cli.bad-value',
};

/** What the parser found wrong, as an error of ours; undefined where it only showed help. */
export function usageError(fault: CommanderError, argv: readonly string[]): CliError | undefined {
  const code = codes[fault.code];
  if (code === undefined) return undefined;
  const [first = '', suggestion] = fault.message.replace(/^error: /, '').split('\n');
  const near = /Did you mean (?:one of )?(.+)\?\)$/.exec(suggestion ?? '')?.[1];
  // The help that names what was missed: of the command itself, or of the group that has no such command.
  const depth = (argv[0] === 'runs' ? 2 : 1) - (code === 'cli.unknown-command' ? 1 : 0);
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
