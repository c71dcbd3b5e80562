/** The graders: what passes, what does not, and what is nobody's answer; with real programs and a real database. */
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { graders } from '../../catalog.ts';
import type { Json } from '../../protocol/json.ts';
import type { GraderFile } from '../form.ts';
import type { GradeInput, Grader } from './grader.ts';
import { lastNumber } from './numeric.ts';
import { sameRows, statementOf } from './sql.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'writ-graders-'));
  await mkdir(join(folder, 'data'));
  const { DatabaseSync } = createRequire(import.meta.url)('@photostructure/sqlite');
  const database = new DatabaseSync(join(folder, 'data/shop.sqlite'));
  database.exec("CREATE TABLE t (a INTEGER, b TEXT); INSERT INTO t VALUES (1, 'x'), (2, 'y'), (2, NULL)");
  database.close();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function open(options: GraderFile): Promise<Grader> {
  const part = graders.find(({ name }) => name === options.kind);
  if (part === undefined) throw new Error('the catalog names every grader');
  return (await part.load())(options, { folder, path: process.env.PATH ?? '' });
}

function input(answer: string, expect: Json, more: Partial<GradeInput> = {}): GradeInput {
  const item = { id: 'i', task: 'T?', expect, groups: {}, workspace: join(folder, 'data') };
  return { item, answer, calls: [], workspace: join(folder, 'data'), ...more };
}

const score = async (options: GraderFile, answer: string, expect: Json) =>
  (await (await open(options)).grade(input(answer, expect))).score;

test.each<[GraderFile, string, Json, number]>([
  [{ kind: 'exact' }, '  Paris\n', 'Paris', 1],
  [{ kind: 'exact' }, 'paris', 'Paris', 0],
  [{ kind: 'exact', ignoreCase: true }, 'PARIS', 'Paris', 1],
  [{ kind: 'exact', line: 'last' }, 'I thought.\n\nParis\n', 'Paris', 1],
  [{ kind: 'exact' }, 'caf\u0065\u0301', 'caf\u00e9', 1],
  [{ kind: 'numeric' }, 'It is 0.3.', 0.1 + 0.2, 1],
  [{ kind: 'numeric' }, 'Of 3 rows the sum is 1,234.50', 1234.5, 1],
  [{ kind: 'numeric', tolerance: 0.5 }, 'about 10.6', 10, 0],
  [{ kind: 'numeric', relative: 0.1 }, 'about 10.6', 10, 1],
  [{ kind: 'numeric' }, 'nothing of gpt-4', 4, 0],
  [{ kind: 'pattern' }, 'a\nthe end', '^the end$', 1],
  [{ kind: 'pattern' }, 'THE END', 'the end', 0],
  [{ kind: 'pattern', ignoreCase: true }, 'THE END', 'the end', 1],
  [{ kind: 'pattern' }, `${'a'.repeat(50_000)}!`, '^(a+)+$', 0],
  [{ kind: 'json-schema' }, '```json\n{"a": 1}\n```', { type: 'object', required: ['a'] }, 1],
  [{ kind: 'json-schema' }, '{"b": 1}', { type: 'object', required: ['a'] }, 0],
  [{ kind: 'json-schema' }, 'a: 1', { type: 'object' }, 0],
])('%j of %j', async (options, answer, wanted, passed) => {
  expect(await score(options, answer, wanted)).toBe(passed);
});

test.each<[GraderFile, Json]>([
  [{ kind: 'exact' }, 3],
  [{ kind: 'exact' }, null],
  [{ kind: 'numeric' }, '3'],
  [{ kind: 'pattern' }, '(?<=a)b'],
  [{ kind: 'json-schema' }, { tpye: 'object' }],
  [{ kind: 'sql', database: 'shop.sqlite' }, null],
])('an item that %j cannot be held against: %j', async (options, wanted) => {
  expect((await open(options)).wants(wanted)).toMatch(/^should expect /);
});

test('the last number of a text', () => {
  expect(['-5', '\u22125', '1e3', 'x-1', '1,2', '3.', 'v2 of a3b'].map(lastNumber)).toEqual([
    -5,
    -5,
    1000,
    undefined,
    undefined,
    3,
    undefined,
  ]);
});

