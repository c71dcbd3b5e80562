/** Splits a prompt into the files of an agent that composes to exactly the same text. */
import { usualBudget } from '../scaffold.ts';
import { ProofError } from './errors.ts';
import { type MarkdownLine, markdownLines } from './markdown-lines.ts';

export type SplitBy = 'headings' | 'marks';

export interface PromptPart {
  readonly id: string;
  readonly text: string;
}

/** Headings are split at the deepest level that makes no more parts than this. */
export const partsMax = 40;

/**
 * The parts of a prompt in order; together they are the text, byte for byte. `headings`: one part per heading, down to
 * the level at which there are at most `partsMax`. `marks`: one part per line `<!-- fragment: NAME -->`, which stays in
 * the text. Throws `proof.bad-mark`.
 */
export function splitPrompt(text: string, by: SplitBy): PromptPart[] {
  const lines = markdownLines(text);
  return by === 'marks' ? markedParts(text, lines) : headingParts(text, lines);
}

function headingParts(text: string, lines: readonly MarkdownLine[]): PromptPart[] {
  const headings = lines.filter(
    (line) => line.kind === 'heading' && /^ {0,3}#/.test(text.slice(line.start, line.start + 4)),
  );
  const level = [6, 5, 4, 3, 2, 1].find(
    (deepest) => headings.filter((line) => line.level <= deepest).length < partsMax,
  );
  const cuts = level === undefined ? [] : headings.filter((line) => line.level <= level);
  const names = cuts.map((line) => slug(text.slice(line.words, line.end)));
  const parts = cutAt(
    text,
    cuts.map((line) => line.start),
    names,
    'start',
  );
  const digits = String(parts.length).length;
  // Numbered, so that a listing of the folder is in the order of the text and no two names clash.
  return parts.map((part, i) => ({
    ...part,
    id: `${String(i + 1).padStart(Math.max(2, digits), '0')}-${part.id}`,
  }));
}

function slug(heading: string): string {
  const words = heading
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-');
  return words.slice(0, 40).replace(/^-+|-+$/g, '') || 'part';
}

const mark = /^[ \t\ufeff]*<!--[ \t]*fragment:[ \t]*(.*?)[ \t]*-->[ \t]*$/;

function markedParts(text: string, lines: readonly MarkdownLine[]): PromptPart[] {
  const cuts: number[] = [];
  const names: string[] = [];
  lines.forEach((line, i) => {
    const name = line.kind === 'code' ? undefined : mark.exec(text.slice(line.start, line.end))?.[1];
    if (name === undefined) return;
    const taken = ['start', ...names].some((other) => other.toLowerCase() === name.toLowerCase());
    if (taken) throw badMark(i + 1, `the name '${name}' is taken`, 'Give each part another name.');
    if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(name)) {
      const found = `'${name}' is no name of letters, digits, dot, underscore and hyphen`;
      throw badMark(i + 1, found, 'Write <!-- fragment: NAME -->.');
    }
    cuts.push(line.start);
    names.push(name);
  });
  if (cuts.length === 0)
    throw badMark(
      1,
      'the prompt holds no mark',
      'Put a line <!-- fragment: NAME --> before each part, or split by headings.',
    );
  return cutAt(text, cuts, names, 'start');
}

function badMark(line: number, found: string, next: string): ProofError {
  return new ProofError('proof.bad-mark', `Line ${line} of the prompt: ${found}.`, {
    next,
    details: { line },
  });
}

function cutAt(text: string, cuts: readonly number[], names: readonly string[], first: string): PromptPart[] {
  const lead = cuts[0] ?? text.length;
  const parts = cuts.map((cut, i) => ({
    id: names[i] ?? first,
    text: text.slice(cut, cuts[i + 1] ?? text.length),
  }));
  return lead > 0 ? [{ id: first, text: text.slice(0, lead) }, ...parts] : parts;
}

/** The files of the agent by path. */
export function importedAgent(key: string, parts: readonly PromptPart[]): Map<string, string> {
  const list = parts.map(({ id }) => `\n    - ${JSON.stringify(id)}`).join('');
  const agent = [
    `key: ${JSON.stringify(key)}`,
    '# The parts stand together byte for byte, as they stood in the prompt.',
    'join: verbatim',
    `profiles:\n  default:${list === '' ? ' []' : list}`,
    'situations:\n  headless: { mode: headless }\n  interactive: { mode: interactive }',
    usualBudget,
  ];
  const files = new Map([['agent.yaml', `${agent.join('\n')}\n`]]);
  for (const { id, text } of parts) files.set(`instructions/${id}.md`, fragmentFile(text));
  return files;
}

// What a file begins with could be read as a header, as a slip in one, or as a mark of its encoding: an empty header
// before it keeps it a text.
function fragmentFile(text: string): string {
  const header = /^[\s\p{Cc}\p{Default_Ignorable_Code_Point}]*---/u.test(text) || text.startsWith('\ufeff');
  return header ? `---\n---\n${text}` : text;
}
