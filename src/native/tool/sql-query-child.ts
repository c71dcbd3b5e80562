/** The program of the query process: one database, opened to read only, one statement at a time, answers on stdout. */
import { fstatSync, statSync } from 'node:fs';
import { readdir, readlink } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { constants, DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite';
import { messageOf } from '../../errors.ts';
import { ledgerMark } from '../../ledger/mark.ts';
import { type ExactJson, exactJsonText, parseExactJson } from '../../protocol/json.ts';
import { type DatabaseFile, identityOf } from './database-file.ts';

/** One line on stdin. */
export interface SqlRequest {
  readonly id: number;
  readonly query: string;
  readonly params: readonly (null | boolean | number | bigint | string)[];
  readonly rowsMax: number;
  readonly bytesMax: number;
}

/** One line on stdout for each request, in order. */
export type SqlReply =
  | {
      readonly id: number;
      readonly ok: true;
      readonly columns: readonly string[];
      readonly rows: readonly (readonly ExactJson[])[];
      readonly truncated: boolean;
      /** The columns in which a text was cut at a NUL character. */
      readonly cut: readonly string[];
    }
  | { readonly id: number; readonly ok: false; readonly refused: boolean; readonly message: string };

// Twice what an answer may hold, so that a query that builds text fails in SQLite with its own words, not by memory.
const valueBytesMax = 4 * 1024 * 1024;
// Of the whole process, which takes some 70 MiB when idle.
const residentBytesMax = 256 * 1024 * 1024;
const blobBytesShown = 32;

// The main thread only watches and passes on. A statement blocks the thread it runs in, and this process must still
// notice two things: that its parent is gone, for then stdin ends; and that a sort or join grows without end, for this
// build of SQLite keeps no count of its memory, so that its own heap limits do nothing. SIGKILL is the one end that
// does not wait for the statement.
function watch(file: DatabaseFile): void {
  const worker = new Worker(new URL(import.meta.url), {
    workerData: file,
    resourceLimits: { maxOldGenerationSizeMb: 128 },
  });
  let memory: NodeJS.Timeout | undefined;
  worker.on('message', (line: string) => {
    clearInterval(memory);
    process.stdout.write(`${line}\n`);
  });
  worker.on('error', end);
  worker.on('exit', end);
  process.stdout.on('error', end);
  createInterface({ input: process.stdin })
    .on('line', (line) => {
      clearInterval(memory);
      memory = setInterval(() => {
        if (process.memoryUsage.rss() > residentBytesMax) end();
      }, 25);
      worker.postMessage(line);
    })
    .on('close', end);
}

function end(): void {
  process.kill(process.pid, 'SIGKILL');
}

function serve(file: DatabaseFile): void {
  let opened: Opened | undefined;
  const reply = async (request: SqlRequest): Promise<SqlReply> => {
    try {
      opened ??= await openReadOnly(file);
    } catch (thrown) {
      return { id: request.id, ok: false, refused: false, message: messageOf(thrown) };
    }
    return answer(opened, request);
  };
  parentPort?.on('message', (line: string) => {
    // Written by our own parent process, by the type that both sides share.
    reply(parseExactJson(line) as unknown as SqlRequest).then(
      (said) => parentPort?.postMessage(exactJsonText({ ...said })),
      end,
    );
  });
}

interface Opened {
  readonly database: DatabaseSyncInstance;
  /** What the authorizer denied since the list was last emptied. */
  readonly denied: string[];
}

async function openReadOnly({ path, identity }: DatabaseFile): Promise<Opened> {
  const database = new DatabaseSync(path, {
    readOnly: true,
    defensive: true,
    allowExtension: false,
    enableDoubleQuotedStringLiterals: false,
    timeout: 1000,
    limits: { attach: 0, length: valueBytesMax, sqlLength: 256 * 1024, likePatternLength: 1000 },
  });
  const fault = (await liesAt(path, identity))
    ? ledgerFault(database)
    : 'the database moved while it was being opened';
  if (fault !== null) {
    database.close();
    throw new Error(fault);
  }
  // Sorting and materialising stay in memory, which is watched; a temporary file would fill the disk unseen.
  database.exec('PRAGMA temp_store=2; PRAGMA query_only=1; PRAGMA trusted_schema=0');
  const denied: string[] = [];
  database.setAuthorizer((action, first, second) => {
    if (mayDo(action, first, second)) return constants.SQLITE_OK;
    denied.push(deniedWords(action, first, second));
    return constants.SQLITE_DENY;
  });
  return { database, denied };
}

// The parent resolved every link of the path and looked at the file. A folder or file swapped since then would show here:
// what SQLite holds does not lie where the path says, or is another file.
async function liesAt(path: string, identity: string): Promise<boolean> {
  if (process.platform !== 'linux') return identityOf(statSync(path)) === identity;
  for (const fd of await readdir('/proc/self/fd')) {
    const place = await readlink(`/proc/self/fd/${fd}`).catch(() => '');
    if (place === path && identityOf(fstatSync(Number(fd))) === identity) return true;
  }
  return false;
}

// Under another name, or by a hard link, a record of runs would pass the look at the path.
function ledgerFault(database: DatabaseSyncInstance): string | null {
  const id: unknown = Object.values(database.prepare('PRAGMA application_id').get() ?? {})[0];
  return id === ledgerMark ? 'the database is a record of runs, which is kept closed' : null;
}

// A list of what is allowed: what SQLite learns to do later is denied until somebody thought about it.
function mayDo(action: number, first: string | null, second: string | null): boolean {
  switch (action) {
    case constants.SQLITE_SELECT:
    case constants.SQLITE_READ:
    case constants.SQLITE_RECURSIVE:
      return true;
    case constants.SQLITE_FUNCTION:
      return !closedFunctions.has((second ?? '').toLowerCase());
    case constants.SQLITE_PRAGMA:
      // Full-text search asks for this number to see whether its index changed.
      return first === 'data_version' && second === null;
    default:
      return false;
  }
}

const closedFunctions = new Set(['load_extension', 'readfile', 'writefile', 'edit', 'fts3_tokenizer']);

function deniedWords(action: number, first: string | null, second: string | null): string {
  const name = Object.entries(constants).find(
    ([key, value]) => value === action && actionNames.test(key),
  )?.[0];
  const words = (name ?? `action ${action}`).replace(/^SQLITE_/, '').replaceAll('_', ' ');
  const detail = action === constants.SQLITE_FUNCTION ? second : first;
  return detail === null ? words : `${words} ${detail}`;
}

// Result codes share numbers with the actions.
const actionNames =
  /^SQLITE_(CREATE_|DROP_|DELETE$|INSERT$|UPDATE$|PRAGMA$|TRANSACTION$|ATTACH$|DETACH$|ALTER_TABLE$|REINDEX$|ANALYZE$|FUNCTION$|SAVEPOINT$)/;

function answer({ database, denied }: Opened, request: SqlRequest): SqlReply {
  const { id } = request;
  denied.length = 0;
  try {
    const statement = database.prepare(request.query);
    statement.setReturnArrays(true);
    statement.setReadBigInts(true);
    const columns = distinct(statement.columns().map((column) => column.name));
    const rows: ExactJson[][] = [];
    const told = (truncated: boolean): SqlReply => ({
      id,
      ok: true,
      columns,
      rows,
      truncated,
      cut: cutColumns(database, request, rows).map((at) => columns[at] ?? ''),
    });
    let left = request.bytesMax - Buffer.byteLength(JSON.stringify(columns));
    const params = request.params.map(bindable);
    for (const row of statement.iterate(...params)) {
      const cells: ExactJson[] = Array.from(row, jsonCell);
      left -= Buffer.byteLength(exactJsonText(cells)) + 1;
      if (rows.length === request.rowsMax || left < 0) return told(true);
      rows.push(cells);
    }
    return told(false);
  } catch (thrown) {
    if (denied.length === 0) return { id, ok: false, refused: false, message: messageOf(thrown) };
    return { id, ok: false, refused: true, message: [...new Set(denied)].join(', ') };
  }
}

/**
 * The places of columns in which a shown text goes on behind a NUL. The binding reads text only up to there and cannot
 * tell, so SQLite is asked again about the rows that were read.
 */
function cutColumns(
  database: DatabaseSyncInstance,
  { query, params }: SqlRequest,
  rows: readonly (readonly ExactJson[])[],
): number[] {
  const columns = (rows[0] ?? []).map((_, at) => at);
  const texts = columns.filter((at) => rows.some((row) => typeof row[at] === 'string'));
  if (texts.length === 0) return [];
  const names = columns.map((at) => `c${at}`).join();
  const checks = texts.map((at) => `max(typeof(c${at}) = 'text' AND instr(CAST(c${at} AS BLOB), x'00') > 0)`);
  const sql = `WITH q(${names}) AS (${query}\n) SELECT ${checks} FROM (SELECT * FROM q LIMIT ${rows.length})`;
  try {
    const statement = database.prepare(sql);
    statement.setReturnArrays(true);
    const found: unknown[] = Array.from(statement.get(...params.map(bindable)) ?? []);
    return texts.filter((_, i) => found[i] === 1);
  } catch {
    // EXPLAIN and its kin cannot stand in a query; what they tell is SQLite's own text.
    return [];
  }
}

// A number binds as REAL, so that 7/2 would be 3.5 for a parameter and 3 for a literal.
function bindable(value: SqlRequest['params'][number]): null | number | bigint | string {
  if (typeof value === 'boolean') return value ? 1n : 0n;
  return Number.isSafeInteger(value) ? BigInt(value ?? 0) : value;
}

function jsonCell(value: unknown): ExactJson {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (value instanceof Uint8Array)
    return {
      bytes: value.length,
      hex_prefix: Buffer.from(value.subarray(0, blobBytesShown)).toString('hex'),
    };
  return typeof value === 'string' ? value : null;
}

/** `id, id` → `id, id_2`: two columns of one name would be one to whoever reads them by name. */
function distinct(names: readonly string[]): string[] {
  const taken = new Set<string>();
  return names.map((name) => {
    let free = name;
    for (let n = 2; taken.has(free) || (free !== name && names.includes(free)); n += 1) free = `${name}_${n}`;
    taken.add(free);
    return free;
  });
}

const [, , path, identity] = process.argv;
if (!isMainThread) serve(workerData as DatabaseFile);
else if (path !== undefined && identity !== undefined) watch({ path, identity });
