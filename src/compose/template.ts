/** Templates: a fragment's text with facts written in and parts that stand under a condition; compiled at load. */
import { messageOf } from '../errors.ts';
import type { CompileCondition, Condition, ReadFact } from './conditions.ts';
import { ComposeError, TextFault } from './errors.ts';
import type { FactDeclaration, FactValue } from './facts.ts';
import { namingMend } from './nearest.ts';
import { LineSoFar, oneLine } from './outside-text.ts';

export interface Template {
  readonly pieces: readonly Piece[];
  /** Every fact that the text may depend on, in the order of their names. */
  readonly facts: readonly string[];
}

export type Piece =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'fact'; readonly fact: string; readonly fallback: string | null }
  | {
      readonly kind: 'when';
      readonly condition: Condition;
      /** What an unknown condition takes: the first branch, unless marked `unknown: else`. */
      readonly unknownTakes: 'first' | 'else';
      readonly first: readonly Piece[];
      readonly otherwise: readonly Piece[];
    };

export interface TemplateContext {
  readonly compile: CompileCondition;
  /** The declaration of a fact, `env.*` included; undefined for no fact. */
  readonly declared: (name: string) => FactDeclaration | undefined;
  readonly names: () => Iterable<string>;
}

interface Frame {
  readonly at: number;
  readonly condition: Condition;
  readonly unknownTakes: 'first' | 'else';
  readonly first: Piece[];
  otherwise: Piece[] | undefined;
}

