/** The grader `sql`: the statement of the answer gives the same rows as the expected one, on the data as it was. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { z } from 'zod';
import { jsonDigest } from '../../digest.ts';
import { runChild } from './child.ts';
import { found, type Grade, type Grader, type GraderOptions, passIf } from './grader.ts';

const rowsMax = 10_000;

const endSchema = z.union([
  z.object({ rows: z.array(z.array(z.union([z.null(), z.number(), z.string()]))), more: z.boolean() }),
  z.object({ fault: z.string() }),
]);
type End = z.output<typeof endSchema>;
type Rows = Extract<End, { rows: unknown }>['rows'];

// A statement blocks its thread, and one of a model may never end: a process of its own can be killed. It is a text and no
// file, so that it runs from the sources as from what was built.
const program = `
const { constants, DatabaseSync } = require(process.argv[1]);
let input = '';
process.stdin.on('data', (chunk) => { input += chunk; }).on('end', () => {
  const { file, query, rowsMax } = JSON.parse(input);
  let end;
  try {
    const database = new DatabaseSync(file, { readOnly: true });
    const reads = [constants.SQLITE_SELECT, constants.SQLITE_READ, constants.SQLITE_FUNCTION, constants.SQLITE_RECURSIVE];
    database.setAuthorizer((action) => (reads.includes(action) ? constants.SQLITE_OK : constants.SQLITE_DENY));
    const statement = database.prepare(query);
    const rest = query.slice(statement.expandedSQL.length).replace(/--.*|\\/\\*[^]*?\\*\\/|[;\\s]/g, '');
    if (rest !== '') throw new Error('several statements');
    statement.setReadBigInts(true);
    statement.setReturnArrays(true);
    const rows = [];
    let more = false;
    for (const row of statement.iterate()) {
      if (rows.length === rowsMax) { more = true; break; }
      rows.push(row.map((value) => typeof value === 'bigint'
        ? (Number.isSafeInteger(Number(value)) ? Number(value) : 'i' + value)
        : value instanceof Uint8Array ? 'x' + Buffer.from(value).toString('hex')
        : typeof value === 'string' ? 't' + value : value));
    }
    end = { rows, more };
  } catch (thrown) {
    end = { fault: String(thrown && thrown.message) };
  }
  process.stdout.write(JSON.stringify(end));
});`;

/** The last SQL of an answer: its last fenced block, or the whole of it. */
export function statementOf(answer: string): string {
  const fenced = [...answer.matchAll(/```(?:sql|sqlite)?[ \t]*\n([\s\S]*?)\n[ \t]*```/gi)].at(-1)?.[1];
  return (fenced ?? answer).trim();
}

/** Both statements are run read-only on the database of the fixture, which no agent ever had in its hands. */
export function sql({
  database,
  ordered = false,
  tolerance = 0,
  timeoutMs = 10_000,
}: GraderOptions<'sql'>): Grader {
  const library = createRequire(import.meta.url).resolve('@photostructure/sqlite');
  const run = async (folder: string, query: string, signal: AbortSignal | undefined): Promise<End> => {
    const end = await runChild({
      program: process.execPath,
      words: ['--max-old-space-size=256', '-e', program, library],
      cwd: folder,
      env: {},
      input: JSON.stringify({ file: join(folder, database), query, rowsMax }),
      timeoutMs,
      signal,
    });
    if (end.end === 'no-exit') return { fault: end.reason };
    return end.code === 0 ? endSchema.parse(JSON.parse(end.stdout)) : { fault: `ended with ${end.code}` };
  };
  return {
    kind: 'sql',
    digest: jsonDigest({ kind: 'sql', version: 1, database, ordered, tolerance, timeoutMs }),
    files: [],
    when: 'at-once',
    wants: (expect) =>
      typeof expect === 'string' && expect.trim() !== ''
        ? null
        : `should expect an SQL statement, found ${found(expect)}`,
    async grade({ item, answer, signal }): Promise<Grade> {
      if (item.workspace === null)
        return { score: null, reason: 'the item has no workspace with a database' };
      const wanted = await run(item.workspace, String(item.expect), signal);
      if ('fault' in wanted) return { score: null, reason: `the expected statement: ${wanted.fault}` };
      if (wanted.more)
        return { score: null, reason: `the expected statement gives more than ${rowsMax} rows` };
      const said = await run(item.workspace, statementOf(answer), signal);
      if (signal?.aborted) return { score: null, reason: 'cancelled' };
      if ('fault' in said) return passIf(false, `its statement: ${said.fault}`);
      const same = !said.more && sameRows(wanted.rows, said.rows, ordered, tolerance);
      return passIf(same, `${said.rows.length} rows, expected ${wanted.rows.length}`);
    },
  };
}

/** Equal results: the same number of columns and rows, values equal or near, in the same order or in any. */
export function sameRows(wanted: Rows, said: Rows, ordered: boolean, tolerance: number): boolean {
  if (wanted.length !== said.length) return false;
  const [a, b] = ordered ? [wanted, said] : [sorted(wanted), sorted(said)];
  return a.every((row, at) => {
    const other = b[at] ?? [];
    return (
      row.length === other.length && row.every((value, i) => sameValue(value, other[i] ?? null, tolerance))
    );
  });
}

function sameValue(a: Rows[number][number], b: Rows[number][number], tolerance: number): boolean {
  if (typeof a !== 'number' || typeof b !== 'number') return a === b;
  return Math.abs(a - b) <= tolerance + 1e-12 * Math.max(Math.abs(a), Math.abs(b));
}

// Texts before numbers: a number may be off by the tolerance, and must not decide where a row stands.
function sorted(rows: Rows): Rows {
  const key = (row: Rows[number]) => [
    ...row.map((value) => (typeof value === 'number' ? '' : `${value}`)),
    ...row.map((value) => (typeof value === 'number' ? value : 0)),
  ];
  return rows
    .map((row) => ({ row, key: key(row) }))
    .sort((a, b) => {
      for (const [at, one] of a.key.entries()) {
        const other = b.key[at] ?? '';
        if (one !== other) return one < other ? -1 : 1;
      }
      return 0;
    })
    .map(({ row }) => row);
}
