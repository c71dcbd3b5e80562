/** The measurements that ship and the evidence that is kept of them: the same, of the pinned version, with nothing bad in it. */
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { adapters as catalogued } from '../catalog.ts';
import { type Cell, textTraits } from '../protocol/delivery.ts';
import { readCells } from './cells.ts';
import type { IntentReport } from './verify/measure-intent.ts';
import type { HarnessReport } from './verify/verify.ts';

/** What `npm run test:conformance` keeps of one program. */
interface Evidence extends HarnessReport {
  readonly families: readonly { readonly modelFamily: string; readonly cells: readonly Cell[] }[];
  readonly lines: string;
}

const adapters = await Promise.all(catalogued.map((part) => part.load()));
const programs = adapters.filter(({ program }) => program !== null);
const { dependencies } = JSON.parse(await readFile('conformance/package.json', 'utf8'));
const page = await readFile('docs/evidence/harnesses.md', 'utf8');

describe.each(programs.map((adapter) => [adapter.name, adapter] as const))('%s', async (name, adapter) => {
  const evidence: Evidence = JSON.parse(await readFile(`docs/evidence/${name}.json`, 'utf8'));
  const cells = [evidence.intents, evidence.families].flatMap((all) => all.flatMap((one) => one.cells));

  test('every cell that ships was measured as it is, and every measured one ships', () => {
    expect(adapter.cells).toEqual(readCells(cells, `docs/evidence/${name}.json`));
    expect(Object.values(dependencies)).toContain(evidence.version);
    expect([...new Set(cells.map(({ version }) => version))]).toEqual([evidence.version]);
  });

  test("the vendor's own size is known in each, and what suffers is what the traps say", () => {
    for (const cell of cells) {
      expect(cell.builtInBytes).toBeGreaterThan(0);
      expect(cell.altered).toEqual(textTraits.filter((trait) => cell.altered.includes(trait)));
    }
    const suffered = ({ traps }: IntentReport) =>
      traps.filter(({ outcome }) => outcome !== 'equal' && outcome !== 'refused').map(({ trait }) => trait);
    for (const intent of evidence.intents)
      expect([...(intent.cells[0]?.altered ?? [])].sort()).toEqual(suffered(intent).sort());
  });

  test('nothing in it is a fault, and the page shows it', () => {
    expect(evidence.faults).toEqual([]);
    expect(page).toContain(evidence.lines);
  });
});

test('agents of a protocol: what ships is what was measured of each, and that none of them is given the text', async () => {
  const { agents, lines } = JSON.parse(await readFile('docs/evidence/acp.json', 'utf8'));
  const cells = agents.flatMap(({ intents }: HarnessReport) => intents.flatMap((one) => one.cells));
  expect(adapters.find(({ name }) => name === 'acp')?.cells).toEqual(
    readCells(cells, 'docs/evidence/acp.json'),
  );
  expect(cells.map(({ delivered }: Cell) => delivered)).toEqual(Array(6).fill(false));
  expect(page).toContain(lines);
});
