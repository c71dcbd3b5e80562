// Selection over 1,000, 10,000 and 50,000 units: ours (the whole compilation of a surface) beside MiniSearch (ranking alone).
import MiniSearch from 'minisearch';
import { compileSurface, openCatalogue } from '../dist/index.js';
import { labelledTasks, sampleCatalogue } from './selection-catalogue.mjs';

// Timed selections of each way, as many again before them to warm the engine up. With 50,000 units each service stands five
// times and a task names several tools equally well, so that recall says nothing there.
const sizes = [
  { size: 1000, runs: 2000, target: ' (target ≤ 100)', recall: true },
  { size: 10_000, runs: 132, target: ' (target ≤ 1,000)', recall: true },
  { size: 50_000, runs: 12, target: '', recall: false },
];
const shown = 8;

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
// Of processor time: on a machine that does other work too, the time on the wall says little.
const micros = (run) => {
  const before = process.cpuUsage();
  const result = run();
  const { user, system } = process.cpuUsage(before);
  return [user + system, result];
};

/** Median microseconds of processor time and recall@8 at one size. One way after the other: the garbage of one is not collected in the time of the other. */
export function measureSelection({ size, runs, recall }) {
  const units = sampleCatalogue(size);
  const known = new Set(units.map(idOf));
  const tasks = labelledTasks().filter(([, unit]) => known.has(unit));
  const ways = [ours, miniSearch].map((make) => {
    const [built, search] = micros(() => make(units));
    const hits = (list) => list.filter(([task, unit]) => search(task).slice(0, shown).includes(unit)).length;
    return { built, search, recall: recall ? hits(tasks) / tasks.length : undefined, taken: [] };
  });
  for (const { search, taken } of ways) {
    for (let run = 0; run < 2 * runs; run += 1) {
      const [took] = micros(() => search(tasks[run % tasks.length][0]));
      if (run >= runs) taken.push(took);
    }
  }
  return ways.map((way) => ({ ...way, took: median(way.taken), tasks: tasks.length }));
}

export async function main() {
  console.log(
    'Median processor time of one selection in µs, and recall@8 over the labelled tasks; the index is built once.\n',
  );
  for (const row of sizes) {
    const [writ, mini] = measureSelection(row);
    const recalls = row.recall
      ? `, recall ${writ.recall.toFixed(3)} against ${mini.recall.toFixed(3)} over ${writ.tasks} tasks`
      : '';
    console.log(
      `${String(row.size).padStart(6)} units: writ ${writ.took.toFixed(0)}${row.target}, MiniSearch ${mini.took.toFixed(0)}, ` +
        `ratio ${(writ.took / mini.took).toFixed(3)}${recalls}; index in ${(writ.built / 1e3).toFixed(0)} ms against ${(mini.built / 1e3).toFixed(0)}`,
    );
  }
}
