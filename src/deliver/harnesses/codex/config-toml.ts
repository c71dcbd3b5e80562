/** The configuration file of Codex, written whole: TOML of plain keys and tables. */

type Value = string | number | boolean | readonly string[] | { readonly [key: string]: string };

/** Keys first, then the tables by their dotted names, whose parts are already valid TOML keys. */
export function configToml(
  keys: { readonly [key: string]: Value },
  tables: { readonly [name: string]: { readonly [key: string]: Value } },
): string {
  const sections = Object.entries(tables).map(([name, members]) => `\n[${name}]\n${lines(members)}`);
  return lines(keys) + sections.join('');
}

function lines(members: { readonly [key: string]: Value }): string {
  return Object.entries(members)
    .map(([key, value]) => `${key} = ${written(value)}\n`)
    .join('');
}

function written(value: Value): string {
  if (typeof value === 'string') return basicString(value);
  if (typeof value !== 'object') return String(value);
  if (Array.isArray(value)) return `[${value.map(basicString).join(', ')}]`;
  const pairs = Object.entries(value).map(([key, text]) => `${basicString(key)} = ${basicString(text)}`);
  return `{ ${pairs.join(', ')} }`;
}

/** A basic string carries every character. JSON escapes all that TOML forbids, but for DEL. */
function basicString(text: string): string {
  return JSON.stringify(text).replaceAll('\x7F', '\\u007F');
}
