/** Measures what an installed harness really does with our texts, and says where that differs from what is known. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../clock.ts';
import type { AuthMode, Cell } from '../../protocol/delivery.ts';
import { type Intent, intents } from '../../protocol/intent.ts';
import type { Adapter } from '../adapter.ts';
import { cellsOfAgent, cellVersion } from '../agent-version.ts';
import { versionIn } from '../drive/installed-version.ts';
import { isControl } from '../permit.ts';
import { isAbove, type ModelRequest } from '../recorder/model-request.ts';
import { type CellHead, headOf } from './claimed-cell.ts';
import { type Drift, driftOf } from './drift.ts';
import { measureBuiltIn } from './measure-built-in.ts';
import { type IntentReport, measureIntent } from './measure-intent.ts';
import {
  type IntrusionReport,
  measureIntrusion,
  measureResume,
  measureTwice,
  type ResumeReport,
  type TwiceReport,
} from './measure-session.ts';
import { firstWords } from './observe.ts';
import { openStage } from './stage.ts';
import { allTraps, fewTraps, type TrapSet } from './traps.ts';
import { runTurn } from './turn.ts';

export interface VerifyOptions {
  readonly adapter: Adapter;
  /** Every harness there is. */
  readonly adapters: readonly Adapter[];
  /** The path of the program. */
  readonly program: string;
  /** What stands behind it in the command of an agent of a protocol. */
  readonly words?: readonly string[];
  /** Null for the harness's own choice. */
  readonly model: string | null;
  /** What is known so far, the user's own first. */
  readonly known: readonly Cell[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Of one turn; by default two minutes. */
  readonly timeoutMs?: number;
  /**
   * `full` by default. `short` tries one text of each kind and those that known cells say suffer, and resumes for one
   * intent alone; `cells` does the same without sessions and without files of others.
   */
  readonly depth?: 'full' | 'short' | 'cells';
  /** This one alone, with every text, without sessions and without files of others. */
  readonly intent?: Intent;
  /** A login is made up, where the adapter has one for this. By default a key is. */
  readonly authMode?: AuthMode;
  /** Told what is being measured now. */
  readonly progress?: (what: string) => void;
}

/** A request beside the task, with a prompt of its own. */
export interface SideRequest {
  readonly bytes: number;
  readonly firstWords: string;
}

export interface HarnessReport {
  readonly harness: string;
  readonly program: string;
  readonly version: string | null;
  readonly modelFamily: string;
  readonly authMode: AuthMode;
  readonly intents: readonly IntentReport[];
  readonly resume: readonly ResumeReport[];
  readonly twice: readonly TwiceReport[];
  readonly intrusion: readonly IntrusionReport[];
  readonly side: readonly SideRequest[];
  readonly drift: readonly Drift[];
  /** Sentences: where the harness does not do what is promised of it. Empty is good. */
  readonly faults: readonly string[];
}

const turnTimeoutMs = 120_000;

