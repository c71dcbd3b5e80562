/** `sql_query`: one reading SQL statement over one SQLite file of the workspace, in a process of its own. */
import { closeSync, openSync, readSync, realpathSync, statSync } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { ledgerMark } from '../../ledger/mark.ts';
import type { ExactJson } from '../../protocol/json.ts';
import { insideOf, pathFault, resolveBeneath } from './confine.ts';
import { type DatabaseFile, identityOf } from './database-file.ts';
import { defineTool, failed, type ToolEnding } from './define-tool.ts';
import { ToolError } from './errors.ts';
import { readOptions } from './options.ts';
import { closed, isClosed, workspaceRoot } from './project-read.ts';
import { childProgram, type QueryEnd, queryProcess } from './query-process.ts';
import { utf8Prefix } from './result-text.ts';
import { short } from './short.ts';
import type { SqlRequest } from './sql-query-child.ts';
import type { Tool } from './tool.ts';

export interface SqlQueryOptions {
  readonly workspace: string;
  /** An existing SQLite file beneath the workspace, as a relative path. */
  readonly database: string;
  /** Rows of one answer; 500 unless set. */
  readonly rowsMax?: number;
  /** Milliseconds of one call, waiting for an earlier one included; 10,000 unless set. */
  readonly timeoutMs?: number;
}

interface Arguments {
  readonly query: string;
  readonly params?: SqlRequest['params'];
}

const outputBytesMax = 64 * 1024;
const noteBytesMax = 1024;
// Room for the note, and for the names of the other fields.
const rowsBytesMax = outputBytesMax - noteBytesMax - 1024;
const fileMagic = 'SQLite format 3\0';

/**
 * Makes the tool. The database must exist; the process starts at the first call and is kept for the next. `close` kills
 * it. `pid()` is the process's id while there is one.
 */
export function sqlQuery(options: SqlQueryOptions): Tool & { pid(): number | undefined } {
  const { workspace, database, rowsMax, timeoutMs } = readOptions('sql_query', options, {
    workspace: 'string',
    database: 'string',
    rowsMax: 'number?',
    timeoutMs: 'number?',
  });
  const root = workspaceRoot('sql_query', workspace);
  checkDatabase(root, database);
  const queries = queryProcess(childProgram());
  const tool = defineTool<Arguments>({
    name: 'sql_query',
    description:
      'Runs one SQL statement that only reads (SQLite dialect) and returns columns, rows, row_count and truncated. ' +
      'List the tables first: SELECT name, sql FROM sqlite_schema. ' +
      'Writes, PRAGMA, ATTACH and several statements at once are refused. ' +
      'Prefer aggregates and LIMIT to long lists. Values for ? go into params, in order.',
    parameters: {
      type: 'object',
      properties: {
        query: { type: 'string', minLength: 1, maxLength: 20_000, description: 'One SELECT statement.' },
        params: {
          type: 'array',
          maxItems: 100,
          items: { type: ['string', 'number', 'boolean', 'null'] },
          description: 'Values for the ? places.',
        },
      },
      required: ['query'],
      additionalProperties: false,
    },
    capability: 'sql',
    access: 'read',
    exactIntegers: true,
    limits: { timeoutMs: timeoutMs ?? 10_000, outputBytesMax },
    async execute({ query, params }, context) {
      const read = readStatement(query);
      if (!read.ok) return failed('tool.sql-refused', read.fault);
      const found = await databaseNow(root, database);
      if (!found.ok) return found.end;
      const request = {
        query: read.statement,
        params: params ?? [],
        rowsMax: rowsMax ?? 500,
        bytesMax: rowsBytesMax,
      };
      return report(await queries.ask(request, found.file, context.signal));
    },
    close: () => queries.close(),
  });
  return { ...tool, pid: () => queries.pid() };
}

