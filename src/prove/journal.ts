/**
 * The journal of an experiment: one file of lines, each bound to the one before, and their count and newest hash in a file
 * beside it. A line that is altered, exchanged or taken out shows, at the end too; whoever writes both files anew is not found.
 */
import { type FileHandle, mkdir, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import { type Digest, jsonDigest } from '../digest.ts';
import { systemCode } from '../errors.ts';
import { isRecord } from '../protocol/json.ts';
import type { Usage } from '../protocol/usage.ts';
import { ProveError } from './errors.ts';
import type { Grade, Grader } from './grade/grader.ts';
import { readHead, writeHead } from './journal-head.ts';
import { lockFolder } from './journal-lock.ts';
import { plain, type Registration, registrationDigest } from './registration.ts';
import { keyOf, type TrialKey, type TrialRow, type UnsentAttempt } from './trial.ts';

/** What was done otherwise than it was registered; any of it makes the result exploratory. */
export interface Deviation {
  readonly kind: 'edited' | 'extended' | 'looked-early';
  readonly at: number;
  /** Trials that had an outcome by then. */
  readonly trials: number;
  /** What changed, as paths of the registration. */
  readonly paths: readonly string[];
  readonly reason: string;
}

export interface GradeEntry extends TrialKey {
  readonly run: string;
  readonly grader: Digest;
  readonly score: number | null;
  readonly reason: string;
  readonly judging: Usage | null;
}

export type JournalEntry =
  | { readonly type: 'registered'; readonly at: number; readonly registration: Registration }
  | { readonly type: 'deviated'; readonly deviation: Deviation; readonly registration: Registration | null }
  | { readonly type: 'trial'; readonly row: TrialRow }
  | { readonly type: 'grade'; readonly grade: GradeEntry }
  /** An attempt of which nothing was sent: its trial has no outcome, and begins anew. */
  | { readonly type: 'unsent'; readonly attempt: TrialKey & UnsentAttempt }
  | { readonly type: 'completed'; readonly at: number }
  /** A report was made of all that stands before; `digest` is over the report. */
  | { readonly type: 'reported'; readonly at: number; readonly digest: Digest };

/** What the journal says by now. */
export interface ExperimentState {
  /** The registration that holds, and the digest under which the experiment was registered first. */
  readonly registration: Registration;
  readonly digest: Digest;
  readonly id: Digest;
  readonly registeredAt: number;
  readonly deviations: readonly Deviation[];
  /** In the order in which they ended. */
  readonly rows: readonly TrialRow[];
  readonly grades: readonly GradeEntry[];
  /** Attempts of which nothing was sent, in the order in which they ended. */
  readonly unsent: readonly (TrialKey & UnsentAttempt)[];
  /** Reasons of the newest attempts, as far back as all of them were outages. */
  readonly outages: readonly string[];
  /** Digests of the reports that were made. */
  readonly reports: readonly Digest[];
  /** The hash of the newest line. */
  readonly head: Digest;
}

export interface Journal {
  readonly folder: string;
  state(): ExperimentState | undefined;
  /** Resolves when the entries are on the disk, all or none of them. */
  append(...entries: readonly JournalEntry[]): Promise<void>;
  close(): Promise<void>;
}

const fileName = 'journal.jsonl';

/** Reads a journal that others may be writing. Undefined where there is none. Throws `prove.record-damaged`. */
export async function readJournal(folder: string): Promise<ExperimentState | undefined> {
  return stateOf((await checkedLines(folder)).lines);
}

/** The journal by now, and as it was when a line with this hash was its newest; that is undefined where there is no such line. */
export interface JournalAt {
  readonly now: ExperimentState;
  readonly at: ExperimentState | undefined;
}

/** Reads a journal at one of its lines. Undefined where there is no journal. Throws `prove.record-damaged`. */
export async function readJournalAt(folder: string, hash: Digest): Promise<JournalAt | undefined> {
  const { lines } = await checkedLines(folder);
  const now = stateOf(lines);
  if (now === undefined) return undefined;
  const line = lines.findIndex((one) => one.hash === hash);
  return { now, at: line < 0 ? undefined : stateOf(lines.slice(0, line + 1)) };
}

// The head first: what a writer adds meanwhile makes the journal longer than its head says, which is right, and never shorter.
async function checkedLines(folder: string, again = true): Promise<JournalText> {
  const head = await readHead(folder);
  const text = linesOf(await textOf(join(folder, fileName)));
  const { lines } = text;
  if (head === undefined) {
    if (lines.length === 0) return text;
    // Both may have been begun between the two reads.
    if (again) return checkedLines(folder, false);
    throw headless();
  }
  if (lines.length < head.n) throw shortened(lines.length, head.n);
  if (head.n > 0 && lines[head.n - 1]?.hash !== head.hash) throw damaged(head.n);
  return text;
}

/**
 * Opens a journal to write it; one process at a time may. A line that a killed process left half written is taken off,
 * and a head that it left behind is brought up.
 * Throws `prove.busy`, `prove.record-damaged`. The caller closes it.
 */
export async function openJournal(folder: string, clock: Clock): Promise<Journal> {
  await mkdir(folder, { recursive: true });
  const unlock = await lockFolder(folder, clock);
  let file: FileHandle | undefined;
  try {
    const path = join(folder, fileName);
    const { lines, bytes, ended } = await checkedLines(folder);
    let state = stateOf(lines);
    let count = lines.length;
    let head: Digest = lines.at(-1)?.hash ?? '';
    // Before the journal is there, so that one without a head is always one whose head was taken away.
    await writeHead(folder, { n: count, hash: head });
    file = await open(path, 'a');
    await file.truncate(bytes);
    if (!ended) await file.appendFile('\n');
    const handle = file;
    let pending: Promise<void> = Promise.resolve();
    const write = async (entries: readonly JournalEntry[]): Promise<void> => {
      const made: Line[] = [];
      for (const entry of entries) {
        count += 1;
        const line = lineOf(count, head, plain(entry));
        head = line.hash;
        made.push(line);
      }
      await handle.appendFile(made.map((line) => `${JSON.stringify(line)}\n`).join(''));
      await handle.datasync();
      await writeHead(folder, { n: count, hash: head });
      for (const line of made) state = stateAfter(state, line);
    };
    return {
      folder,
      state: () => state,
      append(...entries) {
        pending = pending.then(() => write(entries));
        return pending;
      },
      async close() {
        await pending.catch(() => {});
        await handle.close();
        await unlock();
      },
    };
  } catch (fault) {
    await file?.close();
    await unlock();
    throw fault;
  }
}

interface Line {
  readonly n: number;
  readonly before: Digest;
  readonly entry: JournalEntry;
  readonly hash: Digest;
}

function lineOf(n: number, before: Digest, entry: JournalEntry): Line {
  return { n, before, entry, hash: jsonDigest({ n, before, entry }) };
}

async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    if (systemCode(cause) === 'ENOENT') return '';
    throw new ProveError(
      'prove.record-damaged',
      `The journal ${path} cannot be read: ${systemCode(cause)}.`,
      {
        next: 'Make it readable.',
        cause,
      },
    );
  }
}

