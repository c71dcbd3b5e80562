// Writes items.yaml and workspace/warehouse.sqlite anew: node make.mjs. Both are the same each time.
import { rmSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from '@photostructure/sqlite';
import { questions, regions, statementOf, taskOf } from './questions.mjs';

const path = new URL('workspace/warehouse.sqlite', import.meta.url).pathname;
rmSync(path, { force: true });
const database = new DatabaseSync(path);
database.exec(
  'CREATE TABLE orders (id INTEGER PRIMARY KEY, region TEXT, customer TEXT, day TEXT, units INTEGER, amount REAL, status TEXT)',
);
const insert = database.prepare('INSERT INTO orders VALUES (?, ?, ?, ?, ?, ?, ?)');
let state = 20250301;
const draw = (below) => {
  state = (Math.imul(state, 1103515245) + 12345) >>> 0;
  return (state >>> 8) % below;
};
let id = 0;
for (const region of regions) {
  for (let order = 0; order < 24 + draw(12); order += 1) {
    const day = `2025-03-${String(1 + draw(20)).padStart(2, '0')}`;
    insert.run(++id, region, `customer ${draw(14)}`, day, 1 + draw(9), (1000 + draw(19000)) / 100, 'paid');
  }
  // Cancelled orders stand at every edge, so that whoever forgets them is wrong about each question.
  insert.run(++id, region, 'customer 90', '2025-03-28', 40, 940.5, 'cancelled');
  insert.run(++id, region, 'customer 91', '2025-03-29', 50, 1.5, 'cancelled');
}
const lines = regions.flatMap((region) =>
  questions.map((question) => {
    const { answer } = database.prepare(statementOf(region, question)).get();
    const wrong = database.prepare(statementOf(region, question, false)).get().answer;
    if (Math.abs(answer - wrong) < 0.01) throw new Error(`${region} ${question.kind} cannot be got wrong`);
    return `${region}-${question.kind}:\n  task: ${JSON.stringify(taskOf(region, question))}\n  expect: ${answer}\n  groups: { kind: ${question.kind}, region: ${region} }\n`;
  }),
);
database.close();
writeFileSync(new URL('items.yaml', import.meta.url), `# Written by make.mjs.\n${lines.join('')}`);
