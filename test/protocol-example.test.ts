/** The example of an ablation, on a part of its questions: the ritual goes to exactly zero, the score shows no effect. */
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { call } from '../src/cli/call.cases.ts';
import type { Report } from '../src/prove/report.ts';

let folder: string;
let model: { baseUrl: string; answered(): number; stop(): Promise<void> };
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'writ-protocol-'));
  const { startModel } = await import(pathToFileURL(resolve('examples/experiments/protocol/model.mjs')).href);
  model = await startModel();
});
afterEach(async () => {
  await model.stop();
  await rm(folder, { recursive: true, force: true });
});

test('twelve of its questions, once in each arm', async () => {
  await cp('examples/experiments/protocol', folder, { recursive: true });
  await mkdir(join(folder, '.writ'));
  const edit = async (file: string, change: (text: string) => string) =>
    writeFile(join(folder, file), change(await readFile(join(folder, file), 'utf8')));
  await edit('experiment.yaml', (text) =>
    text.replaceAll('../../builder', resolve('examples/builder')).replace('repeats: 5', 'repeats: 1'),
  );
  // An item is four lines.
  await edit('items.yaml', (text) =>
    text
      .split('\n')
      .slice(0, 1 + 12 * 4)
      .join('\n'),
  );

  const writ = (...words: string[]) => call(['experiment', ...words], { cwd: folder });
  expect(await writ('register', 'experiment.yaml')).toMatchObject({ code: 0, stderr: '' });
  expect(await writ('run', 'experiment.yaml', '--base-url', model.baseUrl)).toMatchObject({
    code: 0,
    stderr: '',
  });
  expect(await writ('report', 'experiment.yaml')).toMatchObject({ code: 0, stderr: '' });
  const report = JSON.parse(await readFile(join(folder, 'experiment.record/report.json'), 'utf8')) as Report;
  expect(report.claims.map(({ kind }) => kind)).toEqual(
    expect.arrayContaining(['no-effect-detected', 'better', 'exactly-zero']),
  );
  // What was asked comes first. Twelve pairs are too few to show it.
  expect(report.claims.slice(0, 2)).toMatchObject([
    { kind: 'margin-not-shown', question: 'non-inferiority', metric: 'score' },
    { kind: 'no-effect-detected', metric: 'score' },
  ]);
  expect(report.claims.find(({ kind }) => kind === 'exactly-zero')).toMatchObject({
    calls: 'project_read',
    zeroIn: 'treatment',
    other: 24,
    trials: 12,
  });
  expect(report.claims.find((claim) => claim.kind === 'better' && claim.metric === 'costUsd')?.text).toMatch(
    /the treatment is cheaper by 0\.00\d+ US dollars, 5\d/,
  );
  expect(report.notVerified).toContain(
    'All answers came from a server on this machine: no model of a provider took part.',
  );
  expect(model.answered()).toBe(12 * 4 + 12 * 2);
  expect((await writ('verify', 'experiment.record/report.json')).code).toBe(0);
});