interface JournalText {
  readonly lines: readonly Line[];
  /** What the lines take. */
  readonly bytes: number;
  /** False if the newest line is whole but for its end. */
  readonly ended: boolean;
}

/** Whole lines, checked against each other. */
function linesOf(text: string): JournalText {
  const written = text.split('\n');
  const rest = written.pop() ?? '';
  const lines: Line[] = [];
  for (const one of written) {
    const line = nextLine(one, lines);
    if (line === undefined) throw damaged(lines.length + 1);
    lines.push(line);
  }
  const last = rest === '' ? undefined : nextLine(rest, lines);
  if (last !== undefined) return { lines: [...lines, last], bytes: Buffer.byteLength(text), ended: false };
  return { lines, bytes: Buffer.byteLength(text.slice(0, text.length - rest.length)), ended: true };
}

/** The line that was written, if it is the one that follows. */
function nextLine(written: string, earlier: readonly Line[]): Line | undefined {
  const line = parsed(written);
  const follows =
    line !== undefined &&
    line.n === earlier.length + 1 &&
    line.before === (earlier.at(-1)?.hash ?? '') &&
    line.hash === lineOf(line.n, line.before, line.entry).hash;
  return follows ? line : undefined;
}

// A line whose hash is right was written by us, so that its form is too.
function parsed(written: string): Line | undefined {
  try {
    const line: unknown = JSON.parse(written);
    return isRecord(line) && isRecord(line.entry) ? (line as unknown as Line) : undefined;
  } catch {
    return undefined;
  }
}

