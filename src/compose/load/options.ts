/** Options of tools and probes, checked in agent.yaml against what their makers declare. */
import { namingMend } from '../nearest.ts';
import { valueMend, valueWords } from './schema.ts';
import type { Path, YamlMap } from './yaml.ts';

const kinds = {
  string: {
    words: 'text that is not empty',
    fits: (value: unknown) => typeof value === 'string' && value !== '',
  },
  number: {
    words: 'a whole number above zero',
    fits: (value: unknown) => Number.isSafeInteger(value) && Number(value) > 0,
  },
  boolean: { words: 'true or false', fits: (value: unknown) => typeof value === 'boolean' },
  names: {
    words: 'a list of names of files or folders, without a slash',
    fits: (value: unknown) => Array.isArray(value) && value.every(isPathName),
  },
} as const;

type Kind = keyof typeof kinds;

/** The options that a tool or a probe takes, each with its kind; one with `?` may be left out. */
export type OptionForm = { readonly [option: string]: Kind | `${Kind}?` };

/** The form of one name, if its maker declared one. */
export function formOf(
  forms: Readonly<Record<string, OptionForm>> | undefined,
  name: string,
): OptionForm | undefined {
  return forms !== undefined && Object.hasOwn(forms, name) ? forms[name] : undefined;
}

/** Throws a located error for an option that is not in the form, has another kind, or is missing. */
export function mustFitForm(
  map: YamlMap,
  path: Path,
  whose: string,
  options: Readonly<Record<string, unknown>>,
  form: OptionForm,
): void {
  for (const [name, value] of Object.entries(options)) {
    const at = [...path, name];
    const kind = Object.hasOwn(form, name) ? form[name] : undefined;
    if (kind === undefined) {
      throw map.source.error(
        'compose.unknown-key',
        map.keyOffset(at),
        `${whose} has no option '${name}'`,
        namingMend(name, Object.keys(form)),
      );
    }
    const { words, fits } = kinds[bare(kind)];
    if (fits(value)) continue;
    const written = map.written(at);
    throw map.error(
      map.valueOffset(at),
      `the option '${name}' should be ${words}, found ${valueWords(value, written)}`,
      valueMend(bare(kind) === 'boolean', bare(kind) === 'string' && value !== '', value, written),
    );
  }
  for (const [name, kind] of Object.entries(form)) {
    if (kind.endsWith('?') || Object.hasOwn(options, name)) continue;
    throw map.error(
      map.valueOffset(path),
      `${whose} needs the option '${name}': ${kinds[bare(kind)].words} was expected`,
      `Write { ${name}: … } as its options.`,
    );
  }
}

// The type of a form leaves nothing else before the mark.
function bare(kind: Kind | `${Kind}?`): Kind {
  return kind.replace('?', '') as Kind;
}

function isPathName(name: unknown): boolean {
  return typeof name === 'string' && /^[^/\\\0]+$/.test(name) && !/^\.\.?$/.test(name);
}
