/** Measurements: read at the door, and chosen for the state that they are of. */
import { expect, test } from 'vitest';
import type { Cell } from '../protocol/delivery.ts';
import { chooseCell, readCells } from './cells.ts';
import { cellFor, sampleRequest } from './conformance.cases.ts';
import { adapter } from './harnesses/gemini/gemini.ts';

const cell = (changes: Partial<Cell> = {}) => cellFor(adapter, sampleRequest, changes);
const query = { ...cell(), version: '1.0.0' as string | null };

test('the state has to be the same in every part', () => {
  expect(chooseCell(query, [], [cell()])).toEqual(cell());
  const others: readonly Partial<Cell>[] = [
    { harness: 'pi' },
    { version: '1.0.1' },
    { modelFamily: 'opus' },
    { authMode: 'login' },
    { intent: 'context' },
    { fidelity: 'exact' },
    { control: 'another' },
  ];
  for (const other of others) expect(chooseCell(query, [], [cell(other)])).toBe(undefined);
});

test("the user's own wins over what ships, however old; among equals the newest counts", () => {
  const shipped = cell({ date: '2026-06-01' });
  const mine = cell({ date: '2025-01-01', delivered: false });
  expect(chooseCell(query, [mine], [shipped])).toBe(mine);
  const newer = cell({ date: '2026-07-01' });
  expect(chooseCell(query, [], [shipped, newer])).toBe(newer);
});

test('where nobody looked at the version, the newest measurement of any stands', () => {
  const old = cell({ version: '0.9.0', date: '2026-01-01' });
  const recent = cell({ version: '2.0.0', date: '2026-05-01' });
  expect(chooseCell({ ...query, version: null }, [], [old, recent])).toBe(recent);
});

test('a list that is none is refused with its source and place', () => {
  expect(readCells([cell()], 'x.json')).toEqual([cell()]);
  for (const wrong of [
    {},
    [{ ...cell(), date: 'yesterday' }],
    [{ ...cell(), altered: ['smell'] }],
    [{ ...cell(), more: 1 }],
  ])
    expect(() => readCells(wrong, 'x.json')).toThrow(
      expect.objectContaining({ code: 'deliver.bad-cells', message: expect.stringContaining('x.json') }),
    );
});
