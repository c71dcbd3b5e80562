/** Which file `sql_query` answers from, whatever happens to the path; and texts that its binding cannot carry whole. */
import { execFileSync } from 'node:child_process';
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../clock.ts';
import { sqliteStore } from '../../ledger/stores/sqlite.ts';
import { refusedReader } from '../context/reader.ts';
import { sqlQuery } from './sql-query.ts';
import type { ToolOutput } from './tool.ts';

let workspace: string;
let tool: ReturnType<typeof sqlQuery> | undefined;
beforeEach(() => {
  workspace = realpathSync(mkdtempSync(join(tmpdir(), 'writ-sql-files-')));
  database('a.sqlite', 'first');
});
afterEach(async () => {
  await tool?.close();
  tool = undefined;
  rmSync(workspace, { recursive: true, force: true });
});

const at = (name: string) => join(workspace, name);

function database(name: string, text: string): void {
  const db = new DatabaseSync(at(name));
  db.exec(`CREATE TABLE t (name TEXT); INSERT INTO t VALUES ('${text}')`);
  db.close();
}

function make(name = 'a.sqlite') {
  tool = sqlQuery({ workspace, database: name });
  return tool;
}

function ask(query = 'SELECT name FROM t', params: (string | number)[] = []): Promise<ToolOutput> {
  const context = {
    signal: AbortSignal.timeout(20_000),
    clock: systemClock,
    idempotencyKey: 'k',
    context: refusedReader,
  };
  return (tool ?? make()).execute({ query, params }, context);
}

const rows = (...values: unknown[]) => ({
  status: 'succeeded',
  value: { rows: values.map((value) => [value]) },
});

describe('what is kept closed', () => {
  beforeEach(async () => {
    mkdirSync(at('.writ'));
    await sqliteStore({ path: at('.writ/ledger.sqlite') }).close();
  });

  test.each([
    '.writ/ledger.sqlite',
    '.WRIT/ledger.sqlite',
    'server.key',
    'linked.sqlite',
    'hard.sqlite',
    'copy.sqlite',
  ])('%s is refused when the tool is made', (name) => {
    if (name.startsWith('.WRIT')) {
      mkdirSync(at('.WRIT'), { recursive: true });
      database(name, 'x');
    }
    if (name === 'server.key') database(name, 'x');
    if (name === 'linked.sqlite') symlinkSync(at('.writ/ledger.sqlite'), at(name));
    if (name === 'hard.sqlite') linkSync(at('.writ/ledger.sqlite'), at(name));
    if (name === 'copy.sqlite') writeFileSync(at(name), readFileSync(at('.writ/ledger.sqlite')));
    expect(() => make(name)).toThrow(
      expect.objectContaining({ code: 'tool.bad-option', message: expect.stringContaining('kept closed') }),
    );
  });

  test('is refused at each call, by a link and by its mark', async () => {
    make();
    expect(await ask()).toMatchObject(rows('first'));
    rmSync(at('a.sqlite'));
    symlinkSync(at('.writ/ledger.sqlite'), at('a.sqlite'));
    expect(await ask('SELECT body FROM event')).toMatchObject({
      status: 'failed',
      code: 'tool.path-refused',
    });
    rmSync(at('a.sqlite'));
    linkSync(at('.writ/ledger.sqlite'), at('a.sqlite'));
    expect(await ask('SELECT body FROM event')).toMatchObject({
      status: 'failed',
      message: 'the database is a record of runs, which is kept closed',
    });
  });
});

describe('a database that is replaced', () => {
  beforeEach(async () => {
    make();
    expect(await ask()).toMatchObject(rows('first'));
  });

  test('by another one is read anew', async () => {
    database('b.sqlite', 'second');
    renameSync(at('b.sqlite'), at('a.sqlite'));
    expect(await ask()).toMatchObject(rows('second'));
  });

  test.each<[string, () => void]>([
    ['a folder', () => mkdirSync(at('a.sqlite'))],
    ['a pipe', () => execFileSync('mkfifo', [at('a.sqlite')])],
  ])('by %s is not answered from', async (_what, replace) => {
    rmSync(at('a.sqlite'));
    replace();
    expect(await ask()).toEqual({
      status: 'failed',
      code: 'tool.not-readable',
      message: 'a.sqlite is no file any more.',
    });
  });

  test('by nothing is not found', async () => {
    rmSync(at('a.sqlite'));
    expect(await ask()).toMatchObject({ status: 'failed', code: 'tool.not-found' });
  });
});

describe('a text with a NUL character', () => {
  const note = (column: string) =>
    `A text in "${column}" holds a NUL character and is shown only up to it; hex() of the column shows all.`;

  test.each([
    ["SELECT 'a' || char(0) || 'b' AS x, 'plain' AS y", note('x')],
    ["WITH w AS (SELECT 'a' || char(0) || 'b' AS x) SELECT x FROM w; -- end", note('x')],
    ["SELECT 'a' || char(0) AS x, char(0) || 'b' AS x", `${note('x')} ${note('x_2')}`],
    ["VALUES ('a'), ('b' || char(0) || 'c') -- end", note('column1')],
    ['SELECT name || char(0) || ? AS x FROM t WHERE name = ? /* open', note('x'), ['b', 'first']],
  ])('is shown up to it, and marked: %s', async (query, marked, params: string[] = []) => {
    expect(await ask(query, params)).toMatchObject({
      status: 'succeeded',
      value: { truncated: false, note: marked },
    });
  });

  test.each([
    "SELECT 'plain' AS x, x'610062' AS y, 5 AS z, NULL AS n",
    "SELECT 'a' AS x UNION ALL SELECT char(0) WHERE 0",
    'EXPLAIN SELECT name FROM t',
  ])('is not seen where none is: %s', async (query) => {
    const output = await ask(query);
    expect(output.status === 'succeeded' ? output.value : output).not.toHaveProperty('note');
  });

  test('beyond the rows that are shown does not count', async () => {
    tool = sqlQuery({ workspace, database: 'a.sqlite', rowsMax: 1 });
    const output = await ask("SELECT 'a' AS x UNION ALL SELECT 'b' || char(0)");
    expect(output).toMatchObject({
      value: { rows: [['a']], truncated: true, note: expect.not.stringContaining('NUL') },
    });
  });
});