function report(end: QueryEnd): ExactJson | ToolEnding {
  if (end.end === 'stopped')
    return failed(
      'tool.stopped',
      'The query was stopped before it answered: it ran out of time or was cancelled. Filter earlier, or limit a recursion.',
    );
  if (end.end === 'died')
    return failed(
      'tool.child-ended',
      `The query process ended before it answered (${end.how}); it probably ran out of memory. Ask for less.`,
    );
  const { reply } = end;
  if (!reply.ok && reply.refused)
    return failed('tool.sql-refused', `This tool only reads; not allowed: ${reply.message}.`);
  if (!reply.ok) return failed('tool.sql-error', reply.message);
  const { columns, rows, truncated, cut } = reply;
  const notes = [
    ...(truncated
      ? [
          `Only the first ${rows.length} rows fit. Aggregate, select fewer columns, or go on with LIMIT and OFFSET.`,
        ]
      : []),
    ...cut.map(
      (column) =>
        `A text in ${short(column)} holds a NUL character and is shown only up to it; hex() of the column shows all.`,
    ),
  ];
  const note = utf8Prefix(notes.join(' '), noteBytesMax);
  return { columns, rows, row_count: rows.length, truncated, ...(note === '' ? {} : { note }) };
}

type DatabaseNow =
  | { readonly ok: true; readonly file: DatabaseFile }
  | { readonly ok: false; readonly end: ToolEnding };

// Asked at each call: what lies at the path may be another file by now, or no file at all.
async function databaseNow(root: string, database: string): Promise<DatabaseNow> {
  const found = await resolveBeneath(root, database);
  if (!found.ok) return { ok: false, end: failed(found.code, found.message) };
  if (isClosed(found.inside, false)) return { ok: false, end: closed(database) };
  const stats = await lstat(found.real).catch(() => null);
  if (stats?.isFile() !== true)
    return { ok: false, end: failed('tool.not-readable', `${database} is no file any more.`) };
  return { ok: true, file: { path: found.real, identity: identityOf(stats) } };
}

// A comment or a string whole, then whatever may end or fill a statement.
const lexemes =
  /'(?:[^']|'')*'?|"(?:[^"]|"")*"?|`(?:[^`]|``)*`?|\[[^\]]*\]?|(?<blank>\s+|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|(?<end>;)|[^\s'"`[;/-]+|[/-]/g;

export type ReadStatement =
  /** Without what may follow a statement: blanks, comments, semicolons. */
  { readonly ok: true; readonly statement: string } | { readonly ok: false; readonly fault: string };

/**
 * The one statement of a text, or why it is not one. SQLite would run the first statement and pass over the rest in
 * silence: the model must learn that the rest did not happen. Safety does not rest on this, but on the authorizer.
 */
export function readStatement(query: string): ReadStatement {
  const refuse = (fault: string): ReadStatement => ({ ok: false, fault });
  if (query.includes('\0')) return refuse('The query holds a NUL character. Send SQL text only.');
  let end = 0;
  let ended = false;
  for (const { 0: lexeme, index, groups } of query.matchAll(lexemes)) {
    if (groups?.blank !== undefined) continue;
    if (groups?.end !== undefined) ended = end > 0;
    else if (ended) return refuse('The query holds more than one statement. Send them one by one.');
    else end = index + lexeme.length;
  }
  if (end === 0) return refuse('The query holds no statement, only blanks or comments. Send one SELECT.');
  return { ok: true, statement: query.slice(0, end) };
}

function checkDatabase(root: string, database: string): void {
  const fault = databaseFault(root, database);
  if (fault !== null)
    throw new ToolError(
      'tool.bad-option',
      `sql_query: expected an existing SQLite file of the workspace as database, found ${short(database)}, ${fault}.`,
      { next: 'Give its path relative to the workspace.' },
    );
}

function databaseFault(root: string, database: string): string | null {
  const fault = pathFault(database);
  if (fault !== null) return `which is refused: ${fault}`;
  try {
    const real = realpathSync(resolve(root, database));
    const inside = insideOf(root, real);
    if (inside === null) return 'which leads out of the workspace';
    if (isClosed(inside, false)) return 'which is kept closed';
    // Before opening: to open a pipe would wait for its other end.
    return statSync(real).isFile() ? headerFault(real) : 'which is no SQLite file';
  } catch {
    return 'which does not exist or cannot be read';
  }
}

function headerFault(path: string): string | null {
  const header = Buffer.alloc(100);
  const file = openSync(path, 'r');
  try {
    readSync(file, header, 0, header.length, 0);
  } finally {
    closeSync(file);
  }
  if (!header.toString('latin1').startsWith(fileMagic)) return 'which is no SQLite file';
  return header.readUInt32BE(68) === ledgerMark ? 'which is a record of runs and kept closed' : null;
}
