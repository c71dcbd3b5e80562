/** What tests of experiments share: a small experiment on disk, and trials whose runs are written into a real ledger. */
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { vocabulary } from '../catalog.ts';
import { systemClock } from '../clock.ts';
import { blobOf, sha256 } from '../digest.ts';
import type { Store } from '../ledger/store.ts';
import type { EventBody } from '../protocol/events.ts';
import type { RunResult, RunStatus } from '../protocol/outcome.ts';
import { noUsage, type Usage } from '../protocol/usage.ts';
import { type Arm, openArm } from './arm.ts';
import { type Experiment, loadExperiment } from './experiment.ts';
import type { Execute, ExperimentRun, RunRequest } from './experiment-run.ts';
import type { Grader, GraderSurroundings } from './grade/grader.ts';
import { type Registration, registrationOf } from './registration.ts';
import type { Side } from './statistics/trials.ts';
import { type Build, environmentOf } from './surroundings.ts';
import type { TrialRow } from './trial.ts';

export const build: Build = { writ: '0.0.0', node: '20.0.0', platform: 'test', harness: 'native' };

/** A folder with an agent whose `ritual` one arm leaves out, and an experiment over `items` items. */
export async function experimentFolder(
  more = '',
  { items = 8, repeats = 1, grader = '{ kind: exact }' } = {},
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'writ-prove-'));
  const files: Record<string, string> = {
    'agent/agent.yaml': [
      'key: asker',
      'profiles: { default: [base, ritual] }',
      'facts: { wet: { type: bool, default: false } }',
      'model: local/scripted',
      'budget: { turns: 4, wallTimeMs: 1000 }',
    ].join('\n'),
    'agent/instructions/base.md': 'Answer questions.\n',
    'agent/instructions/ritual.md':
      '---\nwhen: \'!(mode == "headless" && !wet)\'\n---\nRead everything first.\n',
    'experiment.yaml': [
      'question: Is the ritual needed?',
      'arms:',
      '  control: { agent: agent, fragments: { ritual: in } }',
      '  treatment: { agent: agent }',
      'cell: mode == "headless" && !wet',
      'items:',
      ...Array.from({ length: items }, (_, at) => `  i${at + 1}: { task: "Task ${at + 1}?", expect: yes }`),
      `repeats: ${repeats}`,
      'blocking: item',
      'seed: 7',
      'stopping: all-trials',
      `grader: ${grader}`,
      ...(more.includes('primary:') ? [] : ['primary: { metric: score }']),
      more,
    ].join('\n'),
  };
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  return folder;
}

export interface Opened {
  readonly experiment: Experiment;
  readonly arms: { readonly control: Arm; readonly treatment: Arm };
  readonly grader: Grader;
  readonly registration: Registration;
}

/** Reads and resolves the experiment of a folder, as the command line does. */
export async function openFolder(
  folder: string,
  surroundings: Partial<GraderSurroundings> = {},
): Promise<Opened> {
  const { graders } = await import('../catalog.ts');
  const experiment = await loadExperiment(join(folder, 'experiment.yaml'));
  const arms = {
    control: await openArm(experiment, 'control', { vocabulary, probes: [] }),
    treatment: await openArm(experiment, 'treatment', { vocabulary, probes: [] }),
  };
  const part = graders.find(({ name }) => name === experiment.written.grader.kind) ?? graders[0];
  const grader = await (await part.load())(experiment.written.grader, {
    folder,
    path: process.env.PATH ?? '',
    ...surroundings,
  });
  return { experiment, arms, grader, registration: await registrationOf(experiment, arms, grader, build) };
}

/** Where the agents of both arms lie. */
export function agentFoldersOf({ arms }: Pick<Opened, 'arms'>): Readonly<Record<Side, string>> {
  return { control: arms.control.agent.folder, treatment: arms.treatment.agent.folder };
}

/** What a made-up run did. */
export interface Told {
  readonly answer?: string;
  readonly status?: RunStatus;
  readonly code?: string;
  /** By tool; of a call that failed, its code. */
  readonly calls?: readonly { readonly tool: string; readonly code?: string }[];
  readonly model?: string;
  readonly modelSeen?: string | null;
  readonly fingerprint?: string;
  readonly projection?: string;
  readonly system?: string;
  /** What was sent, where that is not what the run says it was given. */
  readonly sent?: string;
  /** The raw response; a new one each time unless given. */
  readonly response?: string;
  readonly timeMs?: number;
  /** Whether its only request left the machine, where it was not answered. */
  readonly dispatched?: 'no' | 'unknown';
  readonly usage?: Partial<Usage>;
}

/** What `runExperiment` takes for an experiment of `openFolder`, with nothing that stops it and no canaries. */
export function experimentRun(
  opened: Opened,
  { journal, store, execute }: Pick<ExperimentRun, 'journal' | 'store' | 'execute'>,
): ExperimentRun {
  return {
    journal,
    store,
    items: opened.experiment.items,
    grader: opened.grader,
    build,
    agentFolders: agentFoldersOf(opened),
    execute,
    clock: systemClock,
    signal: new AbortController().signal,
    canaries: [],
  };
}

