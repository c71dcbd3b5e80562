/** `sql_query` over real SQLite files and a real process: what it answers, what it refuses, and that nothing outlives it. */
import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { DatabaseSync } from '@photostructure/sqlite';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../clock.ts';
import { refusedReader } from '../context/reader.ts';
import { readArguments } from './arguments.ts';
import { identityOf } from './database-file.ts';
import { childProgram, queryProcess } from './query-process.ts';
import { resultText } from './result-text.ts';
import { readStatement, sqlQuery } from './sql-query.ts';
import type { ToolOutput } from './tool.ts';

const endless = 'WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n';
let outer: string;
let workspace: string;
let open: ReturnType<typeof sqlQuery>[] = [];

beforeAll(() => {
  outer = realpathSync(mkdtempSync(join(tmpdir(), 'writ-sql-')));
  workspace = mkdtempSync(join(outer, 'work-'));
  const db = new DatabaseSync(join(workspace, 'a.sqlite'));
  db.exec(`
    CREATE TABLE t (id INTEGER, name TEXT, size REAL, raw BLOB);
    INSERT INTO t VALUES (1, 'one', 1.5, x'00ff'), (9223372036854775807, NULL, 9e999, zeroblob(1000)), (-5, 'é😀', 2, NULL);
    CREATE VIRTUAL TABLE words USING fts5(text);
    INSERT INTO words VALUES ('hello world'), ('good bye');
  `);
  db.close();
  writeFileSync(join(outer, 'outside.sqlite'), readFileSync(join(workspace, 'a.sqlite')));
  symlinkSync(join(outer, 'outside.sqlite'), join(workspace, 'link.sqlite'));
  writeFileSync(join(workspace, 'text.sqlite'), 'no database at all');
});

afterEach(async () => {
  await Promise.all(open.map((tool) => tool.close()));
  open = [];
});
afterAll(() => rmSync(outer, { recursive: true, force: true }));

function make(options: object = {}): ReturnType<typeof sqlQuery> {
  const tool = sqlQuery({ workspace, database: 'a.sqlite', ...options });
  open.push(tool);
  return tool;
}

