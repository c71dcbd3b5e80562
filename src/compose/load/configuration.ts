/** `config.yaml` of the user's configuration folder and `.writ/config.yaml` of a workspace. */
import { realpath, stat } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { z } from 'zod';
import { systemCode } from '../../errors.ts';
import type { Price } from '../agent.ts';
import { ComposeError } from '../errors.ts';
import { readSource } from './located.ts';
import { name, price, readForm, text, variable } from './schema.ts';
import { YamlMap } from './yaml.ts';

export const configuredTexts = ['identity', 'governance', 'memory'] as const;
export type ConfiguredText = (typeof configuredTexts)[number];

export interface Configuration {
  readonly origin: 'deployment' | 'workspace';
  readonly file: string;
  readonly texts: Readonly<Partial<Record<ConfiguredText, string>>>;
  readonly model: string | undefined;
  readonly baseUrl: string | undefined;
  readonly wire: string | undefined;
  readonly keyEnv: string | undefined;
  readonly prices: ReadonlyMap<string, Price>;
  /** Capabilities that nobody has here. */
  readonly unavailable: readonly string[];
}

const textOrFile = z
  .union([text, z.strictObject({ file: text })], { error: 'a text, or { file: path }' })
  .optional();
const configurationSchema = z.strictObject({
  identity: textOrFile,
  governance: textOrFile,
  memory: textOrFile,
  model: text.optional(),
  unavailable: z.array(name).optional(),
  baseUrl: text.optional(),
  wire: text.optional(),
  keyEnv: variable.optional(),
  prices: z.record(text, price).optional(),
});

// A workspace may be anybody's repository: it must not say where a key is sent, nor what a run costs.
const usersOwn = ['baseUrl', 'wire', 'keyEnv', 'prices'];

/** Undefined where there is no such file. Throws a located ComposeError for one that is not as the form asks. */
export async function readConfiguration(
  file: string,
  origin: Configuration['origin'],
): Promise<Configuration | undefined> {
  const isThere = await stat(file).then(
    () => true,
    (cause) => systemCode(cause) !== 'ENOENT' && systemCode(cause) !== 'ENOTDIR',
  );
  if (!isThere) return undefined;
  const source = await readSource(file);
  const map = new YamlMap(source, source.text, 0, 'config.yaml');
  const denied = origin === 'workspace' ? usersOwn.find((key) => Object.hasOwn(map.value, key)) : undefined;
  if (denied !== undefined) {
    throw source.error(
      'compose.unknown-key',
      map.keyOffset([denied]),
      `'${denied}' is read from the configuration of the user only, because a workspace could lead a key or a bill elsewhere`,
      'Move it to config.yaml in your configuration folder for writ, or give it as a flag.',
    );
  }
  const written = readForm(configurationSchema, map);
  const texts: Partial<Record<ConfiguredText, string>> = {};
  for (const id of configuredTexts) {
    const value = written[id];
    if (value !== undefined) texts[id] = typeof value === 'string' ? value : await textOf(file, value.file);
  }
  return {
    origin,
    file,
    texts,
    model: written.model,
    baseUrl: written.baseUrl,
    wire: written.wire,
    keyEnv: written.keyEnv,
    prices: new Map(Object.entries(written.prices ?? {})),
    unavailable: written.unavailable ?? [],
  };
}

// Beside the configuration and nowhere else: what it names goes to a model's provider.
async function textOf(file: string, named: string): Promise<string> {
  const folder = await realpath(dirname(file));
  const path = join(folder, named);
  const real = await realpath(path).catch(() => path);
  if (real.startsWith(folder + sep)) return (await readSource(real)).text;
  throw new ComposeError('compose.unreadable', `${file} names ${named}, which lies outside its folder.`, {
    next: 'Put the text beside the configuration.',
    details: { file: named },
  });
}
