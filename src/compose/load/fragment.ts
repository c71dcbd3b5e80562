/** A fragment's file: its header and its body, read apart before any condition is compiled. */
import { basename, relative } from 'node:path';
import type { z } from 'zod';
import type { Fragment } from '../agent.ts';
import type { ComposeError } from '../errors.ts';
import { trimBlank } from '../outside-text.ts';
import { compileTemplate, type TemplateContext } from '../template.ts';
import type { SourceText } from './located.ts';
import { headerSchema, readForm } from './schema.ts';
import { YamlMap } from './yaml.ts';

/** A fragment as far as it can be read without knowing the agent's facts. */
export interface FragmentFile {
  readonly id: string;
  readonly source: SourceText;
  readonly header: z.output<typeof headerSchema>;
  readonly map: YamlMap;
  readonly body: string;
  readonly bodyOffset: number;
}

const fence = /^---[ \t]*\r?$/;
// Three hyphens as the first thing that can be seen: whoever wrote them meant a header.
const almostFence = /^[\s\p{Cc}\p{Default_Ignorable_Code_Point}]*(?=---)/u;
const idPattern = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/** Splits a file and checks its header. Throws a located error; nothing is taken from a file that has one. */
export function readFragment(source: SourceText): FragmentFile {
  const { header: text, headerOffset, bodyOffset } = splitHeader(source);
  const map = new YamlMap(source, text, headerOffset, 'the header between the --- lines');
  const header = readForm(headerSchema, map);
  const id = header.id ?? basename(source.file).replace(/\.md$/, '');
  if (!idPattern.test(id)) {
    throw source.error(
      'compose.wrong-value',
      0,
      `the file name '${id}' cannot be an id: letters, digits, dot, underscore and hyphen were expected`,
      'Give the fragment an id in its header, or rename the file.',
    );
  }
  return { id, source, header, map, body: source.text.slice(bodyOffset), bodyOffset };
}

/** The text of a header and where it and the body begin. Throws `compose.no-header`. */
export function splitHeader(source: SourceText): {
  header: string;
  headerOffset: number;
  bodyOffset: number;
} {
  const { text } = source;
  const opening = lineEnd(text, 0);
  if (!fence.test(text.slice(0, opening))) {
    const meant = almostFence.exec(text);
    if (meant !== null) throw unclean(source, meant[0].length);
    return { header: '', headerOffset: 0, bodyOffset: 0 };
  }
  const headerOffset = Math.min(opening + 1, text.length);
  for (let at = headerOffset; at < text.length; ) {
    const end = lineEnd(text, at);
    if (fence.test(text.slice(at, end))) {
      return {
        header: text.slice(headerOffset, at),
        headerOffset,
        bodyOffset: Math.min(end + 1, text.length),
      };
    }
    at = end + 1;
  }
  throw source.error(
    'compose.no-header',
    0,
    'the file begins with ---, which opens a header, and no second --- line closes it',
    'Close the header with ---; if the line is a thematic break, write *** or put an empty header (--- and ---) before it.',
  );
}

// A header taken for body text would put a fragment in that its condition keeps out, and show the header to the model.
function unclean(source: SourceText, offset: number): ComposeError {
  return source.error(
    'compose.no-header',
    offset,
    'the file begins with ---, and a header is opened by a first line that holds nothing but three hyphens, ended by a line feed',
    'Make --- the whole first line, with nothing before it; if it is no header, write *** or put an empty header (--- and ---) before it.',
  );
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end < 0 ? text.length : end;
}

/** Compiles what was read, now that the facts are known. Throws a located error. */
export function compileFragment(file: FragmentFile, folder: string, context: TemplateContext): Fragment {
  const { header, source, body } = file;
  const when = header.when === undefined ? null : String(header.when);
  const evidence = header.evidence ?? [];
  return {
    id: file.id,
    file: relative(folder, source.file),
    layer: header.layer ?? 'contract',
    title: header.title ?? null,
    when:
      when === null
        ? null
        : source.within(
            'compose.condition',
            (offset) => file.map.textOffset(['when'], offset),
            () => context.compile(when),
          ),
    unknown: header.unknown ?? 'keep',
    evidence: typeof evidence === 'string' ? [evidence] : evidence,
    body,
    trimmed: trimBlank(body),
    template:
      header.template === true
        ? source.within(
            'compose.template',
            (offset) => file.bodyOffset + offset,
            () => compileTemplate(body, context),
          )
        : null,
  };
}
