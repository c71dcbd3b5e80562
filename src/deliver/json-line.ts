/** What readers of streams share: one JSON object a line, and members that may be anything. */
import { isRecord } from '../protocol/json.ts';

type Members = Readonly<Record<string, unknown>>;

/** The object of a line; undefined for what is none. Programs print other things between. */
export function lineObject(line: string): Members | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function objectAt(value: unknown, ...path: readonly string[]): Members {
  let at: unknown = value;
  for (const name of path) at = isRecord(at) ? at[name] : undefined;
  return isRecord(at) ? at : {};
}

export function textAt(value: unknown, ...path: readonly string[]): string | undefined {
  const found = at(value, path);
  return typeof found === 'string' ? found : undefined;
}

export function numberAt(value: unknown, ...path: readonly string[]): number | null {
  const found = at(value, path);
  return typeof found === 'number' ? found : null;
}

export function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = at(value, path);
  return Array.isArray(found) ? found : [];
}

function at(value: unknown, path: readonly string[]): unknown {
  const last = path.at(-1);
  return last === undefined ? value : objectAt(value, ...path.slice(0, -1))[last];
}

/** The text of content that is a text, or a list of parts of which some are. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  return (Array.isArray(content) ? content : [])
    .flatMap((part) => (textAt(part, 'type') === 'text' ? [textAt(part, 'text') ?? ''] : []))
    .join('');
}
