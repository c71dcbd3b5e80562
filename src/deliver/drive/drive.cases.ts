/** What tests of driving share: a program that prints what it is told to, and whole runs of it behind a real adapter. */
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { allAdapters as loadAll } from '../../catalog.ts';
import { systemClock } from '../../clock.ts';
import { plainComposition } from '../../compose/plain.ts';
import type { Store } from '../../ledger/store.ts';
import { memoryStore } from '../../ledger/stores/memory.ts';
import type { RunEvent } from '../../protocol/events.ts';
import type { RunResult } from '../../protocol/outcome.ts';
import { resumeRun, type StartRequest, startRun } from '../../run/run.ts';
import type { Adapter } from '../adapter.ts';
import { homesFolder } from './home.ts';
import type { OutsideOptions } from './options.ts';
import { outside } from './outside.ts';

export const allAdapters = await loadAll();

export function adapterNamed(name: string): Adapter {
  const found = allAdapters.find((adapter) => adapter.name === name);
  if (found === undefined) throw new Error(`no adapter ${name}`);
  return found;
}

/** The harnesses whose programs print lines. */
export const driven = allAdapters.filter(({ openStream }) => openStream !== undefined);

export function recorded(name: string, file: string): Promise<string> {
  return readFile(new URL(`../harnesses/${name}/recorded/${file}.jsonl`, import.meta.url), 'utf8');
}

/** All that a harness needs lowered. */
export const lowered = {
  budget: 'observed',
  approval: 'none',
  effects: 'observed',
  resume: 'observed',
  cancel: 'observed',
} as const;

export interface DriveRig {
  readonly root: string;
  readonly workspace: string;
  readonly homes: string;
  readonly store: Store;
  readonly events: RunEvent[];
  options(more?: Partial<OutsideOptions>): OutsideOptions;
  run(task: string, more?: Partial<StartRequest>, options?: Partial<OutsideOptions>): Promise<RunResult>;
  resume(run: string): Promise<RunResult>;
  /** What the program wrote down of its starts: arguments, variables, input, folder. */
  starts(): Promise<readonly Started[]>;
  /** Also proves that nothing of any program is left. */
  close(): Promise<void>;
}

export interface Started {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string;
  readonly cwd: string;
  readonly pid: number;
}

/**
 * Makes the program of an adapter out of the body of a module. It finds `say(text)`, the number of the start `nth`, its
 * `started` and `spawn`; its input is read whole before, unless `early` stands in the body.
 */
export async function openDriveRig(
  name: string,
  body: string,
  env: Readonly<Record<string, string>> = {},
): Promise<DriveRig> {
  const root = await mkdtemp(join(tmpdir(), 'writ-drive-'));
  const [workspace, state] = [join(root, 'workspace'), join(root, 'state')];
  await mkdir(workspace);
  const program = join(root, 'program.mjs');
  await writeFile(program, programText(root, body));
  await chmod(program, 0o755);
  const store = memoryStore({ clock: systemClock });
  const events: RunEvent[] = [];
  const around = { PATH: process.env.PATH, HOME: root, XDG_STATE_HOME: state, ...env };
  const homes = homesFolder(around);
  const adapter = adapterNamed(name);
  const intent = name === 'codex' ? 'developer' : name === 'gemini' ? 'context' : 'append';
  const options = (more: Partial<OutsideOptions> = {}): OutsideOptions => ({
    adapter,
    adapters: allAdapters,
    program,
    version: null,
    intent,
    fidelity: 'base',
    workspace,
    homes,
    env: around,
    unmeasured: 'warn',
    ...more,
  });
  const seat = {
    store,
    clock: systemClock,
    holder: 'test:1:1',
    approve: 'deny' as const,
    lowered,
    onEvents: (stored: readonly RunEvent[]) => events.push(...stored),
  };
  return {
    root,
    workspace,
    homes,
    store,
    events,
    options,
    run: (task, more = {}, own = {}) =>
      startRun({
        ...seat,
        harness: outside(options(own)),
        composition: plainComposition('tester', 'You answer tests.'),
        capabilities: [],
        limits: {},
        task,
        origin: {},
        ...more,
      }),
    resume: (run) => resumeRun({ ...seat, harness: outside(options()), run, promptNow: null }),
    async starts() {
      const text = await readFile(join(root, 'starts.jsonl'), 'utf8').catch(() => '');
      return text
        .trim()
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Started);
    },
    async close() {
      await store.close();
      const strays = await straysOf(root);
      // Also where a test failed, nothing may outlive it.
      for (const pid of strays) process.kill(Number(pid), 'SIGKILL');
      await rm(root, { recursive: true, force: true });
      if (strays.length > 0) throw new Error(`left running: ${strays.join(', ')}`);
    },
  };
}

function programText(root: string, body: string): string {
  return `#!${process.execPath}
import { appendFileSync, readFileSync, writeSync } from 'node:fs';
import { spawn } from 'node:child_process';
const log = ${JSON.stringify(join(root, 'starts.jsonl'))};
let nth = 1;
try { nth += readFileSync(log, 'utf8').trim().split('\\n').length; } catch {}
const stdin = ${/\bearly\b/.test(body)} ? '' : readFileSync(0, 'utf8');
const started = { argv: process.argv.slice(2), env: process.env, stdin, cwd: process.cwd(), pid: process.pid };
appendFileSync(log, JSON.stringify(started) + '\\n');
const say = (text) => { for (let at = 0, bytes = Buffer.from(text); at < bytes.length; ) { try { at += writeSync(1, bytes, at); } catch (e) { if (e.code !== 'EAGAIN') throw e; } } };
${body}
`;
}

/** The body of a program that prints a recording and ends. */
export function prints(text: string, exitCode = 0): string {
  return `say(${JSON.stringify(text)}); process.exitCode = ${exitCode};`;
}

/** Processes that bear the mark of a start and have their home at this root; other tests work at the same time. */
export async function straysOf(root: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const environ = `\0${await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '')}`;
    if (environ.includes('\0WRIT_AGENT_PROGRAM=run_') && environ.includes(`\0HOME=${root}\0`))
      found.push(pid);
  }
  return found;
}
