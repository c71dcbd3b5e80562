/** `writ experiment verify` as a person calls it: beside the journal, away from it, and after something has changed. */
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../clock.ts';
import { memoryStore } from '../../ledger/stores/memory.ts';
import { openJournal } from '../../prove/journal.ts';
import { register } from '../../prove/register.ts';
import { runExperiment } from '../../prove/run-experiment.ts';
import { executeBy, experimentFolder, experimentRun, openFolder } from '../../prove/trials.cases.ts';
import { call } from '../call.cases.ts';

let folder: string;
const writ = (...words: string[]) => call(['experiment', ...words], { cwd: folder, env: { PATH: '' } });
const told = async (...words: string[]) => JSON.parse((await writ('verify', ...words, '--json')).stdout);

beforeAll(async () => {
  folder = await experimentFolder('', { items: 6 });
  await mkdir(join(folder, '.writ'));
  const opened = await openFolder(folder);
  const journal = await openJournal(join(folder, 'experiment.record'), systemClock);
  try {
    await register(journal, opened.registration, { clock: systemClock });
    const store = memoryStore({ clock: systemClock });
    const execute = executeBy(store, opened, () => ({}));
    await runExperiment(experimentRun(opened, { journal, store, execute }));
  } finally {
    await journal.close();
  }
  expect((await writ('report', 'experiment.yaml')).code).toBe(0);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const report = 'experiment.record/report.json';
const ofJournal = 'registration, deviations, trials and the report itself stand in the journal';
// The trials were measured by a program of another version, on another machine.
const ofBuild = ['build.node', 'build.platform', 'build.writ'];

test('beside its journal every report that was made of it verifies, and how the present program differs is said', async () => {
  const { code, stdout } = await writ('verify', report);
  expect(code).toBe(0);
  expect(stdout).toContain(`ok    ${ofJournal}`);
  expect(stdout).toMatch(
    /differs from what was measured in build\.node, build\.platform, build\.writ\.\nverified: /,
  );
  await copyFile(join(folder, report), join(folder, 'first.json'));
  await writ('report', 'experiment.yaml');
  const first = await told('first.json', '--record', 'experiment.record', '--experiment', 'experiment.yaml');
  expect(first).toMatchObject({ ok: true, notChecked: [], drift: { known: true, paths: ofBuild } });
});

test('away from its journal it says what was not checked, and the program alone is compared', async () => {
  await copyFile(join(folder, report), join(folder, 'away.json'));
  expect(await told('away.json')).toMatchObject({
    ok: true,
    notChecked: [{ what: ofJournal, why: 'there is no journal beside it' }],
    drift: { known: false, paths: ofBuild },
  });
  expect((await writ('verify', 'away.json')).stdout).toMatch(
    /\? {5}registration, .*: not checked, there is no journal beside it\n.*nothing but the program was compared/,
  );
  expect(await told('away.json', '--record', 'agent')).toMatchObject({
    ok: false,
    checks: expect.arrayContaining([
      { what: ofJournal, ok: false, found: expect.stringContaining('there is no journal in') },
    ]),
  });
});

test.each([
  ['[]', 'JSON that is no map'],
  ['{}', 'JSON without the format writ-experiment-report/1'],
  ['{"format":"writ-experiment-report/1"}', "JSON in which 'registration' is missing or of another form"],
])('%s is no report, which is said in one line', async (text, found) => {
  await writeFile(join(folder, 'other.json'), text);
  const { code, stderr } = await writ('verify', 'other.json');
  expect(code).toBe(2);
  expect(stderr.split('\n')).toEqual([
    expect.stringContaining(`Expected the report of an experiment in other.json, found ${found}.`),
    expect.stringContaining('Name the report.json'),
    '',
  ]);
});

test('a folder that has changed since is named, and is no fault of the report', async () => {
  const file = join(folder, 'agent/instructions/base.md');
  const before = await readFile(file, 'utf8');
  await writeFile(file, 'Answer better questions.\n');
  const { ok, drift } = await told(report);
  expect([ok, drift.known, drift.paths]).toEqual([
    true,
    true,
    expect.arrayContaining(['arms.control.prompt']),
  ]);
  await writeFile(file, before);
});

test('a file that was written anew, or a journal that was cut, ends with 1', async () => {
  const path = join(folder, report);
  const text = await readFile(path, 'utf8');
  await writeFile(path, text.replace('"format"', ' "format"'));
  expect(await writ('verify', report)).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/WRONG the file says each thing once.*: it was changed or written anew/),
  });
  await writeFile(path, text);
  const journal = join(folder, 'experiment.record/journal.jsonl');
  const lines = (await readFile(journal, 'utf8')).trimEnd().split('\n');
  await writeFile(journal, `${lines.slice(0, -1).join('\n')}\n`);
  expect(await writ('verify', report)).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/WRONG registration, .*its end was taken out/),
  });
  await writeFile(journal, `${lines.join('\n')}\n`);
  expect((await writ('verify', report)).code).toBe(0);
});
