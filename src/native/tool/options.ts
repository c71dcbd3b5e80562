/** `readOptions`: the options of a built-in tool, which come from `agent.yaml`, checked once at the door. */
import { ToolError } from './errors.ts';
import { short } from './short.ts';

type Kind = 'string' | 'number' | 'boolean' | 'string?' | 'number?' | 'boolean?';

/**
 * The same options, if every field is known and of its kind (`?` may be left out; numbers are whole and above zero).
 * Throws `tool.bad-option`.
 */
export function readOptions<Options extends object>(
  tool: string,
  options: Options,
  kinds: { readonly [Field in keyof Options]-?: Kind },
): Options {
  const known: Readonly<Record<string, Kind>> = { ...kinds };
  const given: Readonly<Record<string, unknown>> = Object.fromEntries(Object.entries(options));
  for (const field of Object.keys(given))
    if (!Object.hasOwn(known, field))
      fault(tool, `no option '${field}'`, given[field], `Use only: ${Object.keys(known).join(', ')}.`);
  for (const [field, kind] of Object.entries(known)) {
    const value = given[field];
    if (value === undefined && kind.endsWith('?')) continue;
    const bare = kind.replace('?', '');
    const right = typeof value === bare && value !== '' && (bare !== 'number' || isCount(value));
    if (!right)
      fault(
        tool,
        `${bare === 'number' ? 'a whole number above 0' : `a ${bare}`} as ${field}`,
        value,
        `Give ${field}.`,
      );
  }
  return options;
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) > 0;
}

function fault(tool: string, expected: string, found: unknown, next: string): never {
  throw new ToolError('tool.bad-option', `${tool}: expected ${expected}, found ${short(found)}.`, { next });
}
