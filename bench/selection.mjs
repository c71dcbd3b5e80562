// Selection over 1,000, 10,000 and 50,000 units: ours (the whole compilation of a surface) beside MiniSearch (ranking alone).
import MiniSearch from 'minisearch';
import { compileSurface, openCatalogue } from '../dist/index.js';
import { labelledTasks, sampleCatalogue } from './selection-catalogue.mjs';

const sizes = [1000, 10_000, 50_000];
const shown = 8;
const targets = { 1000: '≤ 100 µs', 10000: '≤ 1,000 µs' };

const idOf = (unit) => `${unit.kind}:${unit.server}/${unit.name}`;

function ours(units) {
  const catalogue = openCatalogue(units);
  const compile = (task) => compileSurface(catalogue, { task, capabilities: [], budgetTokens: 4000 });
  // The first request sorts and sums what the later ones read.
  compile('warm');
  return (task) => compile(task).candidates.map(({ unit }) => unit);
}

function miniSearch(units) {
  const index = new MiniSearch({
    fields: ['name', 'server', 'category', 'description'],
    tokenize: (text) => text.replace(/([a-z0-9])([A-Z])/g, '$1 $2').split(/[^A-Za-z0-9]+/),
    searchOptions: { boost: { name: 3, server: 3, category: 1.5 }, prefix: true },
  });
  index.addAll(units.map((unit) => ({ id: idOf(unit), ...unit })));
  return (task) => index.search(task).map(({ id }) => id);
}

const median = (list) => list.sort((a, b) => a - b)[list.length >> 1];
const micros = (run) => {
  const started = process.hrtime.bigint();
  const result = run();
  return [Number(process.hrtime.bigint() - started) / 1e3, result];
};

/** Median microseconds and recall@8 for each size; both ways take turns, task by task. */
export function measureSelection(rounds = 5) {
  return sizes.map((size) => {
    const units = sampleCatalogue(size);
    const known = new Set(units.map(idOf));
    const tasks = labelledTasks().filter(([, unit]) => known.has(unit));
    const ways = [ours, miniSearch].map((make) => {
      const [built, search] = micros(() => make(units));
      return { built, search, taken: [], hits: 0 };
    });
    for (let round = 0; round < rounds; round += 1) {
      for (const [task, unit] of tasks) {
        for (const way of ways) {
          const [took, found] = micros(() => way.search(task));
          // The first round warms the compiler of the engine up, and counts the hits.
          if (round > 0) way.taken.push(took);
          else if (found.slice(0, shown).includes(unit)) way.hits += 1;
        }
      }
    }
    return {
      size,
      tasks: tasks.length,
      ways: ways.map(({ built, taken, hits }) => ({
        built,
        took: median(taken),
        recall: hits / tasks.length,
      })),
    };
  });
}

export async function main() {
  console.log(
    'Median of one selection in µs; the index is built once. Recall@8 over the labelled tasks of that size.\n',
  );
  for (const { size, tasks, ways } of measureSelection()) {
    const [writ, mini] = ways;
    console.log(
      `${String(size).padStart(6)} units, ${tasks} tasks: writ ${writ.took.toFixed(0)} µs${targets[size] ? ` (target ${targets[size]})` : ''}, recall ${writ.recall.toFixed(3)}; ` +
        `MiniSearch ${mini.took.toFixed(0)} µs, recall ${mini.recall.toFixed(3)}; ratio ${(writ.took / mini.took).toFixed(3)}; ` +
        `index ${(writ.built / 1e3).toFixed(0)} ms against ${(mini.built / 1e3).toFixed(0)} ms`,
    );
  }
}