async function ask(
  tool: ReturnType<typeof sqlQuery>,
  query: string,
  params?: string,
  signal: AbortSignal = AbortSignal.timeout(20_000),
): Promise<ToolOutput> {
  const text = `{"query":${JSON.stringify(query)}${params === undefined ? '' : `,"params":${params}`}}`;
  const checked = readArguments(text, tool);
  if (!checked.ok) throw new Error(checked.message);
  return tool.execute(checked.value, {
    signal,
    clock: systemClock,
    idempotencyKey: 'k',
    context: refusedReader,
  });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function rows(columns: string[], ...cells: unknown[][]) {
  return { status: 'succeeded', value: { columns, rows: cells, row_count: cells.length, truncated: false } };
}

describe('an answer', () => {
  test('has numbers exact, nulls, and blobs by size and beginning', async () => {
    expect(await ask(make(), 'SELECT * FROM t ORDER BY id')).toEqual(
      rows(
        ['id', 'name', 'size', 'raw'],
        [-5, 'é😀', 2, null],
        [1, 'one', 1.5, { bytes: 2, hex_prefix: '00ff' }],
        [9223372036854775807n, null, 'Infinity', { bytes: 1000, hex_prefix: '00'.repeat(32) }],
      ),
    );
  });

  test('tells apart columns of one name', async () => {
    expect(await ask(make(), 'SELECT 1 AS a, 2 AS a, 3 AS a_2, 4 AS a')).toEqual(
      rows(['a', 'a_3', 'a_2', 'a_4'], [1, 2, 3, 4]),
    );
  });

  test('binds parameters as what they are', async () => {
    const query = 'SELECT typeof(?), typeof(?), ?/2, ?, ?, ?, ?';
    expect(await ask(make(), query, '[7, 1099511627776, 7, 9223372036854775807, 0.5, true, null]')).toEqual(
      rows(
        ['typeof(?)', 'typeof(?)_2', '?/2', '?', '?_2', '?_3', '?_4'],
        ['integer', 'integer', 3, 9223372036854775807n, 0.5, 1, null],
      ),
    );
  });

  test('lists the tables as the description says', async () => {
    const listed = await ask(
      make(),
      "SELECT name FROM sqlite_schema WHERE name IN ('t', 'words') -- mine\n;",
    );
    expect(listed).toEqual(rows(['name'], ['t'], ['words']));
  });

  test('can come from full-text search', async () => {
    expect(await ask(make(), "SELECT text FROM words WHERE words MATCH 'hello'")).toEqual(
      rows(['text'], ['hello world']),
    );
  });

  test('may be empty', async () => {
    expect(await ask(make(), 'SELECT id FROM t WHERE 0')).toEqual(rows(['id']));
  });

  const count = (n: number) =>
    `WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT ${n}) SELECT x FROM n`;

  test('stops at the row limit and says so', async () => {
    const tool = make({ rowsMax: 3 });
    expect(await ask(tool, count(3))).toEqual(rows(['x'], [1], [2], [3]));
    expect(await ask(tool, endless.replace('count(*)', 'x'))).toEqual({
      status: 'succeeded',
      value: {
        columns: ['x'],
        rows: [[1], [2], [3]],
        row_count: 3,
        truncated: true,
        note: 'Only the first 3 rows fit. Aggregate, select fewer columns, or go on with LIMIT and OFFSET.',
      },
    });
  });

  test('stops at the byte limit and still fits the output limit whole', async () => {
    const tool = make({ rowsMax: 100_000 });
    const output = await ask(tool, `SELECT x, hex(zeroblob(500)) || char(10) FROM (${count(1000)})`);
    expect(output).toMatchObject({ value: { truncated: true } });
    if (output.status !== 'succeeded') return;
    const { text, truncated } = resultText(output.value, tool.limits.outputBytesMax);
    expect(truncated).toBe(false);
    expect(Buffer.byteLength(text)).toBeGreaterThan(60_000);
  });

  test('whose first row does not fit has no rows', async () => {
    expect(await ask(make(), 'SELECT hex(zeroblob(100000))')).toMatchObject({
      status: 'succeeded',
      value: { rows: [], row_count: 0, truncated: true },
    });
  });
});

describe('what is refused', () => {
  test.each([
    ["ATTACH DATABASE '/tmp/x' AS x", 'ATTACH'],
    ['DETACH DATABASE main', 'DETACH'],
    ['PRAGMA query_only = 0', 'PRAGMA query_only'],
    ['PRAGMA data_version = 4', 'PRAGMA data_version'],
    ["SELECT * FROM pragma_table_info('t')", 'PRAGMA table_info'],
    ["SELECT load_extension('/tmp/x.so')", 'FUNCTION load_extension'],
    ['INSERT INTO t (id) VALUES (5)', 'INSERT t'],
    ["UPDATE t SET name = 'x'", 'UPDATE t'],
    ['WITH x AS (SELECT 1) DELETE FROM t', 'DELETE t'],
    ['REPLACE INTO t (id) VALUES (1)', 'INSERT t'],
    ['CREATE TABLE x (a)', 'INSERT sqlite_master'],
    ['CREATE TEMP TABLE x (a)', 'INSERT sqlite_temp_master'],
    ['DROP TABLE t', 'DELETE sqlite_master'],
    ['ALTER TABLE t ADD COLUMN x', 'ALTER TABLE'],
    ['BEGIN IMMEDIATE', 'TRANSACTION BEGIN'],
    ['SAVEPOINT x', 'SAVEPOINT BEGIN'],
    ['VACUUM', 'ATTACH'],
    ["VACUUM INTO '/tmp/writ-vacuum.sqlite'", 'ATTACH'],
    ['ANALYZE', 'sqlite_master'],
    ['EXPLAIN DELETE FROM t', 'DELETE t'],
    ['CREATE VIRTUAL TABLE x USING fts5(a)', 'INSERT sqlite_master'],
  ])('%s', async (query, words) => {
    const output = await ask(make(), query);
    expect(output).toMatchObject({ status: 'failed', code: 'tool.sql-refused' });
    expect(output.status === 'failed' && output.message).toContain(words);
    expect(existsSync('/tmp/writ-vacuum.sqlite')).toBe(false);
  });

  test.each([
    ["SELECT readfile('/etc/passwd')", 'no such function: readfile'],
    ["SELECT writefile('/tmp/x', 'x')", 'no such function: writefile'],
    ['SELEC 1', 'near "SELEC": syntax error'],
    ['SELECT * FROM nope', 'no such table: nope'],
    ['SELECT "nope" FROM t', 'no such column: "nope"'],
    ['SELECT randomblob(100000000)', 'string or blob too big'],
    ['SELECT abs(-9223372036854775808)', 'integer overflow'],
    ['SELECT * FROM t WHERE id = ?', 'column index out of range'],
  ])('%s fails with the words of SQLite', async (query, words) => {
    expect(await ask(make(), query, query.includes('?') ? '[1, 2]' : undefined)).toEqual({
      status: 'failed',
      code: 'tool.sql-error',
      message: expect.stringContaining(words),
    });
  });

  test.each([
    ['SELECT 1; SELECT 2', 'more than one statement'],
    ['SELECT 1; DELETE FROM t', 'more than one statement'],
    ['SELECT 1 /* a */; /* b */ DROP TABLE t /* c */', 'more than one statement'],
    ["SELECT ';' ; x", 'more than one statement'],
    ['', 'no statement'],
    [' ; -- nothing', 'no statement'],
    ['SELECT 1 \0; SELECT 2', 'NUL'],
  ])('%j is not one statement', (query, words) => {
    expect(readStatement(query)).toEqual({ ok: false, fault: expect.stringContaining(words) });
  });

  test.each([
    ['SELECT \';\', ";", [;], `;` -- ; \n /* ; */ ;;  -- end', 'SELECT \';\', ";", [;], `;`'],
    ["  SELECT 'it''s; fine' - 1 / 2", "  SELECT 'it''s; fine' - 1 / 2"],
    ['SELECT 1 /* open ; end', 'SELECT 1'],
    ["SELECT '; open", "SELECT '; open"],
  ])('%j is one statement', (query, statement) => {
    expect(readStatement(query)).toEqual({ ok: true, statement });
  });

  test('a second statement never reaches the process', async () => {
    const tool = make();
    expect(await ask(tool, 'SELECT 1; SELECT 2')).toMatchObject({ code: 'tool.sql-refused' });
    expect(tool.pid()).toBeUndefined();
  });

  test.each([
    [{ database: 'none.sqlite' }, 'does not exist'],
    [{ database: 'link.sqlite' }, 'leads out of the workspace'],
    [{ database: '../outside.sqlite' }, "'..' segment"],
    [{ database: 'text.sqlite' }, 'no SQLite file'],
    [{ database: '.' }, 'no SQLite file'],
    [{ database: 5 }, 'a string as database'],
    [{ rowsMax: 0 }, 'a whole number above 0'],
    [{ readonly: false }, "no option 'readonly'"],
    [{ workspace: '/nowhere/at/all' }, 'an existing folder'],
  ])('the options %j', (options, words) => {
    expect(() => make(options)).toThrow(
      expect.objectContaining({ code: 'tool.bad-option', message: expect.stringContaining(words) }),
    );
  });

  test('a database that became a link that leads out', async () => {
    const db = new DatabaseSync(join(workspace, 'moves.sqlite'));
    db.exec('CREATE TABLE x (a)');
    db.close();
    const tool = make({ database: 'moves.sqlite' });
    rmSync(join(workspace, 'moves.sqlite'));
    symlinkSync(join(outer, 'outside.sqlite'), join(workspace, 'moves.sqlite'));
    expect(await ask(tool, 'SELECT * FROM t')).toMatchObject({ code: 'tool.path-refused' });
  });
});

test('the tables of the example are as its data dictionary says', async () => {
  const tool = make({ workspace: join(childProgram(), '../../../data'), database: 'vega.sqlite' });
  const tables = ['cars', 'movies', 'seattle_weather', 'penguins', 'airports'];
  const counts = tables.map((table) => `(SELECT count(*) FROM ${table}) AS ${table}`).join(', ');
  expect(await ask(tool, `SELECT ${counts}`)).toEqual(rows(tables, [406, 3201, 1461, 344, 3376]));
  expect(
    await ask(
      tool,
      `SELECT (SELECT sum(running_time_minutes IS NULL) FROM movies) AS a,
              (SELECT max(release_date) FROM movies) AS b,
              (SELECT count(*) FROM cars WHERE model_year = 1981) AS c,
              (SELECT round(avg(body_mass_g)) FROM penguins WHERE sex = 'female') AS d`,
    ),
  ).toEqual(rows(['a', 'b', 'c', 'd'], [1992, '2046-12-31', 0, 3862]));
});

test('a package that was not built says what to run', () => {
  const elsewhere = pathToFileURL(join(workspace, 'x.js')).href;
  expect(() => childProgram(elsewhere)).toThrow(
    expect.objectContaining({ code: 'tool.no-child', next: 'Run npm run build.' }),
  );
});

test('the process itself refuses a path that is a link by the time it is opened', async () => {
  const queries = queryProcess(childProgram());
  const request = { query: 'SELECT 1', params: [], rowsMax: 1, bytesMax: 1000 };
  const signal = AbortSignal.timeout(10_000);
  const message = 'the database moved while it was being opened';
  const file = (name: string) => ({
    path: join(realpathSync(workspace), name),
    identity: identityOf(statSync(join(workspace, name))),
  });
  expect(await queries.ask(request, file('link.sqlite'), signal)).toEqual({
    end: 'replied',
    reply: { id: 1, ok: false, refused: false, message },
  });
  // It opens anew for each request until it succeeds, and another database gets another process.
  expect(await queries.ask(request, file('a.sqlite'), signal)).toMatchObject({
    reply: { id: 2, ok: true, rows: [[1]] },
  });
  await queries.close();
});

describe('the process', () => {
  test('is started once and kept', async () => {
    const tool = make();
    expect(tool.pid()).toBeUndefined();
    await ask(tool, 'SELECT 1');
    const pid = tool.pid();
    const started = performance.now();
    await ask(tool, 'SELECT 2');
    expect(tool.pid()).toBe(pid);
    expect(performance.now() - started).toBeLessThan(500);
  });

  test('answers calls that are made at once, each its own', async () => {
    const tool = make();
    const answers = await Promise.all([1, 2, 3].map((n) => ask(tool, `SELECT ${n} AS n`)));
    expect(answers).toEqual([1, 2, 3].map((n) => rows(['n'], [n])));
  });

  test('gets nothing of our environment', async () => {
    process.env.WRIT_CANARY = 'canary-of-the-environment';
    const tool = make();
    await ask(tool, 'SELECT 1');
    delete process.env.WRIT_CANARY;
    if (process.platform !== 'linux') return;
    const names = readFileSync(`/proc/${tool.pid()}/environ`, 'utf8').split('\0').filter(Boolean);
    expect(names).toEqual(['LANG=C.UTF-8']);
  });

  test('is killed with a runaway query, and the next call starts another', async () => {
    const tool = make();
    await ask(tool, 'SELECT 1');
    const pid = tool.pid() ?? 0;
    const started = performance.now();
    expect(await ask(tool, endless, undefined, AbortSignal.timeout(300))).toEqual({
      status: 'failed',
      code: 'tool.stopped',
      message:
        'The query was stopped before it answered: it ran out of time or was cancelled. Filter earlier, or limit a recursion.',
    });
    expect(performance.now() - started).toBeLessThan(5000);
    expect(isAlive(pid)).toBe(false);
    expect(tool.pid()).toBeUndefined();
    expect(await ask(tool, 'SELECT 2 AS n')).toEqual(rows(['n'], [2]));
    expect(tool.pid()).not.toBe(pid);
  });

  test('is waited for no longer than a call may wait', async () => {
    const tool = make();
    await ask(tool, 'SELECT 1');
    const pid = tool.pid();
    const working = ask(tool, endless, undefined, AbortSignal.timeout(1500));
    const started = performance.now();
    expect(await ask(tool, 'SELECT 2', undefined, AbortSignal.timeout(100))).toMatchObject({
      code: 'tool.stopped',
    });
    expect(performance.now() - started).toBeLessThan(1000);
    expect(tool.pid()).toBe(pid);
    expect(await working).toMatchObject({ code: 'tool.stopped' });
    expect(await ask(tool, 'SELECT 3 AS n')).toEqual(rows(['n'], [3]));
  });

  test('is not even started for a call that is already cancelled', async () => {
    const tool = make();
    expect(await ask(tool, 'SELECT 1', undefined, AbortSignal.abort())).toMatchObject({
      code: 'tool.stopped',
    });
    expect(tool.pid()).toBeUndefined();
  });

  test('that was killed from outside is replaced', async () => {
    const tool = make();
    await ask(tool, 'SELECT 1');
    const working = ask(tool, endless);
    setTimeout(() => process.kill(tool.pid() ?? 0, 'SIGKILL'), 200);
    expect(await working).toMatchObject({ status: 'failed', code: 'tool.child-ended' });
    expect(await ask(tool, 'SELECT 2 AS n')).toEqual(rows(['n'], [2]));
    process.kill(tool.pid() ?? 0, 'SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(await ask(tool, 'SELECT 3 AS n')).toEqual(rows(['n'], [3]));
  });

  test('has bounded memory', async () => {
    const tool = make();
    const numbers = 'WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 5000)';
    const sort = `${numbers} SELECT hex(b) FROM (SELECT randomblob(1000000) AS b FROM n) ORDER BY b`;
    expect(await ask(tool, sort)).toEqual({
      status: 'failed',
      code: 'tool.child-ended',
      message:
        'The query process ended before it answered (signal SIGKILL); it probably ran out of memory. Ask for less.',
    });
    expect(await ask(tool, 'SELECT 1 AS n')).toEqual(rows(['n'], [1]));
  });

  test('is gone after close, which may come twice and in the midst of a query', async () => {
    const tool = make();
    await ask(tool, 'SELECT 1');
    const pid = tool.pid() ?? 0;
    const working = ask(tool, endless);
    await new Promise((resolve) => setTimeout(resolve, 100));
    await Promise.all([tool.close(), tool.close()]);
    expect(isAlive(pid)).toBe(false);
    expect(await working).toMatchObject({ code: 'tool.stopped' });
    expect(await ask(tool, 'SELECT 1')).toMatchObject({ code: 'tool.stopped' });
  });

  // The program that owns the tool is the built one: what is tested is the package, not the sources under a test runner.
  function owner(script: string) {
    const built = pathToFileURL(join(childProgram(), '../sql-query.js')).href;
    const code = `
      const { sqlQuery } = await import(${JSON.stringify(built)});
      const tool = sqlQuery(${JSON.stringify({ workspace, database: 'a.sqlite' })});
      const ask = (query) => tool.execute({ query }, { signal: new AbortController().signal });
      await ask('SELECT 1');
      console.log(tool.pid());
      ${script}`;
    return spawn(process.execPath, ['--input-type=module', '-e', code], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  }

  async function gone(pid: number): Promise<boolean> {
    for (let i = 0; i < 50 && isAlive(pid); i += 1) await new Promise((resolve) => setTimeout(resolve, 100));
    return !isAlive(pid);
  }

  test('does not outlive an owner that is killed, not even in the midst of an endless query', async () => {
    const parent = owner(`void ask(${JSON.stringify(endless)}); setInterval(() => {}, 1000);`);
    const pid = Number(String(await new Promise((resolve) => parent.stdout.once('data', resolve))));
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(isAlive(pid)).toBe(true);
    parent.kill('SIGKILL');
    expect(await gone(pid)).toBe(true);
  });

  test('does not keep an owner alive that has nothing left to do', async () => {
    const parent = owner('');
    const pid = Number(String(await new Promise((resolve) => parent.stdout.once('data', resolve))));
    const code = await new Promise((resolve) => parent.once('exit', resolve));
    expect(code).toBe(0);
    expect(await gone(pid)).toBe(true);
  });
});