function damaged(line: number): ProveError {
  const what = `Line ${line} of the experiment's journal should follow from the one before; it was altered, or one is missing.`;
  return recordDamaged(what, { line });
}

function shortened(found: number, lines: number): ProveError {
  const what = `The experiment's journal should have at least ${lines} lines, as journal.head says, found ${found}: its end was taken out.`;
  return recordDamaged(what, { line: found + 1, lines });
}

function headless(): ProveError {
  return recordDamaged(
    "Beside the experiment's journal should be its head, journal.head, found none that can be read.",
    {},
  );
}

function recordDamaged(message: string, details: { readonly [name: string]: number }): ProveError {
  return new ProveError('prove.record-damaged', message, {
    next: 'Put the journal and its head back as they were, or register the experiment anew with another --record.',
    details,
  });
}

function stateOf(lines: readonly Line[]): ExperimentState | undefined {
  let state: ExperimentState | undefined;
  for (const line of lines) {
    state = stateAfter(state, line);
  }
  return state;
}

function stateAfter(state: ExperimentState | undefined, { entry, hash, n }: Line): ExperimentState {
  if (entry.type === 'registered') {
    const digest = registrationDigest(entry.registration);
    return {
      registration: entry.registration,
      digest,
      id: digest,
      registeredAt: entry.at,
      deviations: [],
      rows: [],
      grades: [],
      unsent: [],
      outages: [],
      reports: [],
      head: hash,
    };
  }
  if (state === undefined) throw damaged(n);
  switch (entry.type) {
    case 'deviated': {
      const registration = entry.registration ?? state.registration;
      return {
        ...state,
        registration,
        digest: registrationDigest(registration),
        deviations: [...state.deviations, entry.deviation],
        head: hash,
      };
    }
    case 'trial':
      return {
        ...state,
        rows: [...state.rows, entry.row],
        outages: entry.row.outcome === 'outage' ? [...state.outages, entry.row.reason ?? ''] : [],
        head: hash,
      };
    case 'unsent': {
      const { attempt } = entry;
      return {
        ...state,
        unsent: [...state.unsent, attempt],
        outages: [...state.outages, attempt.reason],
        head: hash,
      };
    }
    case 'grade':
      return { ...state, grades: [...state.grades, entry.grade], head: hash };
    case 'completed':
      return { ...state, head: hash };
    case 'reported':
      return { ...state, reports: [...state.reports, entry.digest], head: hash };
  }
}

/** The rows with the grades of one grader; a trial that was graded twice has its first grade. */
export function gradedRows(state: ExperimentState, grader: Digest): readonly TrialRow[] {
  const grades = new Map<string, GradeEntry>();
  for (const grade of state.grades) {
    const key = keyOf(grade);
    if (grade.grader === grader && !grades.has(key)) grades.set(key, grade);
  }
  return state.rows.map((row) => {
    const grade = grades.get(keyOf(row));
    if (grade === undefined) return row;
    return { ...row, score: grade.score, grader: grade.grader, judging: grade.judging };
  });
}

/** A grade of a trial as the journal keeps it. */
export function gradeEntry(row: TrialRow, { digest }: Grader, { score, reason, judging }: Grade): GradeEntry {
  const { item, side, repeat, run } = row;
  return { item, side, repeat, run, grader: digest, score, reason, judging: judging ?? null };
}
