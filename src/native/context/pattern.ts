/** Search patterns: letter by letter, or an RE2 expression, which takes linear time whatever a model writes. */
import { ContextError } from './errors.ts';
import type { SearchRequest } from './operations.ts';

const unitsMax = 1024;

export interface Pattern {
  /** A text that every match holds; empty where none is known. */
  readonly literal: string;
  /** Where the first match in a line begins, in UTF-16 units; undefined if there is none. */
  find(line: string): number | undefined;
  /** False where the literal is all that a match needs to hold. */
  readonly regex: boolean;
}

/** Throws `context.invalid-pattern`. The engine of expressions is loaded with the first of them. */
export async function compilePattern({ pattern, regex = false }: SearchRequest): Promise<Pattern> {
  if (typeof pattern !== 'string' || pattern === '') throw bad('expected a text, found none');
  if (pattern.length > unitsMax)
    throw bad(`expected at most ${unitsMax} characters, found ${pattern.length}`);
  if (/\p{Surrogate}/u.test(pattern)) throw bad('it holds half of a character');
  if (!regex) return literalPattern(pattern);
  const { RE2JS } = await import('re2js');
  let compiled: InstanceType<typeof RE2JS>;
  try {
    compiled = RE2JS.compile(pattern);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw bad(`${why.slice(0, 200)}. Lookaround and back references are not known to it`);
  }
  return {
    regex: true,
    literal: requiredLiteral(pattern),
    find(line) {
      // The test alone runs on an automaton and is several times cheaper than finding the place.
      if (!compiled.test(line)) return undefined;
      const matcher = compiled.matcher(line);
      return matcher.find() ? matcher.start() : undefined;
    },
  };
}

function literalPattern(pattern: string): Pattern {
  if (pattern.includes('\n')) throw bad('lines are searched one by one, and it holds a line break');
  return {
    regex: false,
    literal: pattern,
    find(line) {
      const start = line.indexOf(pattern);
      return start < 0 ? undefined : start;
    },
  };
}

function bad(why: string): ContextError {
  return new ContextError('context.invalid-pattern', `pattern: ${why}.`, {
    next: 'Search for a shorter, plain text.',
  });
}

/** Escapes with an argument, other escapes, classes, repetitions, and any other character. */
const tokens =
  /\\[px]\{[^}]*\}|\\x..|\\p.|\\[0-7]{1,3}|\\[\s\S]|\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]|\{\d+(?:,\d*)?\}|[\s\S]/giu;

/**
 * The longest run of plain characters that stands outside every group, class and alternative of an expression and is not
 * repeated, so that each match must hold it. Searching for it first is a hundred times cheaper than trying each line.
 * Empty where the expression is not understood: then each line is tried.
 */
export function requiredLiteral(expression: string): string {
  // Flags may ignore case, and \Q…\E quotes: not worth understanding.
  if (/\(\?[^:P<]|\\Q/.test(expression)) return '';
  let longest = '';
  let run: string[] = [];
  let depth = 0;
  const endRun = () => {
    if (run.join('').length > longest.length) longest = run.join('');
    run = [];
  };
  for (const token of expression.match(tokens) ?? []) {
    if (token === '|' && depth === 0) return '';
    if (token === '(') depth += 1;
    else if (token === ')') depth -= 1;
    if (/^([*?]|\{.+)$/.test(token)) run.pop();
    const plain = /^\\[^\w\s]$/u.test(token)
      ? token.slice(1)
      : /^[^\\[\](){}.*+?^$|]$/u.test(token)
        ? token
        : undefined;
    if (plain !== undefined && depth === 0) run.push(plain);
    else endRun();
  }
  endRun();
  return longest;
}
