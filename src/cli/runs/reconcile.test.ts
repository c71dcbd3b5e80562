/** `writ runs reconcile`, and what the other commands say of effects that nobody saw end; any program's run can be cancelled. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Script, scriptedProvider } from '../../../test/scripted-provider.ts';
import { systemClock } from '../../clock.ts';
import { plainComposition } from '../../compose/plain.ts';
import { thisHolder } from '../../ledger/holder.ts';
import type { Store } from '../../ledger/store.ts';
import { sqliteStore } from '../../ledger/stores/sqlite.ts';
import { resolveModel } from '../../native/model/providers.ts';
import { native } from '../../native/native.ts';
import { defineTool, notDispatched } from '../../native/tool/define-tool.ts';
import type { RunEvent } from '../../protocol/events.ts';
import type { RunResult } from '../../protocol/outcome.ts';
import { resumeRun, startRun } from '../../run/run.ts';
import { agentFolder, type CallOptions, call } from '../call.cases.ts';
import { type Origin, originRecord } from '../run/origin.ts';
import { noteOwn } from '../run/own-ledger.ts';

let cwd: string;
beforeEach(async () => {
  cwd = await agentFolder('model: local/scripted-1');
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

const runs = (argv: readonly string[], more: Partial<CallOptions> = {}) =>
  call(['runs', ...argv], { cwd, env: { USER: 'ada' }, ...more });

const one = { id: 'c1', name: 'send', arguments: '{"to":"\\u001b[31mada"}' };
const two = { id: 'c2', name: 'send', arguments: '{"to":"bob"}' };
const sends: string[] = [];

interface Parts {
  readonly execute?: (args: unknown) => unknown;
  /** Fails from the first event of this type on, as a killed process would. */
  readonly diesAt?: string;
  /** As if the command line had started it. */
  readonly origin?: Partial<Origin>;
}

/** A run of a program of its own, whose tool no command line could build; `resume` carries it on. */
async function program(
  script: Script,
  { execute, diesAt, origin }: Parts = {},
  resume?: string,
): Promise<RunResult> {
  const send = defineTool({
    name: 'send',
    description: 'Sends.',
    parameters: { type: 'object' },
    capability: 'mail',
    access: 'write',
    repeat: 'once',
    effectKey: () => 'mail',
    execute: async (args) => {
      sends.push(JSON.stringify(args));
      if (execute !== undefined) return execute(args);
      throw new Error('the line was cut');
    },
  });
  const file = sqliteStore({ path: join(cwd, '.writ/ledger.sqlite') });
  await noteOwn({ env: { HOME: cwd } }, file);
  let dead = false;
  const store: Store = {
    ...file,
    async append(lease, events, options) {
      dead ||= events.some(({ type }) => type === diesAt);
      if (dead) throw new Error('the process is gone');
      return file.append(lease, events, options);
    },
  };
  const provider = await scriptedProvider(script);
  const model = resolveModel('local/scripted-1', { env: {}, baseUrl: provider.url });
  const seat = {
    ...{ harness: native({ model, tools: [send] }), store, clock: systemClock, holder: thisHolder() },
    ...{ approve: 'ask' as const },
    ask: async () => ({ decision: 'approved' as const, by: 'ana', reason: '' }),
  };
  const composition = plainComposition('mailer', 'You send.');
  const result =
    resume === undefined
      ? await startRun({
          ...seat,
          ...{ composition, capabilities: ['mail'], limits: { turns: 5 }, task: 'Send it.' },
          origin: origin === undefined ? {} : originRecord({ ...plainOrigin(), ...origin }),
        })
      : await resumeRun({ ...seat, run: resume, promptNow: null });
  await model.close();
  await store.close();
  await provider.close();
  return result;
}

const plainOrigin = (): Origin => ({
  ...{ agentFolder: join(cwd, 'a'), workspace: cwd, model: 'local/scripted-1', tools: [], situation: {} },
});

/** Sent once, its process gone before anything came back. */
const interrupted = () =>
  program([{ calls: [one, two] }], { execute: () => 'sent', diesAt: 'effect-observe' });
