/** `writ demo`: everything but the model's wit is real, and the answer follows from the data. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { call } from '../call.cases.ts';
import { answerTo, demoTask } from './demo-model.ts';

let cwd: string;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'writ-demo-test-'));
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

test('shows decisions, calls, answer, use and the record, and leaves only the record', async () => {
  const before = (await readdir(tmpdir())).filter((name) => /^writ-demo-\w{6}$/.test(name));
  const { code, stdout, stderr } = await call(['demo'], { cwd });
  expect(code).toBe(0);
  expect(stdout).toContain('workspace.notes = true (probe project-marker)');
  expect(stdout).toContain(demoTask);
  expect(stderr).toMatch(/1 sql_query ok · /);
  expect(stderr).toMatch(/2 project_read ok · /);
  expect(stdout).toMatch(/\n {2}modelCalls {2}3 of 16, 13 left\n/);

  const { DatabaseSync } = createRequire(import.meta.url)('@photostructure/sqlite');
  const database = new DatabaseSync(join(import.meta.dirname, '../../../dist/data/vega.sqlite'), {
    readOnly: true,
  });
  const heaviest = database
    .prepare(
      'SELECT species, AVG(body_mass_g) AS mean FROM penguins GROUP BY species ORDER BY mean DESC LIMIT 1',
    )
    .get();
  database.close();
  expect(stdout).toContain(`${heaviest.species} is the heaviest on average: ${Math.round(heaviest.mean)} g`);

  const byNpm = await call(['demo'], { cwd, env: { npm_lifecycle_event: 'demo' } });
  expect(byNpm.stdout).toMatch(/Its record: npx writ runs show run_\w+\n$/);

  const record = /Its record: writ (runs show run_\w+)\n$/.exec(stdout)?.[1] ?? '';
  const shown = await call(record.split(' '), { cwd });
  expect(shown.stdout).toContain('is the heaviest on average');
  const after = (await readdir(tmpdir())).filter((name) => /^writ-demo-\w{6}$/.test(name));
  expect(after.filter((name) => !before.includes(name))).toEqual([]);
});

test('ends with 130 when it is cancelled', async () => {
  expect((await call(['demo'], { cwd, signal: AbortSignal.abort('Ctrl-C') })).code).toBe(130);
});

const asked = (...results: unknown[]) =>
  answerTo({
    model: 'scripted',
    messages: [
      { role: 'user', content: demoTask },
      ...results.map((result) => ({
        role: 'tool' as const,
        content: typeof result === 'string' ? result : JSON.stringify(result),
      })),
    ],
  });

test('other tool results give another answer', () => {
  const tables = { columns: ['name'], rows: [['penguins']] };
  const notes = { content: '| body_mass_g | guessed by eye |\n' };
  expect(asked().toolCalls?.map((call) => call.name)).toEqual(['sql_query', 'project_read']);
  expect(asked({ rows: [['cars']] }, notes).content).toContain('cannot answer');
  expect(asked(tables, notes).toolCalls?.map((call) => call.name)).toEqual(['sql_query']);
  const figures = {
    rows: [
      ['Emperor', 30000.4, 7, 1],
      ['Adelie', 3700, 9, 0],
    ],
  };
  const { content } = asked(tables, notes, figures);
  expect(content).toContain('Emperor is the heaviest on average: 30000 g, 26300 g more than Adelie.');
  expect(content).toContain('missing: 1');
  expect(content).toContain('guessed by eye');
  expect(asked(tables, 'failed(tool.not-found): no notes', figures).content).not.toContain('dictionary');
  expect(asked(tables, notes, 'failed(tool.sql-error): no such column').content).toContain('no such column');
});
