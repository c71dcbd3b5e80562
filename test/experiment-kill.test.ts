/** An experiment whose process is killed goes on where it was: no finished trial runs twice, and none is lost. */
import type { ChildProcess } from 'node:child_process';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../src/clock.ts';
import { sqliteStore } from '../src/ledger/stores/sqlite.ts';
import { readJournal } from '../src/prove/journal.ts';
import { experimentFolder } from '../src/prove/trials.cases.ts';
import { type Ended, startCli } from './real-cli.ts';

let folder: string;
let server: Server;
let requests = 0;
const children: ChildProcess[] = [];
/** What happens before a request is answered; false leaves it without an answer. */
let before: (request: number) => boolean | Promise<boolean> = () => true;

beforeEach(async () => {
  requests = 0;
  server = createServer(async (request, response) => {
    for await (const _ of request);
    requests += 1;
    const number = requests;
    if (!(await before(number))) return;
    const id = `answer-${number}`;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const chunk = {
      id,
      model: 'scripted-1',
      choices: [{ index: 0, delta: { content: 'yes' }, finish_reason: 'stop' }],
    };
    response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  folder = await experimentFolder('limits: { concurrency: 3 }');
  await mkdir(join(folder, '.writ'));
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await rm(folder, { recursive: true, force: true });
});

function writ(...words: string[]): Promise<Ended> {
  const { child, end } = startCli(folder, ['experiment', ...words]);
  children.push(child);
  return end;
}

const run = () =>
  writ(
    'run',
    'experiment.yaml',
    '--json',
    '--base-url',
    `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
  );

test('killed three times in the middle of trials, it ends with each trial once', async () => {
  expect((await writ('register', 'experiment.yaml')).code).toBe(0);
  const record = join(folder, 'experiment.record');
  const finished = new Map<string, string>();
  const keep = async () => {
    for (const row of (await readJournal(record))?.rows ?? []) {
      const key = `${row.side} ${row.item}`;
      // What had an outcome before a kill has the same one, of the same run, after it.
      expect(finished.get(key) ?? row.run).toBe(row.run);
      finished.set(key, row.run);
    }
  };
  for (const at of [4, 9, 14]) {
    before = (request) => request !== at || !children.at(-1)?.kill('SIGKILL');
    expect((await run()).code).toBeNull();
    await keep();
    expect(finished.size).toBeLessThan(16);
  }
  before = () => true;
  const last = await run();
  expect(last.code).toBe(0);
  expect(JSON.parse(last.stdout)).toMatchObject({ trials: 16, done: 16, complete: true });
  await keep();

  const store = sqliteStore({ path: join(folder, '.writ/ledger.sqlite'), clock: systemClock });
  const runs = await store.runs();
  await store.close();
  const cut = runs.filter(({ id }) => ![...finished.values()].includes(id));
  expect(finished.size).toBe(16);
  // Every request belongs to a trial with its outcome or to one that a kill cut off: nothing was asked a second time.
  expect(requests).toBeLessThanOrEqual(16 + cut.length);
  expect(cut.length).toBeGreaterThanOrEqual(3);
  expect(cut.length).toBeLessThanOrEqual(9);

  expect((await writ('report', 'experiment.yaml')).code).toBe(0);
  const report = JSON.parse(await readFile(join(record, 'report.json'), 'utf8'));
  const interrupted = report.trials.reduce(
    (sum: number, row: { interrupted: number }) => sum + row.interrupted,
    0,
  );
  expect([interrupted, report.exploratory, report.claims[0].kind]).toEqual([
    cut.length,
    false,
    'no-effect-detected',
  ]);
  expect((await writ('verify', join(record, 'report.json'))).code).toBe(0);
  expect((await readdir(record)).sort()).toEqual([
    'journal.head',
    'journal.jsonl',
    'report.html',
    'report.json',
  ]);
});

test('a second process is refused while the first is at work', async () => {
  await writ('register', 'experiment.yaml');
  let second: Promise<{ code: number | null }> | undefined;
  // The first process waits for an answer until the second has ended.
  before = async () => {
    second ??= run();
    return (await second).code !== null;
  };
  const first = await run();
  expect([first.code, (await second)?.code]).toEqual([0, 3]);
});