describe('sql', () => {
  const options: GraderFile = { kind: 'sql', database: 'shop.sqlite', timeoutMs: 1500 };
  const wanted = 'SELECT a, b FROM t';

  test.each<[string, number]>([
    ['```sql\nSELECT a, b FROM t ORDER BY b DESC\n```', 1],
    ['SELECT a, b FROM t LIMIT 2', 0],
    ['SELECT b, a FROM t', 0],
    ['SELECT a, b FROM t; DROP TABLE t', 0],
    ['DELETE FROM t', 0],
    ["ATTACH DATABASE 'other.sqlite' AS o", 0],
    ['SELECT nonsense', 0],
    ['WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n', 0],
  ])('%s', async (answer, passed) => {
    expect(await score(options, answer, wanted)).toBe(passed);
  });

  test('an expected statement that does not run is a fault of the experiment, not of the answer', async () => {
    const { score: given, reason } = await (await open(options)).grade(input(wanted, 'SELECT c FROM t'));
    expect([given, reason]).toEqual([null, expect.stringContaining('the expected statement')]);
  });

  test('the order counts where it was asked for, and nearness where a tolerance was', async () => {
    const ordered: GraderFile = { ...options, ordered: true };
    expect(await score(ordered, 'SELECT a FROM t ORDER BY a DESC', 'SELECT a FROM t ORDER BY a')).toBe(0);
    expect(sameRows([[1.04, 'tx']], [[1, 'tx']], false, 0.1)).toBe(true);
    expect(sameRows([[1.04]], [['1.04']], false, 0.1)).toBe(false);
    expect(statementOf('First\n```sql\nSELECT 1\n```\nthen\n```\nSELECT 2\n```')).toBe('SELECT 2');
  });
});

describe('command', () => {
  const script = async (name: string, text: string) => {
    await writeFile(join(folder, name), `#!/usr/bin/env node\n${text}`);
    await chmod(join(folder, name), 0o755);
  };
  const read = "const {item, answer, calls, workspace} = JSON.parse(require('fs').readFileSync(0, 'utf8'));";

  test('sees item, answer, calls and workspace, and nothing that tells the arm', async () => {
    await script(
      'see.cjs',
      `${read} require('fs').writeFileSync('${folder}/seen.json', JSON.stringify({item, answer, calls, workspace, env: Object.keys(process.env).sort(), cwd: process.cwd()}));`,
    );
    const grader = await open({ kind: 'command', command: ['./see.cjs'] });
    const calls = [{ tool: 'look', arguments: '{}', status: 'ok' as const }];
    expect(await grader.grade(input('A.', 7, { calls }))).toMatchObject({ score: 1 });
    const seen = JSON.parse(await readFile(join(folder, 'seen.json'), 'utf8'));
    expect(seen).toMatchObject({
      item: { id: 'i', task: 'T?', expect: 7, groups: {} },
      answer: 'A.',
      calls,
      workspace: join(folder, 'data'),
      env: ['HOME', 'LANG', 'PATH'],
    });
    expect(seen.cwd).not.toBe(seen.workspace);
  });

  test.each<[string, number | null]>([
    ['process.exit(0)', 1],
    ['process.exit(1)', 0],
    ['console.log("{\\"score\\": 0.25}"); process.exit(1)', 0.25],
    ['console.log("{\\"score\\": 7}")', 1],
    ['process.exit(2)', null],
    ['process.kill(process.pid, "SIGTERM")', null],
    ['setInterval(() => {}, 1000)', null],
  ])('%s', async (text, wanted) => {
    await script('end.cjs', text);
    const grader = await open({ kind: 'command', command: ['./end.cjs'], timeoutMs: 700 });
    expect((await grader.grade(input('A.', null))).score).toBe(wanted);
  });

  test('a child that it leaves behind ends with it', async () => {
    await script(
      'leave.cjs',
      `const c = require('child_process').spawn('sleep', ['60'], {stdio: 'ignore'}); c.unref(); console.log(c.pid); process.exit(0)`,
    );
    const grader = await open({ kind: 'command', command: ['./leave.cjs'] });
    const { reason } = await grader.grade(input('A.', null));
    await new Promise((resolve) => setTimeout(resolve, 50));
    const state = await readFile(`/proc/${reason}/stat`, 'latin1').catch(() => 'gone Z');
    expect(state).toMatch(/gone|\) [ZX] /);
  });

  test('a file of it that changes after the registration is refused, and its digest is another', async () => {
    await script('check.cjs', 'process.exit(0)');
    const options: GraderFile = { kind: 'command', command: ['node', 'check.cjs'] };
    const grader = await open(options);
    expect(await grader.grade(input('A.', null))).toMatchObject({ score: 1 });
    await script('check.cjs', 'process.exit(1)');
    await expect(grader.grade(input('A.', null))).rejects.toMatchObject({ code: 'prove.grader-changed' });
    expect((await open(options)).digest).not.toBe(grader.digest);
  });

  test('needs a program that is there, and the workspace as the agent left it', async () => {
    await expect(open({ kind: 'command', command: ['no-such-program-here'] })).rejects.toMatchObject({
      code: 'prove.bad-fixture',
    });
    const grader = await open({ kind: 'command', command: ['true'] });
    expect(await grader.grade(input('A.', null, { workspace: null }))).toMatchObject({ score: null });
  });
});

test('other options are another grader', async () => {
  const digests = await Promise.all(
    [
      { kind: 'exact' } as const,
      { kind: 'exact', ignoreCase: true } as const,
      { kind: 'numeric', tolerance: 1 } as const,
      { kind: 'numeric', tolerance: 2 } as const,
    ].map(async (options) => (await open(options)).digest),
  );
  expect(new Set(digests).size).toBe(4);
});
