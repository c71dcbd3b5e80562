/** YAML maps read strictly: no tags, anchors, repeated or non-text keys, and every value with its place in the file. */
import {
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  Parser,
  parseDocument,
  type Scalar,
  type YAMLError,
} from 'yaml';
import type { ComposeError } from '../errors.ts';
import type { SourceText } from './located.ts';

export type Path = readonly PropertyKey[];

const quoteMend = 'Put the whole value in quotes.';

// What the author most likely meant, by the error code of the yaml package.
const mends: Readonly<Record<string, string>> = {
  TAB_AS_INDENT: 'Indent with spaces.',
  BAD_INDENT: 'Close the bracket, and indent what belongs together by the same number of spaces.',
  BLOCK_AS_IMPLICIT_KEY: 'Put a value that holds a colon and a space in quotes.',
  MULTILINE_IMPLICIT_KEY: 'Write key: value, with a colon on each line.',
  MULTIPLE_DOCS: 'Take the --- line and what follows it out.',
  UNEXPECTED_TOKEN: quoteMend,
  BAD_SCALAR_START: quoteMend,
  TAG_RESOLVE_FAILED: 'Put a value that begins with ! in quotes; YAML tags are not used here.',
  BAD_ALIAS: quoteMend,
  MISSING_CHAR: 'Close the quote or bracket.',
  BAD_DQ_ESCAPE: 'Double the backslash, or use single quotes.',
};

/** A map read from a text, or from a part of one that starts at `base`. */
export class YamlMap {
  readonly value: Readonly<Record<string, unknown>>;
  readonly source: SourceText;
  readonly #root: Node | null;
  readonly #base: number;

  constructor(source: SourceText, text: string, base: number, what: string) {
    this.source = source;
    this.#base = base;
    this.#refuseDirectives(text);
    const document = parseDocument(text, { prettyErrors: false, uniqueKeys: false });
    this.#root = document.contents;
    const fault = document.errors[0] ?? document.warnings[0];
    if (fault !== undefined) throw this.#yamlError(fault, text);
    if (this.#root !== null && !isMap(this.#root)) {
      throw source.error(
        'compose.yaml',
        base + (this.#root.range?.[0] ?? 0),
        `${what} should be a map of keys and values, and is ${isSeq(this.#root) ? 'a list' : 'plain text'}`,
        'Write key: value lines.',
      );
    }
    this.value = this.#root === null ? {} : (this.#read(this.#root) as Record<string, unknown>);
  }

  /** The offset of the value at the path; of the nearest map around it where there is none. */
  valueOffset(path: Path): number {
    for (let length = path.length; length > 0; length -= 1) {
      const found = this.#find(path.slice(0, length));
      const node = found?.value ?? found?.key;
      if (node?.range) return this.#base + node.range[0];
    }
    return this.#base;
  }

  /** The offset of the key that ends the path. */
  keyOffset(path: Path): number {
    const key = this.#find(path)?.key;
    return key?.range ? this.#base + key.range[0] : this.valueOffset(path);
  }

  /** Where the text of a scalar at the path stands in the file, character by character as far as escapes allow. */
  textOffset(path: Path, index: number): number {
    const node = this.#find(path)?.value;
    if (!isScalar(node) || !node.range) return this.valueOffset(path);
    const start = this.#base + node.range[0];
    const written = this.source.text.slice(start, this.#base + node.range[1]);
    return start + alignedOffset(written, String(node.value), index);
  }

  /** A scalar as it is written in the file: `1.10`, not 1.1. */
  written(path: Path): string | undefined {
    const node = this.#find(path)?.value;
    return isScalar(node) ? node.source : undefined;
  }

  error(offset: number, message: string, next: string): ComposeError {
    return this.source.error('compose.wrong-value', offset, message, next);
  }

  #yamlError(fault: YAMLError, text: string): ComposeError {
    const offset = this.#base + Math.min(fault.pos[0], text.length);
    return this.source.error(
      'compose.yaml',
      offset,
      `this is not well-formed YAML: ${fault.message}`,
      mends[fault.code] ?? 'Correct the YAML at this place.',
    );
  }

  // %YAML 1.1 would make `no` a boolean, and %TAG would make a tag of anything: one dialect is read here.
  #refuseDirectives(text: string): void {
    if (!/^%/m.test(text)) return;
    for (const token of new Parser().parse(text)) {
      if (token.type !== 'directive') continue;
      throw this.source.error(
        'compose.yaml',
        this.#base + token.offset,
        `the YAML directive ${token.source.trim()} is not used here: YAML is read as version 1.2, without tags`,
        'Take the line out.',
      );
    }
  }

