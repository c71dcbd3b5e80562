/** Checks commands of `writ` that a page shows: the command exists, and its help knows each flag. */
import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';

/** The built command line. */
export const bin = resolve('dist/cli/bin.js');

interface Help {
  readonly commands: ReadonlySet<string>;
  readonly flags: ReadonlySet<string>;
}

const helps = new Map<string, Promise<Help>>();

function helpOf(words: readonly string[]): Promise<Help> {
  const known = helps.get(words.join(' ')) ?? readHelp(words);
  helps.set(words.join(' '), known);
  return known;
}

async function readHelp(words: readonly string[]): Promise<Help> {
  const { stdout } = await promisify(execFile)(process.execPath, [bin, ...words, '--help']);
  const commands = /^Commands:\n((?: .*\n)*)/m.exec(stdout)?.[1] ?? '';
  return {
    commands: new Set([...commands.matchAll(/^ {2}([a-z]+)/gm)].map((found) => found[1] ?? '')),
    flags: new Set([...stdout.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)].map((found) => found[1] ?? '')),
  };
}

/** The commands of one line of shell, each as its words, quotes left on; a comment ends the line. */
function commandsOf(line: string): string[][] {
  const commands: string[][] = [[]];
  for (const [word] of line.matchAll(/(?:[^\s"'|;&]|"(?:\\.|[^"\\])*"|'[^']*')+|&&|\|\||[|;&]/g)) {
    if (word.startsWith('#')) break;
    if (/^[|;&]/.test(word)) commands.push([]);
    else commands.at(-1)?.push(word);
  }
  return commands;
}

/** One sentence for each command or flag of `writ` in a line that does not exist. */
export async function commandFaults(place: string, line: string): Promise<string[]> {
  const checked = commandsOf(line)
    .filter(([program]) => program === 'writ')
    .map(([, ...words]) => wordFaults(place, words));
  return (await Promise.all(checked)).flat();
}

async function wordFaults(place: string, words: readonly string[]): Promise<string[]> {
  const named: string[] = [];
  let help = await helpOf(named);
  while (help.commands.size > 0) {
    const next = words[named.length];
    // In capitals it stands for any of them.
    if (next === undefined || next.startsWith('-') || /^[A-Z]/.test(next)) break;
    if (!help.commands.has(next)) return [`${place}: writ has no command '${[...named, next].join(' ')}'`];
    named.push(next);
    help = await helpOf(named);
  }
  const end = words.indexOf('--');
  return words
    .slice(named.length, end < 0 ? words.length : end)
    .flatMap((word) => /^\[?(--[a-z-]+)/.exec(word)?.[1] ?? [])
    .filter((flag) => !help.flags.has(flag))
    .map((flag) => `${place}: '${['writ', ...named].join(' ')}' has no flag ${flag}`);
}
