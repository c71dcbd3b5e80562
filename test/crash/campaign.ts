/** The crash campaign: real processes killed at announced points and at any moment, until each run has ended; then all is counted. */
import { type ChildProcess, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sqliteStore } from '../../src/ledger/stores/sqlite.ts';
import type { RunEvent } from '../../src/protocol/events.ts';
import type { RunResult } from '../../src/protocol/outcome.ts';
import { stream } from '../../src/prove/statistics/generator.ts';
import { scriptedProvider } from '../scripted-provider.ts';
import { classes, type Desk, type EffectClass, modelOf, openDesk } from './outside.ts';

export interface CampaignOptions {
  /** Effects of each class in a run. */
  readonly turns: number;
  /** How many of the announced points are killed at; all where left out. */
  readonly points?: number;
  /** Kills at a moment that nobody chose. */
  readonly anyMoment: number;
  readonly seed: number;
  /** Gets one line for each kill and for each run that has ended. */
  readonly log?: (line: string) => void;
}

export interface CampaignReport {
  readonly kills: number;
  readonly atPoints: number;
  readonly atAnyMoment: number;
  readonly pointsAnnounced: number;
  /** Points that no run reached any more, because an earlier kill had changed its way. */
  readonly pointsNotReached: readonly string[];
  readonly runs: number;
  readonly ended: Readonly<Record<string, number>>;
  readonly effects: Readonly<Record<string, Readonly<Record<'ok' | 'unknown' | 'reachedOutside', number>>>>;
  readonly secondDispatches: number;
  readonly lostObservations: number;
  readonly faults: readonly string[];
}

interface Ended {
  readonly points: readonly string[];
  readonly diedAt: string | null;
  readonly result: RunResult | null;
  readonly stderr: string;
}

/** Runs it. Whatever is wrong stands in `faults`; nothing is left running. */
export async function runCampaign(options: CampaignOptions): Promise<CampaignReport> {
  const { turns, seed, log = () => {} } = options;
  const generator = stream(seed, 'crash');
  const random = () => generator.unit();
  const desk = await openDesk();
  const provider = await scriptedProvider(modelOf(turns));
  const tally = openTally(log);
  const living = new Set<ChildProcess>();
  try {
    const site = () => openSite(desk.url, provider.url, living);
    const undisturbed = site();
    const first = await undisturbed.run([]);
    tally.check(
      first.result?.status === 'completed',
      `an undisturbed run ended as ${first.stderr || 'unknown'}`,
    );
    await tally.finish(undisturbed, desk, turns);
    const announced = [...new Set(first.points)];
    const pending = new Set(sample(announced, options.points ?? announced.length, random));
    let fruitless = 0;
    while (pending.size > 0 && fruitless < 2) {
      const before = pending.size;
      const at = site();
      desk.forget();
      for (;;) {
        const ended = await at.run([...pending]);
        if (ended.diedAt === null) {
          tally.check(ended.result !== null, `a process ended without a result: ${ended.stderr}`);
          break;
        }
        pending.delete(ended.diedAt);
        tally.killed(ended.diedAt);
        tally.kept(await at.events());
        if (await at.hasEnded()) break;
      }
      await tally.finish(at, desk, turns);
      fruitless = pending.size === before ? fruitless + 1 : 0;
    }
    for (let left = options.anyMoment; left > 0; ) {
      const at = site();
      desk.forget();
      for (;;) {
        const ended = await at.run([], left > 0 ? 200 + random() * 900 : undefined);
        if (ended.result !== null) break;
        left -= 1;
        tally.killed(null);
        tally.kept(await at.events());
        if (await at.hasEnded()) break;
      }
      await tally.finish(at, desk, turns);
    }
    return tally.report(announced.length, [...pending]);
  } finally {
    for (const child of living) child.kill('SIGKILL');
    await provider.close();
    await desk.close();
  }
}

function sample(from: readonly string[], count: number, random: () => number): readonly string[] {
  const left = [...from];
  const taken: string[] = [];
  // Evenly over the life of the run, so that every kind of point has its part.
  const step = left.length / Math.min(count, left.length);
  for (let at = random() * step; at < left.length; at += step) taken.push(left[Math.floor(at)] ?? '');
  return taken;
}