/** Runs the program some forty times against a scripted model on this machine; nothing of it stays. */
export async function verifyHarness(options: VerifyOptions): Promise<HarnessReport> {
  const { adapter, model, depth = 'full', authMode = 'api-key', progress = () => {} } = options;
  const timeoutMs = options.timeoutMs ?? turnTimeoutMs;
  const agent = [options.program, ...(options.words ?? [])];
  const known = cellsOfAgent(adapter, agent, options.known);
  const version = cellVersion(adapter, agent, await versionOf(options, timeoutMs));
  const stage = await openStage({ ...options, version, timeoutMs, authMode });
  try {
    const able = intents.filter((intent) => isControl(adapter.controls[intent]));
    progress('the harness without us');
    const builtIn = await measureBuiltIn(
      stage,
      able.filter((intent) => intent !== 'replace'),
    );
    const measured: IntentReport[] = [];
    const resume: ResumeReport[] = [];
    const twice: TwiceReport[] = [];
    const intrusion: IntrusionReport[] = [];
    const side = new Map<string, SideRequest>();
    for (const intent of able.filter((one) => (options.intent ?? one) === one)) {
      options.signal.throwIfAborted();
      progress(intent);
      const head = headOf({ adapter, model, version, authMode }, intent, today(options.clock));
      const traps = depth === 'full' ? allTraps : fewFor(head, intent, known);
      const { report, seen, place } = await measureIntent(stage, intent, head, builtIn, traps);
      measured.push(report);
      for (const one of seen.side.map(sideRequest)) side.set(one.firstWords, one);
      // The lower surface is where files of others belong.
      if (intent === 'context' || depth === 'cells' || options.intent !== undefined) continue;
      options.signal.throwIfAborted();
      progress(`${intent}, sessions and files of others`);
      if (adapter.resume !== 'none' && (depth === 'full' || resume.length === 0))
        resume.push(await measureResume(stage, intent));
      if (depth === 'full' && head.control.startsWith('--'))
        twice.push(await measureTwice(stage, intent, head.control));
      intrusion.push(await measureIntrusion(stage, intent, place));
    }
    options.signal.throwIfAborted();
    const cells = measured.flatMap((one) => one.cells);
    return {
      harness: adapter.name,
      program: options.program,
      version,
      modelFamily: adapter.family(model),
      authMode,
      intents: measured,
      resume,
      twice,
      intrusion,
      side: [...side.values()],
      drift: cells.flatMap((cell) => driftOf(cell, known)),
      faults: faultsOf(measured, resume, intrusion),
    };
  } finally {
    await stage.close();
  }
}

/** What suffered on one family of models is tried on each. */
function fewFor(head: CellHead, intent: Intent, known: readonly Cell[]): TrapSet {
  const same = known.filter(
    (cell) => cell.harness === head.harness && cell.version === head.version && cell.intent === intent,
  );
  return fewTraps(same.flatMap(({ altered }) => altered));
}

function today(clock: Clock): string {
  return new Date(clock.now()).toISOString().slice(0, 10);
}

async function versionOf(
  { adapter, program, env, signal }: VerifyOptions,
  timeoutMs: number,
): Promise<string | null> {
  if (adapter.versionArgv.length === 0) return null;
  // Some make themselves at home before they answer.
  const home = await mkdtemp(join(tmpdir(), 'writ-verify-'));
  try {
    const plan = { argv: adapter.versionArgv, env: {}, files: [], home, workspace: home, stdin: null };
    const { stdout, stderr } = await runTurn(plan, {
      program,
      env: { PATH: env.PATH ?? '', HOME: home },
      timeoutMs,
      signal,
    });
    return versionIn(stdout, stderr);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

function sideRequest({ bytes, parts }: ModelRequest): SideRequest {
  return { bytes, firstWords: firstWords(parts.find(isAbove)?.text ?? '') };
}

function faultsOf(
  measured: readonly IntentReport[],
  resume: readonly ResumeReport[],
  intrusion: readonly IntrusionReport[],
): readonly string[] {
  return [
    ...measured.flatMap(({ intent, cells, fault }) => {
      if (fault !== null) return [`${intent}: ${fault}`];
      return cells
        .filter(({ delivered }) => !delivered)
        .map(({ fidelity }) => `${intent}, ${fidelity}: not delivered`);
    }),
    ...resume.flatMap(({ intent, sameText, fault }) => {
      if (fault !== null) return [`${intent}, resumed: ${fault}`];
      const once = sameText?.every((copies) => copies === 1) ?? true;
      return once
        ? []
        : [`${intent}, resumed: the text stands ${sameText?.join(' and ')} times, expected once`];
    }),
    ...intrusion.flatMap(({ intent, reached, ours, fault }) => [
      ...(fault === null ? [] : [`${intent}, with files of others: ${fault}`]),
      ...(ours === 'altered' || ours === 'lost' ? [`${intent}: ${ours} where files of others lie`] : []),
      ...reached
        .filter(({ effect, declared }) => declared !== 'system' && (effect === 'speaks' || declared === null))
        .map(
          ({ where, path, effect }) =>
            `${intent}: ${path} of the ${where} ${effect === 'speaks' ? 'speaks above the conversation' : 'stands beside the text'}, and the plan does not say so`,
        ),
    ]),
  ];
}