const events = async (run: string): Promise<RunEvent[]> =>
  (await runs(['events', run, '--json'])).stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

describe('what is unknown', () => {
  test('is listed with what is known and what can be done', async () => {
    const { run } = await interrupted();
    const { code, stdout, stderr } = await runs(['reconcile', 'last']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.replaceAll(/\d{4}-[\d: -]+Z/g, 'WHEN')).toBe(
      [
        '1.1 send {"to":"\\u001b[31mada"}',
        '  sent WHEN, 1 attempt, once, approved by ana',
        '  unknown because: its process ended before a result was recorded',
        "  until it is settled, calls of 'mail' wait",
        `  it happened:   writ runs reconcile ${run} 1.1 --observed --reason "…"`,
        `  it did not:    writ runs reconcile ${run} 1.1 --not-dispatched --reason "…"`,
        `  give it up:    writ runs reconcile ${run} 1.1 --abandon --reason "…"`,
        `  send it again: writ runs reconcile ${run} 1.1 --retry --reason "…"`,
        '',
        'Resuming asks the tools that can look, and sends none of these again:',
        '  resume it with the program that started it',
        '',
      ].join('\n'),
    );
    expect(JSON.parse((await runs(['reconcile', 'last', '--json'])).stdout)).toMatchObject({
      run,
      state: 'interrupted',
      unknown: [
        {
          ...{ effect: '1.1', tool: 'send', repeat: 'once', key: 'mail', attempts: 1, approvedBy: 'ana' },
          can: ['observed', 'not-dispatched', 'abandoned', 'retry-authorized'],
        },
      ],
    });
    const shown = (await runs(['show', run])).stdout;
    expect(shown).toContain(
      `\nunknown: 1.1 send; it may have happened\n  decide: writ runs reconcile ${run}\n`,
    );
  });

  test('is not what a living process has just sent', async () => {
    const { run } = await interrupted();
    const store = sqliteStore({ path: join(cwd, '.writ/ledger.sqlite') });
    const lease = await store.acquire(run, thisHolder(), 60_000);
    expect((await runs(['reconcile', run])).stdout).toBe('');
    expect((await runs(['show', run])).stdout).not.toContain('it may have happened');
    await store.release(lease);
    await store.close();
    expect((await runs(['reconcile', run])).stdout).toContain('1.1 send');
  });

  test('is nothing where all was seen', async () => {
    const { run } = await program([{ calls: [one] }, { text: 'Sent.' }], { execute: () => 'sent' });
    expect(await runs(['reconcile', run])).toEqual({
      code: 0,
      stdout: '',
      stderr: `Nothing that ${run} did is unknown.\n`,
    });
    expect(JSON.parse((await runs(['reconcile', run, '--json'])).stdout)).toEqual({
      run,
      state: 'completed',
      unknown: [],
    });
  });
});