  #read(node: Node | null): unknown {
    if (node === null) return null;
    this.#refuseTag(node);
    const anchored = 'anchor' in node && node.anchor !== undefined;
    if (anchored || !(isMap(node) || isSeq(node) || isScalar(node))) {
      throw this.#refusal(
        node,
        'anchors (&name) and aliases (*name) are not used here',
        'Write the value out, or put text that begins with & or * in quotes.',
      );
    }
    if (isSeq(node)) return node.items.map((item) => this.#read(item as Node | null));
    if (isScalar(node)) return this.#scalar(node);
    // The package compares each key with all before it, which takes minutes for a long map.
    const read = new Map<string, unknown>();
    for (const pair of node.items) {
      const key = this.#key(pair as Pair<Node, Node | null>);
      if (read.has(key)) {
        const message = `the key '${key}' stands twice in one map`;
        throw this.#refusal(pair.key as Node, message, 'Take one of the two out.');
      }
      read.set(key, this.#read(pair.value as Node | null));
    }
    return Object.fromEntries(read);
  }

  // The package sets a node's tag only where one is written.
  #refuseTag(node: Node): void {
    if (!('tag' in node) || node.tag === undefined) return;
    throw this.#refusal(
      node,
      'YAML tags (!text, !!text) are not used here',
      'Take the tag out, or put a value that begins with ! in quotes.',
    );
  }

  #key(pair: Pair<Node, Node | null>): string {
    const { key } = pair;
    this.#refuseTag(key);
    if (isScalar(key) && typeof key.value === 'string' && key.value !== '__proto__') return key.value;
    const written = isScalar(key) && key.source !== undefined ? key.source : undefined;
    throw this.#refusal(
      key,
      written === undefined ? 'a key should be plain text' : `the key ${written} is not text to YAML`,
      written === undefined || written === '__proto__' ? 'Use another key.' : `Write "${written}" in quotes.`,
    );
  }

  #scalar(node: Scalar): unknown {
    // 010 is ten in YAML 1.2 and eight in YAML 1.1, and as a name neither: let nobody guess.
    if (typeof node.value === 'number' && /^[-+]?0\d/.test(node.source ?? '')) {
      throw this.error(
        this.#base + (node.range?.[0] ?? 0),
        `${node.source} may mean the text, ${node.value}, or an octal number`,
        `Write "${node.source}" in quotes for the text, or ${node.value} for the number.`,
      );
    }
    return node.value;
  }

  #refusal(node: Node, message: string, next: string): ComposeError {
    return this.source.error('compose.yaml', this.#base + (node.range?.[0] ?? 0), message, next);
  }

  #find(path: Path): { key: Node | undefined; value: Node | null } | undefined {
    let found: { key: Node | undefined; value: Node | null } = { key: undefined, value: this.#root };
    for (const step of path) {
      const at = found.value;
      if (isSeq(at)) found = { key: undefined, value: (at.items[Number(step)] ?? null) as Node | null };
      else if (isMap(at)) {
        const pair = at.items.find((item) => isScalar(item.key) && item.key.value === step);
        if (pair === undefined) return undefined;
        found = { key: pair.key as Node, value: pair.value as Node | null };
      } else return undefined;
    }
    return found;
  }
}

// A quoted, folded or block scalar is written with characters that are not in its value. Both are walked together: white
// space goes with white space, any other character with its next occurrence.
function alignedOffset(written: string, value: string, index: number): number {
  const block = /^[|>]/.test(written) ? written.indexOf('\n') + 1 : 0;
  let at = block > 0 ? block : /^["']/.test(written) ? 1 : 0;
  if (block > 0) at += /^\s*/.exec(written.slice(block))?.[0].length ?? 0;
  for (let i = 0; i < value.length; i += 1) {
    const character = value[i] ?? '';
    const blank = /\s/.test(character);
    const next = blank ? at : written.indexOf(character, at);
    if (next >= 0) at = next;
    if (i === index) return at;
    if (!blank) at += 1;
    else while (/\s/.test(written[at] ?? '')) at += 1;
  }
  return Math.min(at, written.length);
}
