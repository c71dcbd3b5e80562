/** The deterministic suite of the runtime holds, and a case that there is not is no success. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = promisify(execFile);
const whole = run(process.execPath, ['conformance/runtime.mjs', '--json'], {
  maxBuffer: 1 << 24,
  // With a case that does not hold it ends with 1, and has still said which.
}).catch((error: { readonly stdout: string }) => error);

test('every case of the suite holds', async () => {
  const { stdout } = await whole;
  const report = JSON.parse(stdout);
  const { experiment, notOurs } = report;
  const failed = [...report.records, ...experiment.records].filter(
    ({ status }: Record) => status !== 'passed',
  );
  expect([failed, report.planned, report.passed, report.quality]).toEqual([[], 15, 15, 1]);
  expect([experiment.planned, experiment.passed]).toEqual([14, 14]);
  // Every number of the benchmark is run, or said to be not ours, and why.
  const numbers = (list: readonly Record[]) => list.flatMap(({ number }) => number ?? []);
  const left = (inExperiment: boolean) =>
    notOurs.filter((one: NotOurs) => (one.experiment === true) === inExperiment && one.why !== '');
  const all = (count: number) => Array.from({ length: count }, (_, at) => at + 1);
  expect(numbers([...report.records, ...left(false)]).sort((a, b) => a - b)).toEqual(all(16));
  expect(numbers([...experiment.records, ...left(true)]).sort((a, b) => a - b)).toEqual(all(15));
});

test('the depth experiment gives each task its worth, asks no model, and promotes nothing', async () => {
  const { stdout } = await whole;
  const { records, promotion } = JSON.parse(stdout).experiment;
  const of = (task: string) =>
    records.filter((record: Record) => record.task === task).map(({ quality }: Record) => quality.toFixed(2));
  expect(['trivial', 'two_stage', 'three_stage', 'tradeoff'].map(of)).toEqual([
    ['1.00', '1.00', '1.00'],
    ['0.50', '1.00', '1.00'],
    ['0.33', '0.67', '1.00'],
    ['0.80', '0.90', '0.95'],
  ]);
  const deep = records.filter(({ task }: Record) => task !== undefined);
  expect(deep.map(({ metrics }: Record) => metrics.depth)).toEqual([0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2]);
  expect(deep.map(({ metrics }: Record) => metrics.modelCalls)).toEqual(deep.map(() => 0));
  expect(promotion).toMatchObject({ decision: 'hold', found: { liveTrials: 0, fixtures: 4 } });
  expect(promotion.missing).toContain('live trials');
});

interface Record {
  readonly status: string;
  readonly number?: number;
  readonly task?: string;
  readonly quality: number;
  readonly metrics: { readonly depth: number; readonly modelCalls: number };
}

interface NotOurs extends Record {
  readonly experiment?: boolean;
  readonly why: string;
}

test('an unknown case ends with 2 and names those that there are', async () => {
  const ended = await run(process.execPath, ['conformance/runtime.mjs', 'nothing']).catch(
    (error: unknown) => error,
  );
  expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining('direct_depth_0') });
});