describe('a decision', () => {
  test.each<[string[], string, object, string, number]>([
    [['--observed'], 'observed', { answer: 'observed' }, 'A person looked: it was carried out. Rang.', 0],
    [['--observed', 'Sent as M-7.'], 'observed', { answer: 'observed' }, 'Sent as M-7.', 0],
    [['--observed', 'Refused: full.', '--failed'], 'observed', { answer: 'observed' }, 'Refused: full.', 0],
    [['--not-dispatched'], 'not-dispatched', { answer: 'not-dispatched' }, 'sent', 1],
    [['--abandon'], 'abandoned', { decision: 'abandoned' }, 'A person gave it up as unknown.', 0],
    [['--retry'], 'retry-authorized', { decision: 'retry-authorized' }, 'sent', 1],
  ])(
    '%j is recorded with who and why, and a resume acts on it',
    async (flags, state, told, answer, again) => {
      const { run } = await interrupted();
      // Named in full, or left out where only one is unknown.
      const effect = flags.includes('--abandon') ? [] : ['1.1'];
      const given = await runs(['reconcile', run, ...effect, ...flags, '--reason', 'Rang.']);
      expect(given).toEqual({
        code: 0,
        stdout: `1.1 send: ${state}\nnext: resume it with the program that started it\n`,
        stderr: '',
      });
      expect(
        (await events(run)).find(({ type }) => type === 'effect-reconcile' || type === 'effect-resolve'),
      ).toMatchObject({ turn: 1, position: 1, by: 'ada', reason: 'Rang.', ...told });
      const [shown] = JSON.parse((await runs(['show', run, '--json'])).stdout).turns[0].calls;
      const text = state === 'observed' ? { text: answer } : {};
      expect(shown.attempts).toMatchObject([
        { attempt: 1, state, decisions: [{ decision: state, by: 'ada', reason: 'Rang.', ...text }] },
      ]);
      const drawn = (await runs(['show', run])).stdout;
      expect(drawn).toMatch(/decided by ada: .* \(Rang\.\)\n/);
      if (state === 'observed') expect(drawn).toContain(answer);
      sends.length = 0;
      const told2: Script = ({ json }) => ({ text: String(json.messages.at(-2).content) });
      const done = await program(told2, { execute: () => 'sent' }, run);
      expect(done).toMatchObject({ status: 'completed', answer: expect.stringContaining(answer) });
      // The second call of the batch waited for the first, and was sent once that was settled.
      expect(sends).toHaveLength(again + 1);
    },
  );

  test('says who it is by where it is not you, as JSON too', async () => {
    const { run } = await interrupted();
    const flags = ['--abandon', '--reason', 'Old.', '--by', 'the desk', '--json'];
    expect(JSON.parse((await runs(['reconcile', run, '1.1', ...flags])).stdout)).toEqual({
      run,
      effect: '1.1',
      tool: 'send',
      decision: 'abandoned',
      by: 'the desk',
      reason: 'Old.',
      next: 'resume it with the program that started it',
    });
  });

  test.each<[string[], string, number]>([
    [['1.1', '--abandon'], 'run.reason-missing', 2],
    [['1.1', '--abandon', '--retry', '--reason', 'x'], 'cli.bad-value', 2],
    [['1.1', '--failed', '--abandon', '--reason', 'x'], 'cli.bad-value', 2],
    [['1.1', '--reason', 'x'], 'cli.bad-value', 2],
    [['first', '--abandon', '--reason', 'x'], 'cli.bad-value', 2],
    [['9.9', '--abandon', '--reason', 'x'], 'run.unknown-effect', 2],
  ])('%j is refused, and nothing is recorded', async (argv, error, code) => {
    const { run } = await interrupted();
    const before = await events(run);
    const refused = await runs(['reconcile', run, ...argv]);
    expect(refused).toMatchObject({ code, stdout: '' });
    expect(refused.stderr).toContain(`error ${error}`);
    expect(await events(run)).toEqual(before);
  });
});

test('a result with something unknown says so, and such a session is not forgotten', async () => {
  const { run, session } = await program([{ calls: [one] }, { text: 'I do not know.' }]);
  const listed = (await runs(['reconcile', run])).stdout;
  expect(listed).toContain('unknown because: It broke off: the line was cut');
  // It has ended, so nobody would send it again.
  expect(listed).not.toContain('--retry');
  const refused = await runs(['forget', session, '--yes']);
  expect(refused).toMatchObject({ code: 3, stdout: '' });
  expect(refused.stderr).toContain('error run.effects-open');
  expect(refused.stderr).toContain(`writ runs reconcile ${run}`);
  await runs(['reconcile', run, '--observed', '--reason', 'It stands in the outbox.']);
  expect((await runs(['forget', session, '--yes'])).code).toBe(0);
});

