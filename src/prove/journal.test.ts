/** The journal: what is written stays, what is altered shows, and one process at a time writes. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../clock.ts';
import { jsonDigest } from '../digest.ts';
import { thisHolder } from '../ledger/holder.ts';
import { openJournal, readJournal } from './journal.ts';
import { planTrials } from './plan.ts';
import type { Registration } from './registration.ts';
import { experimentFolder, openFolder, rowOf } from './trials.cases.ts';

let folder: string;
let record: string;
let registration: Registration;
beforeEach(async () => {
  folder = await experimentFolder();
  record = join(folder, 'record');
  registration = (await openFolder(folder)).registration;
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const open = () => openJournal(record, systemClock);
const file = () => join(record, 'journal.jsonl');
const head = () => join(record, 'journal.head');
async function begun(trials: number) {
  const journal = await open();
  await journal.append({ type: 'registered', at: 1, registration });
  for (const trial of planTrials(registration).slice(0, trials))
    await journal.append({ type: 'trial', row: rowOf(registration, trial) });
  await journal.close();
}

/** One more trial after the first two. */
async function begunOn() {
  const journal = await open();
  const [, , third] = planTrials(registration);
  if (third === undefined) throw new Error('no third trial');
  await journal.append({ type: 'trial', row: rowOf(registration, third) });
  await journal.close();
}

test('says after a reopening what it said before, and leaves no lock', async () => {
  await begun(3);
  const state = await readJournal(record);
  expect(state).toMatchObject({ registration, rows: [{ position: 1 }, { position: 2 }, { position: 3 }] });
  const again = await open();
  expect(again.state()).toEqual(state);
  await again.close();
  expect(await readdir(record)).toEqual(['journal.head', 'journal.jsonl']);
});

test('a line that was half written when the process was killed is taken off', async () => {
  await begun(2);
  const whole = await readFile(file(), 'utf8');
  await appendFile(file(), '{"n":4,"before":"');
  expect((await readJournal(record))?.rows).toHaveLength(2);
  const journal = await open();
  expect(await readFile(file(), 'utf8')).toBe(whole);
  await journal.append({ type: 'completed', at: 2 });
  await journal.close();
  expect((await readJournal(record))?.rows).toHaveLength(2);
});

test.each<[string, (lines: string[]) => string[]]>([
  ['a number that was altered', (lines) => lines.map((line) => line.replace('"score":1', '"score":0'))],
  ['a line that was taken out', (lines) => lines.filter((_, at) => at !== 2)],
  ['two lines that were exchanged', ([a = '', b = '', c = '', ...rest]) => [a, c, b, ...rest]],
  ['a beginning that was cut off', (lines) => lines.slice(1)],
  ['a line that is none', (lines) => ['nonsense', ...lines]],
])('%s is found', async (_what, change) => {
  await begun(3);
  const lines = (await readFile(file(), 'utf8')).split('\n').slice(0, -1);
  await writeFile(file(), `${change(lines).join('\n')}\n`);
  await expect(readJournal(record)).rejects.toMatchObject({ code: 'prove.record-damaged' });
  await expect(open()).rejects.toMatchObject({ code: 'prove.record-damaged' });
  expect(await readdir(record)).toEqual(['journal.head', 'journal.jsonl']);
});

test.each([0, 1, 2, 3])('lines that were taken out at the end are found: %i of four left', async (left) => {
  await begun(3);
  const lines = (await readFile(file(), 'utf8')).split('\n').slice(0, left);
  await writeFile(file(), lines.map((line) => `${line}\n`).join(''));
  const found = { code: 'prove.record-damaged', details: { line: left + 1, lines: 4 } };
  await expect(readJournal(record)).rejects.toMatchObject(found);
  await expect(open()).rejects.toMatchObject(found);
});

test('a last line of which only a part is left is found', async () => {
  await begun(3);
  const whole = await readFile(file(), 'utf8');
  await writeFile(file(), whole.slice(0, -20));
  await expect(readJournal(record)).rejects.toMatchObject({ details: { line: 4, lines: 4 } });
});

test('a journal that was taken away whole is found', async () => {
  await begun(1);
  await rm(file());
  await expect(readJournal(record)).rejects.toMatchObject({ details: { line: 1, lines: 2 } });
});

test.each([
  ['taken away', undefined],
  ['no JSON', '{"n":'],
  ['of another form', '{"n":"4"}'],
  ['of another journal', '{"n":4,"hash":"0"}'],
])('a head that is %s is found', async (_what, text) => {
  await begun(3);
  if (text === undefined) await rm(head());
  else await writeFile(head(), text);
  await expect(readJournal(record)).rejects.toMatchObject({ code: 'prove.record-damaged' });
  await expect(open()).rejects.toMatchObject({ code: 'prove.record-damaged' });
});

test('a process that was killed between a line and its head has lost nothing', async () => {
  await begun(2);
  const behind = await readFile(head(), 'utf8');
  await begunOn();
  const current = await readFile(head(), 'utf8');
  await writeFile(head(), behind);
  expect((await readJournal(record))?.rows).toHaveLength(3);
  await (await open()).close();
  expect(await readFile(head(), 'utf8')).toBe(current);
});

test('a last line that lacks only its end is whole, and the next one does not run into it', async () => {
  await begun(3);
  const whole = await readFile(file(), 'utf8');
  await writeFile(file(), whole.slice(0, -1));
  expect((await readJournal(record))?.rows).toHaveLength(3);
  await (await open()).close();
  expect(await readFile(file(), 'utf8')).toBe(whole);
});

test('a line that was written anew, with a hash of its own, does not fit the next one', async () => {
  await begun(3);
  const lines = (await readFile(file(), 'utf8')).split('\n').slice(0, -1);
  const { n, before, entry } = JSON.parse(lines[2] ?? '');
  const forged = { n, before, entry: { ...entry, row: { ...entry.row, score: 0 } } };
  lines[2] = JSON.stringify({ ...forged, hash: jsonDigest(forged) });
  await writeFile(file(), `${lines.join('\n')}\n`);
  await expect(readJournal(record)).rejects.toMatchObject({
    code: 'prove.record-damaged',
    details: { line: 4 },
  });
});

test('a second writer is refused while the first is there', async () => {
  const first = await open();
  await expect(open()).rejects.toMatchObject({ code: 'prove.busy', details: { holder: thisHolder() } });
  await first.close();
  await (await open()).close();
});

test('the lock of a process that is gone is taken over', async () => {
  const child = spawn(process.execPath, ['-e', '0']);
  await once(child, 'exit');
  await begun(0);
  const [host] = thisHolder().split(':');
  await writeFile(join(record, 'lock'), `${host}:${child.pid}:123`);
  const journal = await open();
  expect(await readFile(join(record, 'lock'), 'utf8')).toBe(thisHolder());
  await journal.close();
});

test('a folder without a journal has no state', async () => {
  const empty = await mkdtemp(join(tmpdir(), 'writ-empty-'));
  expect(await readJournal(empty)).toBeUndefined();
  await rm(empty, { recursive: true });
});
