/** What a model reads of contexts: the list after its task, and the size, beginning and end of a result that was kept. */
import { utf8Prefix, utf8Suffix } from '../tool/result-text.ts';
import type { ContextMetadata } from './operations.ts';

/** The built-in tools that look into contexts. */
export const contextTools = ['context_search', 'context_slice', 'context_peek'] as const;

/** What a task message says of a context. */
export interface Described {
  readonly alias: string;
  readonly metadata: ContextMetadata;
  /** True if the file was another when the session began. */
  readonly changed: boolean;
}

/** The task, word for word, then what can be looked at; the task alone where there is nothing. */
export function taskText(
  task: string,
  contexts: readonly Described[],
  toolsShown: readonly string[],
): string {
  if (contexts.length === 0) return task;
  const lines = contexts.map(({ alias, metadata, changed }) => {
    const note = changed ? ' (another file than at the beginning of this session)' : '';
    return `- ${alias}: ${sizeText(metadata)}${note}`;
  });
  return `${task}\n\nContexts of this session, whose content is not in this message. ${lookText(toolsShown)}\n${lines.join('\n')}`;
}

/** With which of the tools that a session shows a context can be looked into. */
export function lookText(toolsShown: readonly string[]): string {
  const tools = contextTools.filter((tool) => toolsShown.includes(tool));
  return tools.length === 0
    ? 'Hand the name to a tool that takes a context.'
    : `Look into one with ${tools.join(', ')}, or hand the name to another tool that takes a context.`;
}

function sizeText({ kind, bytes, characters, items }: ContextMetadata): string {
  return kind === 'text'
    ? `text, ${bytes} bytes, ${characters} characters, ${items} lines`
    : `list, ${items} items, ${bytes} bytes`;
}

/** A beginning or end is shown up to this size. */
const sideBytesMax = 2048;

/** A result that is too large to show, in at most `bytesMax` bytes. */
export function keptText(
  alias: string,
  metadata: ContextMetadata,
  text: string,
  toolsShown: readonly string[],
  bytesMax: number,
): string {
  const top = `[kept: the result has ${metadata.bytes} bytes, too many to show. It is the context "${alias}" (${sizeText(metadata)}). ${lookText(toolsShown)}]`;
  const frame = (side: number) =>
    [`${top}\n[the first ${side} bytes]\n`, `\n[the last ${side} bytes]\n`] as const;
  const room = bytesMax - Buffer.byteLength(frame(sideBytesMax).join(''));
  const side = Math.min(sideBytesMax, Math.floor(room / 2));
  if (side < 1) return utf8Prefix(top, bytesMax);
  const head = utf8Prefix(text.slice(0, side), side);
  const tail = utf8Suffix(text.slice(-side), side);
  const [before, between] = [frame(Buffer.byteLength(head))[0], frame(Buffer.byteLength(tail))[1]];
  return `${before}${head}${between}${tail}`;
}
