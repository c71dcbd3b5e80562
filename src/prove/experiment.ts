/** An experiment as it is written: experiment.yaml and its items, every name and folder looked at before anything runs. */
import { stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { readSource } from '../compose/load/located.ts';
import { readForm } from '../compose/load/schema.ts';
import { type Path, YamlMap } from '../compose/load/yaml.ts';
import type { WritError } from '../errors.ts';
import type { Json } from '../protocol/json.ts';
import { ProveError } from './errors.ts';
import { type ExperimentFile, experimentSchema, type ItemFile, itemsSchema } from './form.ts';

export interface Item {
  readonly id: string;
  readonly task: string;
  /** What the grader compares with; null where the item gives nothing. */
  readonly expect: Json;
  readonly groups: Readonly<Record<string, string>>;
  /** The folder that its trials get copies of, absolute; null for an empty one. */
  readonly workspace: string | null;
}

export interface Experiment {
  /** Absolute, as are all paths here. */
  readonly file: string;
  readonly folder: string;
  readonly written: ExperimentFile;
  /** In code unit order of their ids. */
  readonly items: readonly Item[];
  /** Where experiment.yaml says a thing, for errors that are found later. */
  readonly map: YamlMap;
  /** The error of a value of an item, at its place in the file. */
  itemError(id: string, key: string, message: string, next: string): WritError;
}

/**
 * Reads an experiment; executes nothing. Throws a located ComposeError for what is not as the form asks, and
 * `prove.bad-fixture` for a folder that is not there.
 */
export async function loadExperiment(file: string): Promise<Experiment> {
  const path = resolve(file);
  const folder = dirname(path);
  const source = await readSource(path);
  const map = new YamlMap(source, source.text, 0, basename(path));
  const written = readForm(experimentSchema, map);
  const found =
    typeof written.items === 'string'
      ? await itemsOfFile(join(folder, written.items))
      : { items: written.items, map, path: ['items'] };
  const items = await Promise.all(
    Object.entries(found.items)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([id, item]) => itemOf(id, item, folder, written.workspace)),
  );
  if (items.length === 0) {
    throw found.map.error(found.map.valueOffset(found.path), 'there is no item', 'Write at least one item.');
  }
  const experiment: Experiment = {
    file: path,
    folder,
    written,
    items,
    map,
    itemError: (id, key, message, next) =>
      found.map.error(found.map.valueOffset([...found.path, id, key]), message, next),
  };
  mustHaveGroups(experiment);
  return experiment;
}

async function itemsOfFile(
  file: string,
): Promise<{ items: Readonly<Record<string, ItemFile>>; map: YamlMap; path: Path }> {
  const source = await readSource(file);
  const map = new YamlMap(source, source.text, 0, basename(file));
  return { items: readForm(itemsSchema, map), map, path: [] };
}

async function itemOf(id: string, item: ItemFile, folder: string, shared: string | undefined): Promise<Item> {
  const named = item.workspace ?? shared;
  const workspace = named === undefined ? null : resolve(folder, named);
  if (workspace !== null && !(await isFolder(workspace))) {
    throw new ProveError('prove.bad-fixture', `Expected the folder ${workspace} for '${id}', found none.`, {
      next: 'Make the folder, or name another workspace.',
      details: { item: id, workspace },
    });
  }
  return { id, task: item.task, expect: item.expect ?? null, groups: item.groups ?? {}, workspace };
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

// A grouping that an item lacks would stop the analysis when all the money is spent.
function mustHaveGroups(experiment: Experiment): void {
  const { primary, secondary = [] } = experiment.written;
  for (const { estimand } of [...(primary === undefined ? [] : [primary]), ...secondary]) {
    if (estimand === undefined || estimand === 'micro' || estimand.macro === 'item') continue;
    const grouping = estimand.macro;
    const without = experiment.items.find(({ groups }) => !Object.hasOwn(groups, grouping));
    if (without === undefined) continue;
    throw experiment.itemError(
      without.id,
      'groups',
      `the item '${without.id}' has no group of the grouping '${grouping}'`,
      `Give every item its ${grouping}.`,
    );
  }
}
