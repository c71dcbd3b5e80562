/** The texts that a control is measured with: each holds what programs are known to take for something else. */
import type { TextTrait } from '../../protocol/delivery.ts';

export interface Trap {
  readonly name: string;
  /** What about the text may be mishandled. Empty for the plain one. */
  readonly traits: readonly TextTrait[];
  readonly text: string;
  /** A part of the text that nothing alters, by which a mangled one is found; empty where the text is. */
  readonly mark: string;
}

/** The file of the workspace whose name one trap is, and what stands in it. */
export const namedFile = { name: 'canary-of-a-file', text: 'intruder-by-file-name' } as const;

const trap = (name: string, traits: readonly TextTrait[], text: (mark: string) => string): Trap => {
  const mark = `canary-${name}`;
  return { name, traits, text: text(mark), mark };
};

/** The text without a trait: where a control puts a text is told by it. */
export const plain = trap('plain', [], (mark) => `You are ${mark}. Answer with one word.`);

const header = (mark: string) => `---\nname: no-header\n---\n${mark}\n\n---\nThe end.`;
const quotes = (mark: string) => `He said "yes" and 'no', ${mark}. A backslash \\" and \\n stand here.`;
const braces = (mark: string) => `{ "a": {{name}} } {file:${namedFile.name}} {env:HOME} {% x %} ${mark} {}`;
const dollars = (mark: string) => `\${HOME} \${TOOLS} $HOME $(echo no) %PATH% ${mark}.`;
const backticks = (mark: string) => `\`echo no\` and \`\`\`sh\necho no\n\`\`\` !\`echo no\` ${mark}.`;
const nonAscii = (mark: string) => `é, é, 漢字, 🧪, עברית, ﷽, non-breaking space, ${mark}.`;
const crlf = (mark: string) => `${mark}\r\nsecond line\r\n\r\na lone\rcarriage return`;
const nul = (mark: string) => `${mark} has a NUL here:\0 and goes on.`;
const large = (mark: string) => largeText(mark, 200 * 1024);

/** Of the traits that do not exclude each other: each by itself. */
const makers: readonly (readonly [TextTrait, (mark: string) => string])[] = [
  ['rule-line', header],
  ['quotes', quotes],
  ['braces', braces],
  ['dollar-brace', dollars],
  ['backtick', backticks],
  ['non-ascii', nonAscii],
  ['crlf', crlf],
  ['nul', nul],
  ['large', large],
];

const apart: readonly Trap[] = makers.map(([trait, text]) => trap(trait, [trait], text));

/** Some of those in one text, which is tried first: only if it suffers is each tried by itself. */
export function together(traps: readonly Trap[]): Trap {
  const traits = traps.flatMap((one) => one.traits);
  const parts = makers.filter(([trait]) => traits.includes(trait));
  return trap('together', traits, (mark) => parts.map(([, text]) => text(mark)).join('\n'));
}

/** Those that exclude each other: what stands at the beginning of a text, or is all of it. */
const single: readonly Trap[] = [
  { name: 'empty', traits: ['empty'], text: '', mark: '' },
  trap('leading-dash', ['leading-dash'], (mark) => `--help is no option here, ${mark}.`),
  trap('leading-at', ['leading-at'], (mark) => `@${namedFile.name} is no file here, ${mark}.`),
  trap('leading-slash', ['leading-slash'], (mark) => `/help is no command here, ${mark}.`),
  trap('bom', ['bom'], (mark) => `\uFEFF${mark} stands behind a byte-order mark.`),
  trap('blank-lines-around', ['blank-lines-around'], (mark) => `\n\n  ${mark}  \n\n\n`),
  // The text is the name of a file that exists: a program that takes paths as well may read it.
  { name: 'file-name', traits: ['file-name'], text: namedFile.name, mark: namedFile.name },
];

// Every line differs, so that a cut anywhere shows.
function largeText(mark: string, bytes: number): string {
  const lines = [`${mark} begins.`];
  for (let size = 0, i = 0; size < bytes; i += 1) {
    const line = `Line ${i} of a text that is too long for one argument of a command.`;
    lines.push(line);
    size += line.length + 1;
  }
  return `${lines.join('\n')}\n${mark} ends.`;
}

/** What a control is tried with. */
export interface TrapSet {
  /** Each in a turn of its own. */
  readonly alone: readonly Trap[];
  /** In one text, and by themselves only if that suffers. */
  readonly joined: readonly Trap[];
}

export const allTraps: TrapSet = { alone: single, joined: apart };

const oneOfEachKind = ['empty', 'leading-dash', 'file-name'];

/** One of each kind, and all that are known to suffer. */
export function fewTraps(known: readonly TextTrait[]): TrapSet {
  const suffers = (one: Trap) => one.traits.some((trait) => known.includes(trait));
  const kinds = single.filter((one) => oneOfEachKind.includes(one.name) || suffers(one));
  return {
    alone: [...kinds, ...apart.filter(suffers)],
    joined: apart.filter((one) => !suffers(one)),
  };
}
