/** Coverage and false claims by simulation: some rounds here, thousands with `npm run test:simulation`, which writes the evidence. */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type CellResult, cells, runCell } from './simulation.cases.ts';

const evidence = new URL('../../../docs/evidence/statistics-simulation.json', import.meta.url);
const large = process.env.WRIT_SIMULATIONS;

/** What must hold of a large run. Percentile intervals are short where items are few; that much is known and said. */
function least(name: string): number {
  if (/, 10 items/.test(name)) return 0.86;
  return /, 20 items/.test(name) ? 0.9 : 0.93;
}

function faults(results: readonly CellResult[]): string[] {
  return results
    .filter(({ name, counted, nominal, share, standardError }) =>
      counted === 'coverage' ? share + 3 * standardError < least(name) : share - 3 * standardError > nominal,
    )
    .map(({ name, share }) => `${name}: ${share}`);
}

test.runIf(large !== undefined)('a large run keeps its promises and is written down', () => {
  const results = cells.map((cell) => runCell(cell, Number(large)));
  expect(faults(results)).toEqual([]);
  writeFileSync(evidence, `${JSON.stringify(results, undefined, 2)}\n`);
});

test.runIf(large === undefined)('the evidence on record is of these cells, and keeps the promises', () => {
  const recorded = JSON.parse(readFileSync(evidence, 'utf8')) as CellResult[];
  expect(recorded.map(({ name }) => name)).toEqual(cells.map(({ name }) => name));
  expect(faults(recorded)).toEqual([]);
});

test.runIf(large === undefined).each(cells)('a small run agrees: $name', (cell) => {
  const recorded = (JSON.parse(readFileSync(evidence, 'utf8')) as CellResult[]).find(
    ({ name }) => name === cell.name,
  );
  const { share } = runCell(cell, 40);
  const expected = recorded?.share ?? Number.NaN;
  expect(Math.abs(share - expected)).toBeLessThan(4 * Math.sqrt((expected * (1 - expected)) / 40) + 1 / 40);
});