type Site = ReturnType<typeof openSite>;

/** One ledger and workspace, and the processes that work on its one run after each other. */
function openSite(desk: string, model: string, living: Set<ChildProcess>) {
  const folder = mkdtempSync(join(tmpdir(), 'writ-crash-'));
  const workspace = join(folder, 'workspace');
  mkdirSync(workspace);
  const ledger = join(folder, 'ledger.sqlite');
  const place = join(folder, 'place.json');

  async function look<T>(
    work: (store: ReturnType<typeof sqliteStore>) => Promise<T>,
  ): Promise<T | undefined> {
    if (!existsSync(ledger)) return undefined;
    const store = sqliteStore({ path: ledger });
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  }
  const events = async (): Promise<readonly RunEvent[]> =>
    (await look(async (store) => {
      const [run] = await store.runs();
      return run === undefined ? [] : store.events(run.id);
    })) ?? [];

  return {
    folder,
    workspace,
    events,
    async run(dieAt: readonly string[], killAfterMs?: number): Promise<Ended> {
      // A run that died before its start was recorded cannot be resumed: nothing was sent, so it is begun again.
      const known = await events();
      const run = known[0]?.type === 'run-start' ? known[0].run : null;
      const state = join(folder, 'state');
      writeFileSync(place, JSON.stringify({ ledger, workspace, state, model, desk, run, dieAt }));
      const child = spawn(process.execPath, ['test/crash/child.mjs', place], {
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      living.add(child);
      let out = '';
      let stderr = '';
      child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
        out += chunk;
      });
      child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
        stderr += chunk;
      });
      const timer =
        killAfterMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), killAfterMs);
      await new Promise((resolve) => child.once('close', resolve));
      clearTimeout(timer);
      living.delete(child);
      const lines = out.split('\n');
      const told = (word: string) =>
        lines.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1));
      const [result] = told('result');
      return {
        points: told('point'),
        diedAt: told('dies')[0] ?? null,
        result: result === undefined ? null : (JSON.parse(result) as RunResult),
        stderr,
      };
    },
    hasEnded: async () => (await events()).at(-1)?.type === 'run-finish',
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Counts kills and what became of every effect, and keeps what is wrong. */
function openTally(log: (line: string) => void) {
  const faults: string[] = [];
  const ended: Record<string, number> = {};
  const effects = Object.fromEntries(classes.map((name) => [name, { ok: 0, unknown: 0, reachedOutside: 0 }]));
  let atPoints = 0;
  let atAnyMoment = 0;
  let runs = 0;
  let secondDispatches = 0;
  let lostObservations = 0;
  /** Points that the run at work was killed at; null once it was killed at a moment that nobody chose. */
  let killedAt: Set<string> | null = new Set();
  let before: readonly RunEvent[] = [];
  const check = (good: boolean, fault: string) => {
    if (!good) faults.push(fault);
  };

  return {
    check,
    killed(at: string | null) {
      log(`kill ${atPoints + atAnyMoment + 1} at ${at ?? 'any moment'}`);
      if (at === null) {
        atAnyMoment += 1;
        killedAt = null;
      } else {
        atPoints += 1;
        killedAt?.add(at);
      }
    },
    /** What was recorded once is there for good, in its place. */
    kept(events: readonly RunEvent[]) {
      const same = before.every((event, i) => JSON.stringify(event) === JSON.stringify(events[i]));
      const whole = events.every((event, i) => event.seq === i + 1);
      if (before.length > 0 && before[0]?.run !== events[0]?.run)
        check(!sentAny(before), 'a run that had sent something was lost');
      else {
        if (!same) lostObservations += before.filter(({ type }) => type === 'effect-observe').length;
        check(same && whole, `the record changed or has a gap: ${[...(killedAt ?? [])].at(-1)}`);
      }
      before = events;
    },
    async finish(site: Site, desk: Desk, turns: number) {
      const events = await site.events();
      this.kept(events);
      runs += 1;
      const finish = events.at(-1);
      const status = finish?.type === 'run-finish' ? finish.status : 'without end';
      ended[status] = (ended[status] ?? 0) + 1;
      check(status === 'completed', `a run ended as ${status}`);
      for (let n = 1; n <= turns; n += 1) {
        for (const [i, name] of classes.entries()) {
          const { count: reached, keys } = counted(name, n, site.workspace, desk);
          judge({ events, name, n, position: i + 1, reached, keys });
        }
      }
      check((await strays(site.folder)).length === 0, 'a process was left running');
      log(
        `run ${runs} ${status}: ${[...Object.entries(countsIn(events))].map(([what, count]) => `${count} ${what}`).join(', ')}`,
      );
      site.remove();
      killedAt = new Set();
      before = [];
    },
    report(pointsAnnounced: number, pointsNotReached: readonly string[]): CampaignReport {
      const counts = {
        kills: atPoints + atAnyMoment,
        atPoints,
        atAnyMoment,
        pointsAnnounced,
        pointsNotReached,
      };
      return { ...counts, runs, ended, effects, secondDispatches, lostObservations, faults };
    },
  };

  interface Judged {
    readonly events: readonly RunEvent[];
    readonly name: EffectClass;
    readonly n: number;
    readonly position: number;
    /** How often it really reached the outside, and under how many keys. */
    readonly reached: number;
    readonly keys: number;
  }

  function judge({ events, name, n, position, reached, keys }: Judged): void {
    const here = events.filter(
      (event) => 'position' in event && event.turn === n && event.position === position,
    );
    const result = here.find((event) => event.type === 'tool-result');
    const status = result?.type === 'tool-result' ? result.status : 'none';
    const seen = here.filter(({ type }) => type === 'effect-observe').length;
    const what = `${name} ${n}.${position}`;
    const tally = effects[name];
    if (tally === undefined) return;
    tally.reachedOutside += reached;
    if (status === 'ok') tally.ok += 1;
    if (status === 'unknown') tally.unknown += 1;
    const onlyOnce = name !== 'safe' && name !== 'idempotent';
    if (onlyOnce && reached > 1) secondDispatches += reached - 1;
    check(!onlyOnce || reached <= 1, `${what} reached the outside ${reached} times`);
    check(keys <= 1, `${what} was sent under ${keys} keys`);
    check(status === 'ok' || status === 'unknown', `${what} ended as ${status}`);
    check(seen === (status === 'ok' ? 1 : 0), `${what} is ${status} with ${seen} observations`);
    if (status === 'ok') check(reached >= 1, `${what} is told as done and never reached the outside`);
    if (status === 'unknown') {
      check(
        name === 'once' || name === 'driven__write' || (name === 'command_start' && killedAt === null),
        `${what} is unknown, although it can be looked at or repeated`,
      );
      const window = [
        `effect-dispatch ${n}.${position} after`,
        `entered ${n}.${position}`,
        `acted ${n}.${position}`,
        `effect-observe ${n}.${position} before`,
      ];
      check(
        killedAt === null || window.some((at) => killedAt?.has(at)),
        `${what} is unknown, and nothing was killed while it was on its way`,
      );
    }
  }
}

