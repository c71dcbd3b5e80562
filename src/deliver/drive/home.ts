/** The homes of sessions: private folders in the user's state folder, filled for a run, and cleaned also after a crash. */
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { z } from 'zod';
import { systemCode } from '../../errors.ts';
import { stateFolder } from '../../ledger/locate.ts';
import type { DeliveryPlan, Seed } from '../../protocol/delivery.ts';
import type { ProcessName } from '../../sandbox/sandbox.ts';
import { endAll, isAlive, type ProcessId, processId } from '../../sandbox/supervisor/process-tree.ts';
import { writeWhole } from '../whole-file.ts';
import { insideHome, makeInsideHome } from './inside-home.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Where the homes of all sessions are, whether or not there is one. */
export function homesFolder(env: Environment): string {
  return join(stateFolder(env), 'writ', 'homes');
}

/** The home of one session. */
export function homeOf(homes: string, session: string): string {
  return join(homes, session);
}

// What a running start leaves behind if this process dies: enough for the next one to clean up after it. It says what is
// removed, so it stands beside the home, in which the program writes.
const journalEnd = '.run.json';
const journalOf = (home: string): string => `${home}${journalEnd}`;

const processShape = z.strictObject({ pid: z.number(), start: z.number().nullable() });
const journalShape = z.strictObject({
  writ: processShape,
  program: processShape.nullable(),
  mark: z.string(),
  files: z.array(z.string()),
});
type Journal = z.output<typeof journalShape>;

export interface PreparedHome {
  /** Notes who the program is, so that it is found again if this process dies. */
  started(leader: ProcessId): Promise<void>;
  /** Removes the files of the run. */
  clean(): Promise<void>;
}

/**
 * Makes the home and fills it: the login's files where they are not there yet, then the plan's own. What was written is
 * removed again if a part of it fails.
 */
export async function prepareHome(plan: DeliveryPlan, mark: string, env: Environment): Promise<PreparedHome> {
  const { home } = plan;
  await mkdir(dirname(home), { recursive: true, mode: 0o700 });
  const journal: Journal = {
    writ: processId(process.pid),
    program: null,
    mark,
    files: plan.files.filter(({ until }) => until === 'run').map(({ path }) => path),
  };
  await writeWhole(journalOf(home), JSON.stringify(journal));
  try {
    // Also where nothing is put into it.
    await makeInsideHome(home, 'any');
    for (const seed of plan.seeds) await copyLogin(seed, home, env);
    for (const { path, text } of plan.files) await writeWhole(await makeInsideHome(home, path), text);
  } catch (error) {
    await removeRunFiles(home, journal);
    throw error;
  }
  return {
    started: (program) => writeWhole(journalOf(home), JSON.stringify({ ...journal, program })),
    clean: () => removeRunFiles(home, journal),
  };
}

// The program may renew its login in the home, so a copy that is there already is the newer one.
async function copyLogin({ from, variable, below, to }: Seed, home: string, env: Environment): Promise<void> {
  const given = variable === null ? undefined : env[variable];
  const own = env.HOME === undefined || env.HOME === '' ? homedir() : env.HOME;
  const source = given !== undefined && isAbsolute(given) ? join(given, below) : join(own, from);
  const target = await makeInsideHome(home, to);
  if (await isThere(target)) return;
  try {
    // A link is followed: the copy holds real bytes, and the user's own file is never written through it.
    await writeWhole(target, await readFile(source));
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
  }
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

async function removeRunFiles(home: string, { files }: Pick<Journal, 'files'>): Promise<void> {
  for (const path of files) {
    const full = await insideHome(home, path);
    if (full !== null) await rm(full, { force: true });
  }
  await rm(journalOf(home), { force: true });
}

const endLimits = { graceMs: 500, killMs: 1_000, wrapper: null };

/** Cleans up after a start whose Writ died: ends what still runs of it and removes its files. Names what it could not end. */
export async function cleanAfterCrash(home: string): Promise<readonly ProcessName[]> {
  const journal = await readJournal(home);
  if (journal === undefined || isAlive(journal.writ)) return [];
  const survivors = await endAll({ leader: journal.program, mark: journal.mark }, endLimits);
  if (survivors.length === 0) await removeRunFiles(home, journal);
  return survivors;
}

/** The same for every home. A fault of one home is left for its own session to meet. */
export async function sweepHomes(homes: string): Promise<void> {
  const names = await readdir(homes).catch(() => []);
  for (const name of names.filter((one) => one.endsWith(journalEnd)))
    await cleanAfterCrash(join(homes, name.slice(0, -journalEnd.length))).catch(() => []);
}

async function readJournal(home: string): Promise<Journal | undefined> {
  try {
    return journalShape.safeParse(JSON.parse(await readFile(journalOf(home), 'utf8'))).data;
  } catch (error) {
    if (systemCode(error) === 'ENOENT' || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Removes the home of a session for good, with the copy of its login. Ends first what a dead Writ left running there. */
export async function forgetHome(homes: string, session: string): Promise<void> {
  // The name becomes a folder that is removed whole.
  if (!/^[A-Za-z0-9][\w-]*$/.test(session)) return;
  const home = homeOf(homes, session);
  await cleanAfterCrash(home);
  await rm(home, { recursive: true, force: true });
  await rm(journalOf(home), { force: true });
}