/** Runs trials by writing their record: what `tell` says happened, with the text that the arm composes. */
export function executeBy(
  store: Store,
  { arms }: Pick<Opened, 'arms'>,
  tell: (request: RunRequest) => Told | Promise<Told>,
): Execute {
  let count = 0;
  return async (request) => {
    const told = await tell(request);
    const { composition } = await arms[request.side].compose(null);
    count += 1;
    const { answer = 'yes', status = 'completed', timeMs = 100, model = 'local/scripted' } = told;
    const text = blobOf(told.system ?? composition.text);
    const system = blobOf(
      JSON.stringify({ role: 'system', content: told.sent ?? told.system ?? composition.text }),
    );
    const task = blobOf(request.task);
    const response = blobOf(told.response ?? `response ${count} ${systemClock.id('x')}`);
    const said = blobOf(answer);
    const usage: Usage = {
      ...noUsage,
      modelCalls: 1,
      totalTokens: 10,
      costUsd: 0.01,
      costSource: 'priced',
      ...told.usage,
    };
    const [session, run] = [systemClock.id('session'), systemClock.id('run')];
    const error =
      status === 'completed'
        ? null
        : { code: told.code ?? 'native.answer-empty', kind: 'failed' as const, message: 'told' };
    const events = [
      {
        type: 'run-start',
        session,
        agent: 'asker',
        harness: 'native',
        model,
        prompt: text.digest,
        task: task.digest,
      },
      { type: 'turn-start', turn: 1 },
      {
        type: 'model-request',
        turn: 1,
        attempt: 1,
        model,
        wire: 'openai-chat',
        url: 'http://127.0.0.1:1/v1',
        keep: 0,
        add: [system.digest],
        tools: null,
      },
      told.dispatched !== undefined && {
        type: 'model-fault',
        turn: 1,
        attempt: 1,
        dispatched: told.dispatched,
        usage: noUsage,
      },
      told.dispatched === undefined && {
        type: 'model-response',
        turn: 1,
        attempt: 1,
        response: response.digest,
        modelSeen: told.modelSeen === undefined ? 'scripted-1' : told.modelSeen,
        ...(told.fingerprint === undefined ? {} : { fingerprint: told.fingerprint }),
        usage,
      },
      ...(told.calls ?? []).flatMap(({ tool, code }, at) => [
        { type: 'tool-call', turn: 1, position: at + 1, callId: `${at}`, tool, arguments: '{}' },
        {
          type: 'tool-result',
          turn: 1,
          position: at + 1,
          callId: `${at}`,
          tool,
          status: code === undefined ? 'ok' : 'failed',
          code: code ?? null,
        },
      ]),
      {
        type: 'run-finish',
        status,
        answer: error === null ? said.digest : null,
        error,
        usage,
        budget: {},
        elapsedMs: timeMs,
      },
    ].filter((event) => event !== false) as unknown as readonly EventBody[];
    await store.createSession(
      {
        id: session,
        createdAt: 1,
        agent: 'asker',
        harness: 'native',
        model,
        prompt: text.digest,
        composition: text.digest,
        projection: sha256(told.projection ?? 'tools'),
        capabilities: [],
        origin: { experiment: request.stamp },
      },
      [text, system, task, response, said],
    );
    await store.createRun({ id: run, session, createdAt: 1, index: 1, parent: null });
    const lease = await store.acquire(run, 'test:1:1', 60_000);
    await store.append(lease, events);
    await store.release(lease);
    return { run, session, status } as RunResult;
  };
}

/** A row of a table that nobody ran, for analyses alone. */
export function rowOf(
  registration: Registration,
  key: Pick<TrialRow, 'item' | 'side' | 'repeat' | 'position'>,
  more: Partial<TrialRow> = {},
): TrialRow {
  const { prompt, model, harness, folderDigest } = registration.arms[key.side];
  const workspace = registration.items.find(({ id }) => id === key.item)?.workspace ?? '';
  const surroundings = { ...registration.build, agent: folderDigest, workspace };
  const around = { surroundings, projection: 'p' };
  return {
    ...key,
    ...around,
    run: `run ${key.position}`,
    session: `session ${key.position}`,
    status: 'completed',
    code: null,
    callCodes: [],
    prompt,
    promptSent: prompt,
    harness: harness?.name ?? 'native',
    model: harness === undefined ? model : harness.model,
    modelsSeen: ['scripted-1'],
    fingerprintsSeen: [null],
    servers: ['this machine'],
    canaries: [],
    responses: [`response ${key.position}`],
    answer: 'a',
    answerBytes: 3,
    startedAt: 1,
    timeMs: 100,
    finished: true,
    turns: 1,
    toolCalls: 0,
    calls: {},
    usage: { ...noUsage, modelCalls: 1, totalTokens: 10, costUsd: 0.01 },
    lanes: { answered: noUsage, failed: noUsage },
    groups: {},
    interrupted: 0,
    unsent: [],
    environment: environmentOf(around),
    unread: 0,
    outcome: 'answered',
    reason: null,
    score: 1,
    grader: registration.grader.digest,
    judging: null,
    ...more,
  };
}