describe('cancelling the run of another program', () => {
  test('needs no agent and no model: open calls are settled in the words of its session', async () => {
    const { run, session } = await interrupted();
    const { code, stdout, stderr } = await runs(['cancel', run]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${run} cancelled\n` });
    expect(stderr).toContain(
      `unknown: 1.1 send; it may have happened\n  decide: writ runs reconcile ${run}\n`,
    );
    const next = `Settle first what is unknown, with: writ runs reconcile ${run}. Then: Start the task again`;
    expect((await runs(['show', run])).stdout).toContain(`\nnext: ${next}`);
    expect(JSON.parse((await runs(['show', run, '--json'])).stdout).error.next).toContain(next);
    const results = (await events(run)).flatMap((event) =>
      event.type === 'tool-result' ? [[event.position, event.status]] : [],
    );
    expect(results).toEqual([
      [1, 'unknown'],
      [2, 'not-run'],
    ]);
    const store = sqliteStore({ path: join(cwd, '.writ/ledger.sqlite') });
    const last = (await events(run)).findLast(({ type }) => type === 'tool-result');
    const message = last?.type === 'tool-result' ? await store.blob(last.message) : undefined;
    await store.close();
    expect(JSON.parse(Buffer.from(message ?? '').toString())).toMatchObject({
      role: 'tool',
      tool_call_id: 'c2',
    });
    expect(session).toBe((await events(run))[0]?.type === 'run-start' ? session : '');
    expect((await runs(['cancel', run])).stderr).toContain('error run.already-ended');
  });

  test('works where only that program can write the session on: the run is ended all the same', async () => {
    const store = sqliteStore({ path: join(cwd, '.writ/ledger.sqlite') });
    const broken = new Error('the process is gone');
    const dying: Store = {
      ...store,
      append: async (lease, bodies, options) => {
        if (bodies.some(({ type }) => type === 'turn-start')) throw broken;
        return store.append(lease, bodies, options);
      },
    };
    const { run } = await startRun({
      ...{ store: dying, clock: systemClock, holder: thisHolder(), approve: 'deny', limits: {}, origin: {} },
      ...{ composition: plainComposition('other', 'Other.'), capabilities: [], task: 'Go.' },
      harness: {
        ...{ name: 'theirs', model: null, unkeepable: () => [] },
        declares: {
          budget: 'enforced',
          approval: 'enforced',
          effects: 'enforced',
          resume: 'enforced',
          cancel: 'enforced',
        },
        project: async () => ({ tools: [], text: '' }),
        open: async (_session, host) => ({
          // biome-ignore lint/correctness/useYield: it has no turns.
          async *turns() {
            await host.record([{ type: 'turn-start', turn: 1 }]);
            return { status: 'completed', answer: '' } as const;
          },
          close: async () => {},
        }),
      },
    });
    await store.close();
    expect(await runs(['cancel', run])).toEqual({ code: 0, stdout: `${run} cancelled\n`, stderr: '' });
    expect((await events(run)).at(-1)).toMatchObject({ type: 'run-finish', status: 'cancelled' });
  });
});

test('a resume says what is unknown before it goes on, and what is left to decide at its end', async () => {
  const provider = await scriptedProvider([{ text: 'I do not know.' }]);
  const { run } = await program([{ calls: [one] }], {
    execute: () => 'sent',
    diesAt: 'effect-observe',
    origin: { baseUrl: provider.url },
  });
  const { code, stdout, stderr } = await runs(['resume', run]);
  await provider.close();
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'I do not know.\n' });
  expect(stderr).toMatch(
    /^unknown: 1\.1 send was sent, and no result was recorded; it is not repeated; a tool that can look is asked what became of it\n/,
  );
  expect(stderr).toMatch(
    new RegExp(`unknown: 1\\.1 send; it may have happened\n {2}decide: writ runs reconcile ${run}\n$`),
  );
});

test('a run that waits for what is missing says so, and how to go on', async () => {
  const { run, status } = await program([{ calls: [one] }], {
    execute: () => notDispatched('unavailable', 'The box is down.', { park: true }),
  });
  expect(status).toBe('paused');
  const shown = (await runs(['show', run])).stdout;
  expect(shown).toContain('\nstate    paused\n');
  expect(shown).toContain("error native.setup-unavailable: 'send' cannot begin. The box is down.");
  expect(shown).toContain('next: resume it with the program that started it\n');
});
