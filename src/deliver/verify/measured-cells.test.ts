/** The user's own measurements on a real disk. */
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Cell } from '../../protocol/delivery.ts';
import { keepMeasuredCells, measuredCellsPath, readMeasuredCells } from './measured-cells.ts';

let home: string;
let path: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'writ-cells-'));
  path = measuredCellsPath({ HOME: home });
});
afterEach(() => rm(home, { recursive: true, force: true }));

const cell: Cell = {
  harness: 'h',
  version: '1.0.0',
  modelFamily: 'default',
  authMode: 'api-key',
  intent: 'replace',
  fidelity: 'base',
  control: '--x',
  delivered: true,
  position: null,
  residue: { bytes: 0, firstWords: '' },
  builtInBytes: null,
  byteEquality: true,
  altered: ['nul'],
  date: '2026-01-01',
};

test('a new measurement takes the place of the one about the same, and of no other', async () => {
  expect(await readMeasuredCells(path)).toEqual([]);
  const append: Cell = { ...cell, intent: 'append' };
  await keepMeasuredCells(path, [cell, append]);
  const again: Cell = { ...cell, delivered: false, date: '2026-02-02' };
  await keepMeasuredCells(path, [again]);
  expect(await readMeasuredCells(path)).toEqual([again, append]);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await readdir(dirname(path))).toEqual(['cells.json']);
});

test.each(['{', '{"a":1}', '[{"harness":"h"}]'])(
  'a file like %s is told and stays as it is',
  async (text) => {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
    await expect(readMeasuredCells(path)).rejects.toMatchObject({ code: 'deliver.bad-cells' });
    await expect(keepMeasuredCells(path, [cell])).rejects.toMatchObject({ code: 'deliver.bad-cells' });
    expect((await stat(path)).size).toBe(text.length);
  },
);
