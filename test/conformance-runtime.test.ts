/** The deterministic suite of the runtime holds, and a case that there is not is no success. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = promisify(execFile);

test('every case of the suite holds', async () => {
  const { stdout } = await run(process.execPath, ['conformance/runtime.mjs', '--json']);
  const report = JSON.parse(stdout);
  const failed = report.records.filter((record: { status: string }) => record.status !== 'passed');
  expect([failed, report.planned, report.passed, report.quality]).toEqual([[], 10, 10, 1]);
});

test('an unknown case ends with 2 and names those that there are', async () => {
  const ended = await run(process.execPath, ['conformance/runtime.mjs', 'nothing']).catch(
    (error: unknown) => error,
  );
  expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining('direct_depth_0') });
});