const quoted = String.raw`"(?:[^"\\\n]|\\.)*"`;
const literalTag = new RegExp(String.raw`\{\{[ \t]*(${quoted})[ \t]*\}\}`, 'y');
const factTag = new RegExp(
  String.raw`\{\{[ \t]*([A-Za-z][\w.]*)(?:[ \t]*\|[ \t]*(${quoted}))?[ \t]*\}\}`,
  'y',
);
// The text of a condition may hold `%}` inside quotes.
const whenTag = /\{%\s*when\s((?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|(?!%\})[^"'])*)%\}/y;
const bareTag = /\{%\s*(else|end)\s*%\}/y;
const unknownMark = /\sunknown:\s*(\w+)\s*$/;
const tagCharactersMax = 20_000;
const depthMax = 100;
const delimiter = /\{\{|\}\}|\{%|%\}/g;

/** Compiles a body, or throws a TextFault at the first place that is not well formed. */
export function compileTemplate(body: string, context: TemplateContext): Template {
  const reader = new TemplateReader(body, context);
  return { pieces: reader.read(), facts: [...reader.facts].sort() };
}

class TemplateReader {
  readonly facts = new Set<string>();
  readonly #body: string;
  readonly #context: TemplateContext;
  readonly #root: Piece[] = [];
  readonly #frames: Frame[] = [];

  constructor(body: string, context: TemplateContext) {
    this.#body = body;
    this.#context = context;
  }

  read(): readonly Piece[] {
    let from = 0;
    for (;;) {
      delimiter.lastIndex = from;
      const found = delimiter.exec(this.#body);
      if (found === null) break;
      const end = found[0] === '{%' ? this.#block(from, found.index) : this.#insertion(from, found.index);
      from = end;
    }
    this.#text(this.#body.slice(from));
    const open = this.#frames.at(-1);
    if (open !== undefined) {
      throw new TextFault(open.at, 'this {% when … %} is never ended', 'Write {% end %} where it ends.');
    }
    return this.#root;
  }

  #into(): Piece[] {
    const frame = this.#frames.at(-1);
    return frame === undefined ? this.#root : (frame.otherwise ?? frame.first);
  }

  #text(text: string): void {
    if (text !== '') this.#into().push({ kind: 'text', text });
  }

  // `{{ "text" }}` or `{{ fact | "fallback" }}`; answers where reading goes on.
  #insertion(from: number, at: number): number {
    this.#text(this.#body.slice(from, at));
    const literal = match(literalTag, this.#body, at);
    if (literal !== null) {
      this.#text(this.#unquote(literal[1] ?? '', at));
      return at + literal[0].length;
    }
    const tag = match(factTag, this.#body, at);
    if (tag === null) {
      throw new TextFault(
        at,
        `'${this.#body.slice(at, at + 2)}' is not part of a well-formed {{ … }} or {% … %}`,
        `Write {{ fact }} or {{ fact | "fallback" }}; for the characters themselves {{ "${this.#body.slice(at, at + 2)}" }}, or leave template out of the header.`,
      );
    }
    const name = tag[1] ?? '';
    const fact = this.#context.declared(name);
    if (fact === undefined) {
      throw new TextFault(at, `no fact is called '${name}'`, namingMend(name, this.#context.names()));
    }
    if (tag[2] === undefined && !fact.certain) {
      throw new TextFault(
        at,
        `'${name}' may be unknown, and nothing says what to write then`,
        `Give it a fallback: {{ ${name} | "…" }}.`,
      );
    }
    this.facts.add(name);
    const fallback = tag[2] === undefined ? null : this.#unquote(tag[2], at);
    this.#into().push({ kind: 'fact', fact: name, fallback });
    return at + tag[0].length;
  }

  #unquote(text: string, at: number): string {
    let value: string;
    try {
      // The pattern let only one quoted string through. JSON has no bare tab; a backslash before one escapes nothing.
      value = JSON.parse(text.replace(/\\.|\t/gs, (found) => (found === '\t' ? '\\t' : found))) as string;
    } catch (cause) {
      throw new TextFault(
        at,
        `${short(text)} is not a string: ${messageOf(cause)}`,
        'Use the escapes of JSON: \\" \\\\ \\n \\t \\uXXXX.',
      );
    }
    // Half a character has no UTF-8 bytes: text and bytes of the composition would differ.
    if (!/\p{Surrogate}/u.test(value)) return value;
    throw new TextFault(
      at,
      `${short(text)} holds half a character`,
      'Write the character itself, or both of its \\uXXXX escapes in one string.',
    );
  }

  #block(from: number, at: number): number {
    const when = match(whenTag, this.#body, at);
    const bare = match(bareTag, this.#body, at);
    const tag = when ?? bare;
    if (tag === null) {
      throw new TextFault(
        at,
        'this {% is not a well-formed {% when … %}, {% else %} or {% end %}',
        'Write one of these; for the characters themselves {{ "{%" }}.',
      );
    }
    const line = ownLine(this.#body, at, at + tag[0].length);
    this.#text(this.#body.slice(from, Math.max(from, line.start)));
    if (when !== null)
      this.#open(at, at + when[0].length - '%}'.length - (when[1] ?? '').length, when[1] ?? '');
    else if (bare?.[1] === 'else') this.#else(at);
    else this.#end(at);
    return line.end;
  }

  #open(at: number, conditionAt: number, text: string): void {
    const mark = unknownMark.exec(text);
    if (mark !== null && mark[1] !== 'else' && mark[1] !== 'first') {
      throw new TextFault(at, `unknown: takes 'first' or 'else', not '${mark[1]}'`, 'Write unknown: else.');
    }
    const source = mark === null ? text : text.slice(0, mark.index);
    const condition = compileAt(conditionAt, source, this.#context.compile);
    for (const name of condition.facts) this.facts.add(name);
    const unknownTakes = mark?.[1] === 'else' ? 'else' : 'first';
    if (this.#frames.length === depthMax) {
      throw new TextFault(
        at,
        `{% when … %} is nested more than ${depthMax} deep`,
        'Make it a fragment of its own.',
      );
    }
    this.#frames.push({ at, condition, unknownTakes, first: [], otherwise: undefined });
  }

  #else(at: number): void {
    const frame = this.#frames.at(-1);
    if (frame === undefined || frame.otherwise !== undefined) {
      throw new TextFault(at, 'this {% else %} belongs to no open {% when … %}', 'Take it out.');
    }
    frame.otherwise = [];
  }

  #end(at: number): void {
    const frame = this.#frames.pop();
    if (frame === undefined) {
      throw new TextFault(at, 'this {% end %} belongs to no open {% when … %}', 'Take it out.');
    }
    const { condition, unknownTakes, first } = frame;
    this.#into().push({ kind: 'when', condition, unknownTakes, first, otherwise: frame.otherwise ?? [] });
  }
}

// A pattern looks no further than a tag may reach: on 20 MB without an end it would run out of stack.
function match(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = 0;
  return pattern.exec(text.slice(at, at + tagCharactersMax));
}

function short(text: string): string {
  return text.length > 40 ? `${[...text.slice(0, 40)].slice(0, -1).join('')}…` : text;
}

function compileAt(offset: number, source: string, compile: CompileCondition): Condition {
  const condition = source.trim();
  const lead = source.indexOf(condition);
  try {
    return compile(condition);
  } catch (thrown) {
    if (!(thrown instanceof TextFault)) throw thrown;
    throw new TextFault(offset + lead + thrown.offset, thrown.message, thrown.next);
  }
}

// A tag alone on its line takes the whole line with it, so that it leaves no blank line behind.
function ownLine(body: string, start: number, end: number): { start: number; end: number } {
  let from = start;
  while (from > 0 && (body[from - 1] === ' ' || body[from - 1] === '\t')) from -= 1;
  const rest = /[ \t]*(?:\r?\n|$(?![\s\S]))/y;
  rest.lastIndex = end;
  const tail = rest.exec(body);
  if (tail === null || (from > 0 && body[from - 1] !== '\n')) return { start, end };
  return { start: from, end: end + tail[0].length };
}

/** Writes a template out. Pure; throws only where a fact without a fallback was forced to be unknown. */
export function renderTemplate(template: Template, read: ReadFact, fragment: string): string {
  const line = new LineSoFar();
  let text = '';
  const own = (part: string): void => {
    line.text(part);
    text += part;
  };
  const write = (pieces: readonly Piece[]): void => {
    for (const piece of pieces) {
      if (piece.kind === 'text') own(piece.text);
      else if (piece.kind === 'when') write(branchOf(piece, read));
      else {
        const value = factText(piece, read, fragment);
        if (value === '' && piece.fallback !== null) own(piece.fallback);
        else text += line.value(oneLine(value));
      }
    }
  };
  write(template.pieces);
  return text;
}

/** The branch that a condition takes. */
export function branchOf(piece: Extract<Piece, { kind: 'when' }>, read: ReadFact): readonly Piece[] {
  const value = piece.condition.evaluate(read) ?? piece.unknownTakes === 'first';
  return value ? piece.first : piece.otherwise;
}

// Empty where the fact is unknown and has a fallback.
function factText(piece: Extract<Piece, { kind: 'fact' }>, read: ReadFact, fragment: string): string {
  const value = read(piece.fact);
  if (value !== undefined) return valueText(value);
  if (piece.fallback !== null) return '';
  throw new ComposeError(
    'compose.no-fallback',
    `Fragment '${fragment}' writes the fact '${piece.fact}' without a fallback, and it is unknown.`,
    { next: `Write {{ ${piece.fact} | "…" }}.`, details: { fragment, fact: piece.fact } },
  );
}

function valueText(value: FactValue): string {
  return typeof value === 'object' ? value.join(', ') : String(value);
}
