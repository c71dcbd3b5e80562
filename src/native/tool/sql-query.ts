/** `sql_query`: one reading SQL statement over one SQLite file of the workspace, in a process of its own. */
import { closeSync, openSync, readSync, realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ExactJson } from '../../protocol/json.ts';
import { insideOf, pathFault, resolveBeneath } from './confine.ts';
import { defineTool, failed, type ToolEnding } from './define-tool.ts';
import { ToolError } from './errors.ts';
import { readOptions } from './options.ts';
import { workspaceRoot } from './project-read.ts';
import { childProgram, type QueryEnd, queryProcess } from './query-process.ts';
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
// Room for the column names' brackets, the note and the count.
const rowsBytesMax = outputBytesMax - 1024;
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
      const fault = statementFault(query);
      if (fault !== null) return failed('tool.sql-refused', fault);
      const found = await resolveBeneath(root, database);
      if (!found.ok) return failed(found.code, found.message);
      const request = { query, params: params ?? [], rowsMax: rowsMax ?? 500, bytesMax: rowsBytesMax };
      return report(await queries.ask(request, found.real, context.signal));
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
  const { columns, rows, truncated } = reply;
  const note = `Only the first ${rows.length} rows fit. Aggregate, select fewer columns, or go on with LIMIT and OFFSET.`;
  return { columns, rows, row_count: rows.length, truncated, ...(truncated ? { note } : {}) };
}

// A comment or a string whole, then whatever may end or fill a statement.
const lexemes =
  /'(?:[^']|'')*'?|"(?:[^"]|"")*"?|`(?:[^`]|``)*`?|\[[^\]]*\]?|(?<blank>\s+|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|(?<end>;)|[^\s'"`[;/-]+|[/-]/g;

/**
 * Why a text is not one statement; null if it is. SQLite would run the first statement and pass over the rest in
 * silence: the model must learn that the rest did not happen. Safety does not rest on this, but on the authorizer.
 */
export function statementFault(query: string): string | null {
  if (query.includes('\0')) return 'The query holds a NUL character. Send SQL text only.';
  let words = 0;
  let ended = false;
  for (const { groups } of query.matchAll(lexemes)) {
    if (groups?.blank !== undefined) continue;
    if (groups?.end !== undefined) ended = words > 0;
    else if (ended) return 'The query holds more than one statement. Send them one by one.';
    else words += 1;
  }
  return words === 0 ? 'The query holds no statement, only blanks or comments. Send one SELECT.' : null;
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
    if (insideOf(root, real) === null) return 'which leads out of the workspace';
    // Before opening: to open a pipe would wait for its other end.
    return statSync(real).isFile() && startsAsSqlite(real) ? null : 'which is no SQLite file';
  } catch {
    return 'which does not exist or cannot be read';
  }
}

function startsAsSqlite(path: string): boolean {
  const start = Buffer.alloc(fileMagic.length);
  const file = openSync(path, 'r');
  try {
    readSync(file, start, 0, start.length, 0);
    return start.toString('latin1') === fileMagic;
  } finally {
    closeSync(file);
  }
}