/** How many calls of a run ended how. */
function countsIn(events: readonly RunEvent[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = { ok: 0, unknown: 0 };
  for (const event of events)
    if (event.type === 'tool-result') counts[event.status] = (counts[event.status] ?? 0) + 1;
  return counts;
}

function sentAny(events: readonly RunEvent[]): boolean {
  return events.some(({ type }) => type === 'effect-dispatch');
}

/** How often an effect really reached the outside, and under how many keys: commands and the MCP server leave lines. */
function counted(name: EffectClass, n: number, workspace: string, desk: Desk) {
  if (name === 'command_start') return { count: linesIn(join(workspace, `command-${n}`)).length, keys: 1 };
  if (name !== 'driven__write') return desk.requests(name, n);
  const lines = linesIn(join(workspace, 'mcp-effects'));
  return { count: lines.filter((line) => line === `${n}`).length, keys: 1 };
}

function linesIn(path: string): readonly string[] {
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : [];
}

/** Processes at work in a folder, once those that are about to end have had their time. */
async function strays(folder: string): Promise<readonly string[]> {
  for (let tries = 0; ; tries += 1) {
    const found = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && cwdOf(pid).startsWith(folder));
    if (found.length === 0 || tries === 100) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function cwdOf(pid: string): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return '';
  }
}
