/** Running an experiment: each trial once, what is lost and what is invalid, judges, stops and what comes after them. */
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { systemClock } from '../clock.ts';
import { memoryStore } from '../ledger/stores/memory.ts';
import { noUsage } from '../protocol/usage.ts';
import type { RunRequest } from './experiment-run.ts';
import type { JudgePrompt } from './grade/grader.ts';
import { type ExperimentState, type Journal, openJournal } from './journal.ts';
import type { Canary } from './measure.ts';
import { register } from './register.ts';
import type { Registration } from './registration.ts';
import { makeReport } from './report.ts';
import { runExperiment } from './run-experiment.ts';
import { standingOf } from './standing.ts';
import { lookAt } from './surroundings.ts';
import {
  agentFoldersOf,
  build,
  executeBy,
  experimentFolder,
  experimentRun,
  type Opened,
  openFolder,
  type Told,
} from './trials.cases.ts';
import { verifyReport } from './verify.ts';

const folders: string[] = [];
const journals: Journal[] = [];
afterEach(async () => {
  for (const journal of journals.splice(0)) await journal.close();
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

interface Rig {
  readonly opened: Opened;
  readonly journal: Journal;
  readonly store: ReturnType<typeof memoryStore>;
  run(
    tell: (request: RunRequest) => Told | Promise<Told>,
    more?: Partial<Parameters<typeof runExperiment>[0]>,
  ): ReturnType<typeof runExperiment>;
}

async function rig(folder: string, surroundings: Parameters<typeof openFolder>[1] = {}): Promise<Rig> {
  folders.push(folder);
  const opened = await openFolder(folder, surroundings);
  const journal = await openJournal(join(folder, 'record'), systemClock);
  journals.push(journal);
  await register(journal, opened.registration, { clock: systemClock });
  const store = memoryStore({ clock: systemClock });
  return {
    opened,
    journal,
    store,
    run: (tell, more = {}) =>
      runExperiment({
        ...experimentRun(opened, { journal, store, execute: executeBy(store, opened, tell) }),
        ...more,
      }),
  };
}

const report = (one: Rig) =>
  makeReport(one.journal, { clock: systemClock, present: one.opened.registration, look: 'a test' });
const kinds = async (one: Rig) => (await report(one)).claims.map((claim) => claim.kind);

describe('each trial', () => {
  test('is a run of its own: ten repeats are ten calls of each arm and item', async () => {
    const one = await rig(await experimentFolder('', { items: 6, repeats: 10 }));
    const calls = new Map<string, number>();
    const summary = await one.run(({ side, task }) => {
      calls.set(`${side} ${task}`, (calls.get(`${side} ${task}`) ?? 0) + 1);
      return {};
    });
    expect(summary).toEqual({ trials: 120, done: 120, here: 120, complete: true });
    expect([...calls.values()]).toEqual(Array(12).fill(10));
  });

  test('whose answer comes out of a cache is invalid, and its pair leaves', async () => {
    const one = await rig(await experimentFolder('', { items: 6, repeats: 10 }));
    await one.run(({ side, task }) => ({ response: `${side} ${task}` }));
    const { trials, analysis, claims } = await report(one);
    expect(trials.filter((row) => row.outcome === 'answered')).toHaveLength(12);
    expect(trials.find((row) => row.outcome === 'invalid')?.reason).toMatch(/out of a cache/);
    expect(analysis.lost).toMatchObject({ pairs: 54, of: 60 });
    expect(claims[0]?.kind).toBe('inconclusive');
  });

  test('gets a fresh workspace, which is gone when it is graded', async () => {
    const folder = await experimentFolder('workspace: agent', { items: 6 });
    const one = await rig(folder);
    const seen: string[][] = [];
    await one.run(async ({ workspace }) => {
      seen.push(await readdir(workspace));
      await writeFile(join(workspace, 'left-behind'), 'by an earlier trial');
      return {};
    });
    expect(new Set(seen.map((names) => names.sort().join()))).toEqual(new Set(['agent.yaml,instructions']));
    expect(await readdir(join(folder, 'record'))).not.toContain('work');
    expect(await readdir(join(folder, 'agent'))).toEqual(['agent.yaml', 'instructions']);
  });

  test.each<[string, Told, RegExp]>([
    ['another text', { system: 'Answer questions.\nAnd be nice.' }, /^its text is not the one of its arm/],
    [
      'another text that was sent',
      { sent: 'Answer questions.\nAnd be nice.' },
      /text that was sent is not the one/,
    ],
    ['another model', { model: 'local/other' }, /its model is local\/other/],
    ['another model that answers', { modelSeen: 'cheap-1' }, /cheap-1 answered/],
    ['an answer that names no model', { modelSeen: null }, /a model without a name answered/],
  ])('with %s is invalid and never counted for the other arm', async (_what, told, reason) => {
    const one = await rig(await experimentFolder('modelSeen: scripted-1'));
    await one.run(({ side, task }) => (side === 'treatment' && task === 'Task 1?' ? told : {}));
    const { trials, analysis } = await report(one);
    const invalid = trials.filter((row) => row.outcome === 'invalid');
    expect(invalid.map(({ item, side }) => [item, side])).toEqual([['i1', 'treatment']]);
    expect(invalid[0]?.reason).toMatch(reason);
    expect(analysis.arms.control.outcomes.answered).toBe(8);
    expect(analysis.lost.pairs).toBe(1);
  });

  test('around which something changed is invalid: the agent folder, and the workspace', async () => {
    const folder = await experimentFolder('workspace: workspace', { items: 6, repeats: 2 });
    await mkdir(join(folder, 'workspace'));
    const one = await rig(folder);
    let trials = 0;
    await one.run(async () => {
      trials += 1;
      if (trials === 6) await writeFile(join(folder, 'agent/instructions/late.md'), 'Late.\n');
      if (trials === 12) await rm(join(folder, 'agent/instructions/late.md'));
      if (trials === 12) await writeFile(join(folder, 'workspace/late'), 'late');
      return {};
    });
    const made = await report(one);
    const reasons = made.trials.map(({ reason }) => reason?.replace(/ is .*/, '') ?? null);
    expect(reasons).toEqual([
      ...Array(6).fill(null),
      ...Array(6).fill('the agent folder'),
      ...Array(12).fill('the workspace'),
    ]);
    expect([made.exploratory, verifyReport(made).ok]).toEqual([true, true]);
    expect(made.notVerified).toContain(
      'The program, the machine or a tool changed while the experiment ran.',
    );
  });

  test('whose model is another than that of the first trial is invalid, and trials that end together are judged in the order of their lines', async () => {
    const one = await rig(await experimentFolder('', { items: 6, repeats: 2 }));
    let trials = 0;
    const tell = () => {
      trials += 1;
      return { modelSeen: trials % 2 === 1 ? 'scripted-1' : 'scripted-2' };
    };
    // The trial that ends first is graded longest, so that others have their lines before it.
    const { grader } = one.opened;
    let grades = 0;
    const grade: typeof grader.grade = async (input) => {
      grades += 1;
      if (grades === 1) await new Promise((resolve) => setTimeout(resolve, 200));
      return grader.grade(input);
    };
    await one.run(tell, { limits: { concurrency: 4 }, grader: { ...grader, grade } });
    const made = await report(one);
    const seen = made.trials.map(({ modelsSeen, outcome }) => [
      modelsSeen[0] === made.trials[0]?.modelsSeen[0],
      outcome,
    ]);
    expect(seen).toEqual(seen.map(([same]) => [same, same ? 'answered' : 'invalid']));
    expect(seen.filter(([same]) => !same)).toHaveLength(12);
    expect(one.journal.state()?.rows.map(({ outcome }) => outcome)).toEqual(
      made.trials.map(({ outcome }) => outcome),
    );
    expect(verifyReport(made).ok).toBe(true);
  });

  test('in which a canary reached the model is invalid', async () => {
    const one = await rig(await experimentFolder());
    const canaries: Canary[] = [{ name: 'memory', text: 'Read everything first' }];
    await one.run(() => ({}), { canaries });
    const invalid = (await report(one)).trials.filter((row) => row.outcome === 'invalid');
    expect(new Set(invalid.map((row) => `${row.side}: ${row.reason}`))).toEqual(
      new Set(['control: it was sent a canary: memory']),
    );
  });

  test('is looked through for a canary as JSON writes it, too', async () => {
    const one = await rig(await experimentFolder());
    const text = 'I said "never"\nand meant it';
    const found: Record<string, string> = {
      i1: text,
      i2: JSON.stringify({ text }),
      i3: JSON.stringify([JSON.stringify({ text })]),
      i4: 'I said "never" and meant it',
    };
    await one.run(({ stamp }) => ({ sent: found[stamp.item] ?? 'nothing' }), {
      canaries: [{ name: 'memory', text }],
    });
    const { trials } = await report(one);
    const items = trials.filter((row) => row.canaries.length > 0).map((row) => row.item);
    expect([...new Set(items)].sort()).toEqual(['i1', 'i2', 'i3']);
  });
});

describe('outages', () => {
  const sixOf20 = ({ side, task }: RunRequest): Told =>
    side === 'treatment' && Number(/\d+/.exec(task)?.[0]) <= 6
      ? { calls: [{ tool: 'run', code: 'sandbox.unavailable' }], answer: 'no' }
      : {};

  test('take their pairs out of both arms; above the limit nothing is said', async () => {
    const one = await rig(await experimentFolder('', { items: 20 }));
    await one.run(sixOf20);
    const { analysis, claims } = await report(one);
    expect(analysis.arms.treatment.outcomes).toMatchObject({ answered: 14, outage: 6 });
    expect(analysis.metrics[0]).toMatchObject({ estimate: { items: 14, control: 1, treatment: 1 } });
    expect(analysis.asymmetry).toMatchObject({ better: 0, worse: 6 });
    expect(claims).toEqual([
      expect.objectContaining({ kind: 'inconclusive', reason: 'lost-pairs', lost: 6, of: 20, limit: 0.1 }),
    ]);
  });

  test('below a registered limit leave a result, and the counts are shown', async () => {
    const one = await rig(await experimentFolder('errors: { limit: 0.4 }', { items: 20 }));
    await one.run(sixOf20);
    const { analysis, claims } = await report(one);
    expect([claims[0]?.kind, analysis.lost.pairs]).toEqual(['no-effect-detected', 6]);
  });

  test('what the agent brought about itself is a result and no pass', async () => {
    const one = await rig(await experimentFolder());
    await one.run(({ side }) => (side === 'treatment' ? { status: 'failed', code: 'budget.exhausted' } : {}));
    const { analysis, claims } = await report(one);
    expect(analysis.arms.treatment.outcomes).toMatchObject({ answered: 0, 'agent-failure': 8 });
    expect(claims[0]).toMatchObject({ kind: 'worse', control: 1, treatment: 0 });
  });

  test('that is all that there is compares nothing, and why trials failed is counted', async () => {
    const one = await rig(await experimentFolder('secondary: [{ metric: turns }]'));
    const code = 'native.approval-missing';
    await one.run(({ task }) =>
      task === 'Task 1?'
        ? { status: 'failed', code: 'budget.exhausted', calls: [{ tool: 'look', code: 'tool.failed' }] }
        : { status: 'failed', code, calls: [{ tool: 'book', code }] },
    );
    const { analysis, claims, notVerified } = await report(one);
    expect(claims).toMatchObject([{ kind: 'inconclusive', reason: 'no-answers' }]);
    expect(claims[0]?.text).toBe(
      'Inconclusive: no trial of either arm was answered, so that there is nothing to compare.',
    );
    expect(analysis.arms.control).toMatchObject({
      reasons: [
        { outcome: 'agent-failure', reason: code, trials: 7 },
        { outcome: 'agent-failure', reason: 'budget.exhausted', trials: 1 },
      ],
      callCodes: { [code]: 7, 'tool.failed': 1 },
    });
    expect(notVerified).toContainEqual(expect.stringMatching(/^In 14 trials a call that needs a person/));
  });

  test('are told apart by the registered codes alone', async () => {
    const one = await rig(await experimentFolder('errors: { outage: ["native.*"], limit: 0.9 }'));
    await one.run(({ task }) =>
      task === 'Task 1?'
        ? { status: 'failed', code: 'native.answer-empty' }
        : task === 'Task 2?'
          ? { status: 'failed', code: 'model.unreachable' }
          : {},
    );
    const { arms } = (await report(one)).analysis;
    expect(arms.control.outcomes).toMatchObject({ answered: 6, outage: 1, 'agent-failure': 1 });
  });

  test('five in a row end the call, and the trials that are left go on later', async () => {
    const one = await rig(await experimentFolder('', { items: 20 }));
    const down = one.run(() => ({ status: 'failed', code: 'model.unauthorized' }));
    await expect(down).rejects.toMatchObject({ code: 'prove.outages' });
    expect(one.journal.state()?.rows).toHaveLength(5);
    expect(await one.run(() => ({}))).toMatchObject({ here: 35, complete: true });
  });
});

describe('an outage before anything was sent', () => {
  const unreachable: Told = { status: 'failed', code: 'model.unreachable', dispatched: 'no' };

  test('has no outcome: five end the call, and the trials begin anew, which is counted', async () => {
    const one = await rig(await experimentFolder());
    await expect(one.run(() => unreachable)).rejects.toMatchObject({ code: 'prove.outages' });
    expect(one.journal.state()?.rows).toEqual([]);
    // It is still out of order: one attempt shows it.
    let attempts = 0;
    const again = one.run(() => {
      attempts += 1;
      return unreachable;
    });
    await expect(again).rejects.toMatchObject({ code: 'prove.outages' });
    expect(attempts).toBe(1);
    expect(standingOf(one.journal.state() as ExperimentState)).toMatchObject({ done: 0, lost: 0, unsent: 6 });
    expect(await one.run(() => ({}))).toMatchObject({ here: 16, complete: true });
    const { analysis, claims, exploratory, trials } = await report(one);
    expect([claims[0]?.kind, analysis.lost.pairs, exploratory]).toEqual(['no-effect-detected', 0, false]);
    expect(analysis.arms.control.unsent + analysis.arms.treatment.unsent).toBe(6);
    expect(trials[0]?.unsent).toEqual([
      { run: expect.any(String), reason: 'model.unreachable' },
      { run: expect.any(String), reason: 'model.unreachable' },
    ]);
  });

  test('of a single trial is tried again in the same call, behind all others', async () => {
    const one = await rig(await experimentFolder());
    const order: string[] = [];
    await one.run(({ task, side }) => {
      order.push(`${side} ${task}`);
      return order.length > 1 ? {} : unreachable;
    });
    expect([order.length, order[0]]).toEqual([17, order[16]]);
    expect((await report(one)).analysis.complete).toBe(true);
  });

  test.each<[string, Told]>([
    ['may have left the machine', { ...unreachable, dispatched: 'unknown' }],
    ['was answered once', { status: 'failed', code: 'model.unreachable' }],
    ['was no outage', { ...unreachable, code: 'budget.exhausted' }],
  ])('is none where a request %s', async (_what, told) => {
    const one = await rig(await experimentFolder('errors: { limit: 0.9 }'));
    await one.run(({ task }) => (task === 'Task 1?' ? told : {}));
    expect(one.journal.state()).toMatchObject({ unsent: [], rows: { length: 16 } });
  });
});

describe('a stop', () => {
  test('loses no finished trial, and what was cut off begins anew', async () => {
    const one = await rig(await experimentFolder());
    const stop = new AbortController();
    let trials = 0;
    const first = await one.run(
      () => {
        trials += 1;
        if (trials < 4) return {};
        stop.abort();
        return { status: 'cancelled', code: 'run.cancelled' };
      },
      { signal: stop.signal },
    );
    expect(first).toEqual({ trials: 16, done: 3, here: 3, complete: false });
    const second = await one.run(() => ({}));
    expect(second).toEqual({ trials: 16, done: 16, here: 13, complete: true });
    const { trials: rows } = await report(one);
    expect(rows.map((row) => row.interrupted).reduce((a, b) => a + b)).toBe(1);
    expect(new Set(rows.map((row) => row.run)).size).toBe(16);
  });

  test('a run that ended before its line was written is not run again', async () => {
    const one = await rig(await experimentFolder());
    const record = executeBy(one.store, one.opened, () => ({ answer: 'no' }));
    const { registration } = one.opened;
    const state = one.journal.state();
    await record({
      side: 'control',
      task: registration.items[0]?.task ?? '',
      workspace: '',
      stamp: {
        experiment: state?.id ?? '',
        item: 'i1',
        side: 'control',
        repeat: 1,
        surroundings: await lookAt(build, {
          agentFolder: agentFoldersOf(one.opened).control,
          source: null,
          copy: '',
        }),
      },
      signal: new AbortController().signal,
    });
    expect(await one.run(() => ({}))).toMatchObject({ done: 16, here: 15 });
    const row = (await report(one)).trials.find((one) => one.item === 'i1' && one.side === 'control');
    expect(row).toMatchObject({ outcome: 'answered', score: 0 });
  });

  test('works at most so many trials at once, and begins at most so many a minute', async () => {
    const one = await rig(await experimentFolder());
    let [busy, most] = [0, 0];
    const started: number[] = [];
    await one.run(
      async () => {
        busy += 1;
        most = Math.max(most, busy);
        started.push(performance.now());
        await new Promise((resolve) => setTimeout(resolve, 30));
        busy -= 1;
        return {};
      },
      { limits: { concurrency: 3, startsPerMinute: 6000 } },
    );
    expect(most).toBe(3);
    expect((started.at(-1) ?? 0) - (started[0] ?? 0)).toBeGreaterThan(140);
  });
});

describe('a judge', () => {
  const judged = async (instructions: string, model: string, score: (prompt: JudgePrompt) => number) => {
    const prompts: JudgePrompt[] = [];
    const folder = await experimentFolder('', {
      grader: `{ kind: judge, model: ${model}, prompt: judge.md, version: "1", lowest: 1, highest: 5 }`,
    });
    await writeFile(join(folder, 'judge.md'), instructions);
    const judge = async (prompt: JudgePrompt) => {
      prompts.push(prompt);
      return { text: `Well. {"score": ${score(prompt)}}`, modelSeen: 'judge-1', usage: noUsage };
    };
    return { folder, prompts, judge };
  };

  test('does not learn of which arm an answer is, and grades the arms mixed', async () => {
    const { folder, prompts, judge } = await judged('Judge.', 'local/judge', () => 4);
    const one = await rig(folder, { judge });
    await one.run(({ side, workspace }) => ({
      answer: `${side === 'control' ? 'first' : 'second'}, see ${workspace}/a.txt`,
      calls: [{ tool: side === 'control' ? 'ritual' : 'other' }],
    }));
    expect(prompts).toHaveLength(16);
    for (const prompt of prompts) expect(prompt.case).toMatch(/\n(first|second), see workspace\/a\.txt\n/);
    for (const prompt of prompts)
      expect(JSON.stringify(prompt)).not.toMatch(/control|treatment|ritual|run_|session_/);
    const order = prompts.map((prompt) => (prompt.case.includes('first') ? 'c' : 't')).join('');
    expect(order).not.toMatch(/^(c+t+|t+c+|(ct)+|(tc)+)$/);
    const { trials } = await report(one);
    expect(trials.every((row) => row.score === 0.75)).toBe(true);
  });

  test('that is another one gives other grades, and grades of two are never compared', async () => {
    const { folder, prompts, judge } = await judged('Judge.', 'local/judge', () => 5);
    const one = await rig(folder, { judge });
    await one.run(() => ({}));
    await writeFile(join(folder, 'judge.md'), 'Judge more strictly.');
    const strict = await openFolder(folder, {
      judge: async (prompt) => {
        prompts.push(prompt);
        return { text: '{"score": 1}', modelSeen: 'judge-1', usage: noUsage };
      },
    });
    await register(one.journal, strict.registration, {
      clock: systemClock,
      deviation: 'the judge was too kind',
    });
    await expect(report(one)).rejects.toMatchObject({ code: 'prove.mixed-graders' });
    await one.run(() => ({}), { grader: strict.grader });
    const { trials, exploratory } = await report(one);
    expect(prompts).toHaveLength(32);
    // Each judge has an order of its own, and neither has the one in which the trials ended.
    const graded = prompts.map((prompt) => Number(/Task (\d)\?/.exec(prompt.case)?.[1]));
    const ended = trials.map(({ item }) => Number(item.slice(1)));
    const orders = [ended, graded.slice(0, 16), graded.slice(16)].map((order) => order.join());
    expect(new Set(orders).size).toBe(3);
    expect([new Set(trials.map((row) => row.score)), exploratory]).toEqual([new Set([0]), true]);
  });

  test('that gives no score is asked again, and is then an outage', async () => {
    const { folder, prompts } = await judged('Judge.', 'local/judge', () => 5);
    const one = await rig(folder, {
      judge: async (prompt) => {
        prompts.push(prompt);
        return { text: 'I cannot say.', modelSeen: null, usage: noUsage };
      },
    });
    await one.run(() => ({}));
    expect(prompts).toHaveLength(48);
    expect(await kinds(one)).toEqual(['inconclusive']);
  });

  test('that has not graded all answers yet: a report is a look before the end', async () => {
    const { folder } = await judged('Judge.', 'local/judge', () => 5);
    const stop = new AbortController();
    let asked = 0;
    const one = await rig(folder, {
      judge: async () => {
        asked += 1;
        if (asked === 12) stop.abort();
        return { text: '{"score": 5}', modelSeen: 'judge-1', usage: noUsage };
      },
    });
    await one.run(() => ({}), { signal: stop.signal });
    const early = await report(one);
    const open = early.trials.filter(({ grader }) => grader === null).length;
    expect([early.trials.length, open > 0, early.exploratory]).toEqual([16, true, true]);
    expect(early.deviations).toMatchObject([
      {
        kind: 'looked-early',
        trials: 16,
        reason: `a report was made with ${open} of 16 trials still to be graded: a test`,
      },
    ]);
    await one.run(() => ({}));
    const late = await report(one);
    expect(late.trials.every(({ grader }) => grader !== null)).toBe(true);
    expect([late.exploratory, late.deviations.length]).toEqual([true, 1]);
  });

  test('without a model to ask is refused', async () => {
    const { folder } = await judged('Judge.', 'local/judge', () => 5);
    const one = await rig(folder);
    await expect(one.run(() => ({}))).rejects.toMatchObject({ code: 'prove.no-judge' });
  });
});

describe('a deviation', () => {
  test('a look before the end is recorded once, and the result is exploratory', async () => {
    const one = await rig(await experimentFolder());
    const stop = new AbortController();
    await one.run(() => ({}), { signal: stop.signal, onProgress: ({ done }) => done === 3 && stop.abort() });
    const { journal, opened } = one;
    const asked = { clock: systemClock, present: opened.registration };
    for (const look of [undefined, ' '])
      await expect(makeReport(journal, { ...asked, look })).rejects.toMatchObject({
        code: 'prove.not-ended',
      });
    expect(journal.state()).toMatchObject({ deviations: [], reports: [] });
    const early = await report(one);
    expect((await makeReport(journal, asked)).deviations).toEqual(early.deviations);
    expect(early.deviations).toMatchObject([{ kind: 'looked-early', trials: 3 }]);
    expect(early.claims).toMatchObject([{ kind: 'inconclusive', reason: 'incomplete' }]);
    await one.run(() => ({}));
    const late = await report(one);
    expect([late.exploratory, late.deviations.length]).toEqual([true, 1]);
    expect(late.claims[0]?.text).toMatch(/^Exploratory\. /);
    expect(verifyReport(late).ok).toBe(true);
  });

  test('an edit after the first trial needs a reason; an extension is one', async () => {
    const folder = await experimentFolder();
    const one = await rig(folder);
    await one.run(() => ({}));
    const { registration } = one.opened;
    const longer = { ...registration, repeats: 2 };
    const clock = systemClock;
    await expect(register(one.journal, longer, { clock })).rejects.toMatchObject({ code: 'prove.changed' });
    expect(await register(one.journal, longer, { clock, deviation: 'too few' })).toBe('deviated');
    const primary = { ...longer, alpha: 0.2 };
    expect(await register(one.journal, primary, { clock, deviation: 'a wish' })).toBe('deviated');
    expect(one.journal.state()?.deviations).toMatchObject([
      { kind: 'extended', paths: ['repeats'], reason: 'too few', trials: 16 },
      { kind: 'edited', paths: ['alpha'], reason: 'a wish' },
    ]);
    expect(await one.run(() => ({}))).toMatchObject({ trials: 32, here: 16 });
  });

  test.each<[string, Partial<Registration>]>([
    ['seed', { seed: 8 }],
    ['modelSeen', { modelSeen: 'another' }],
    ['fingerprintSeen', { fingerprintSeen: 'fp-1' }],
    ['server.wire', { server: { wire: 'anthropic' } }],
    ['budget', { budget: { turns: 1 } }],
    ['horizonMs', { horizonMs: 5 }],
    ['approvals', { approvals: 'grant' }],
    ['canaries.0', { canaries: ['c'] }],
    ['build.node', { build: { ...build, node: '21.0.0' } }],
  ])('what makes other trials is another experiment: %s', async (path, change) => {
    const one = await rig(await experimentFolder());
    await one.run(() => ({}));
    const other = { ...one.opened.registration, ...change };
    const asked = register(one.journal, other, { clock: systemClock, deviation: 'it seemed better' });
    await expect(asked).rejects.toMatchObject({ code: 'prove.changed', details: { paths: [path] } });
  });
});
