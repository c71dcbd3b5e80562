/** `writ runs`: what it shows of a record, and what a person can decide about a run. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Script, scriptedProvider } from '../../../test/scripted-provider.ts';
import { vocabulary } from '../../catalog.ts';
import { systemClock } from '../../clock.ts';
import { compose } from '../../compose/compose.ts';
import { loadAgent } from '../../compose/load/agent.ts';
import { settle } from '../../compose/settle.ts';
import { thisHolder } from '../../ledger/holder.ts';
import { sqliteStore } from '../../ledger/stores/sqlite.ts';
import { resolveModel } from '../../native/model/providers.ts';
import { native } from '../../native/native.ts';
import { defineTool } from '../../native/tool/define-tool.ts';
import type { RunResult } from '../../protocol/outcome.ts';
import { startRun } from '../../run/run.ts';
import { agentFolder, type CallOptions, call } from '../call.cases.ts';
import { type Origin, originRecord } from '../run/origin.ts';
import { noteOwn } from '../run/own-ledger.ts';

let cwd: string;
beforeEach(async () => {
  cwd = await agentFolder('model: local/scripted-1\nbudget: { turns: 3 }');
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

const runs = (argv: readonly string[], more: Partial<CallOptions> = {}) =>
  call(['runs', ...argv], { cwd, ...more });

async function withProvider<T>(script: Script, work: (url: string) => Promise<T>): Promise<T> {
  const provider = await scriptedProvider(script);
  const done = await work(provider.url);
  await provider.close();
  return done;
}

/** A run of the command line that ends well. */
const runOnce = (task = 'Which colour?') =>
  withProvider(
    [
      { text: 'I look.', calls: [{ id: 'c1', name: 'project_read', arguments: '{"path":"notes.txt"}' }] },
      { text: 'It is green.' },
    ],
    async (url): Promise<RunResult> =>
      JSON.parse((await call(['run', 'a', '--base-url', url, '--json', '--', task], { cwd })).stdout),
  );

/** A run that waits for an approval of a writing tool, which only a library caller can bring. */
async function pausedRun(origin?: Partial<Origin>): Promise<RunResult> {
  const send = defineTool({
    name: 'send',
    description: 'Sends.',
    parameters: { type: 'object' },
    capability: 'mail',
    access: 'write',
    repeat: 'once',
    execute: () => 'sent',
  });
  const agent = await loadAgent(join(cwd, 'a'), vocabulary);
  const store = sqliteStore({ path: join(cwd, '.writ/ledger.sqlite') });
  await noteOwn({ env: { HOME: cwd } }, store);
  const calls = [{ id: 'c1', name: 'send', arguments: '{"to":"\\u001b[31mada"}' }];
  return withProvider([{ calls }], async (baseUrl) => {
    const model = resolveModel('local/scripted-1', { env: {}, baseUrl });
    const result = await startRun({
      harness: native({ model, tools: [send] }),
      store,
      clock: systemClock,
      holder: thisHolder(),
      approve: 'pause',
      // With a text that the folder alone does not give: it composes differently when the run goes on.
      composition: compose(agent, await settle(agent, { texts: { session: 'You send.' } }, [])),
      capabilities: ['mail'],
      limits: {},
      task: 'Send it.',
      origin:
        origin === undefined
          ? {}
          : originRecord({
              agentFolder: join(cwd, 'a'),
              workspace: cwd,
              model: 'local/scripted-1',
              tools: [],
              situation: {},
              ...origin,
            }),
    });
    await model.close();
    await store.close();
    return result;
  });
}

describe('looking', () => {
  test('list names the newest first, with how each stands; nothing is made where there is no ledger', async () => {
    const first = await runOnce();
    const second = await runOnce();
    const { stdout } = await runs(['list']);
    expect(stdout.replaceAll(/\d{4}-[\d: -]+Z/g, 'WHEN')).toBe(
      [second, first]
        .map(
          ({ run, session }) =>
            `${run}  completed    WHEN  tester\n  ${session}\n  30 tokens · cost unknown · Which colour?\n`,
        )
        .join(''),
    );
    expect(JSON.parse((await runs(['list', '--limit', '1', '--json'])).stdout)).toMatchObject({
      ledger: join(cwd, '.writ/ledger.sqlite'),
      runs: [
        {
          ...{ run: second.run, session: second.session, agent: 'tester', state: 'completed' },
          known: { totalTokens: 30, costUsd: null },
        },
      ],
    });
    expect(await runs(['list', '--agent', 'nobody'])).toEqual({
      code: 0,
      stdout: '',
      stderr: `No runs of the agent 'nobody' in ${join(cwd, '.writ/ledger.sqlite')}.\n`,
    });
    expect(await runs(['list', '--limit', '0'])).toMatchObject({ code: 2, stdout: '' });
    const empty = await runs(['list', '--ledger', 'new/']);
    expect(empty).toEqual({ code: 0, stdout: '', stderr: `No runs in ${join(cwd, 'new/ledger.sqlite')}.\n` });
    await expect(import('node:fs/promises').then(({ stat }) => stat(join(cwd, 'new')))).rejects.toThrow();
  });

  test('show draws the whole run', async () => {
    const { run, session, prompt } = await runOnce();
    const { code, stdout } = await runs(['show', 'last']);
    expect(code).toBe(0);
    expect(stdout.replaceAll(/[\d.]+ m?s\b/g, 'T').replaceAll(/\d{4}-[\d: -]+Z/g, 'WHEN')).toBe(
      [
        `run      ${run}`,
        'state    completed',
        'agent    tester on native',
        'model    local/scripted-1',
        `prompt   ${prompt}`,
        `session  ${session} (run 1)`,
        'began    WHEN',
        '',
        'TASK',
        '  Which colour?',
        '',
        'TURN 1 · 15 tokens · cost unknown',
        '├─ I look.',
        '└─ 1 project_read {"path":"notes.txt"}',
        '   └─ ok · 89 bytes · T',
        '',
        'TURN 2 · 15 tokens · cost unknown',
        '└─ the answer',
        '',
        'USED 2 turns · 1 call · 30 tokens · cost unknown · T',
        '  turns       2 of 3, 1 left',
        '',
        'ANSWER',
        '  It is green.',
        '',
        `session: ${session}`,
        '',
      ].join('\n'),
    );
  });

  test('show --json is the same as one object, and --prompt the exact instructions', async () => {
    const { run, prompt } = await runOnce();
    expect(JSON.parse((await runs(['show', run, '--json'])).stdout)).toMatchObject({
      run,
      state: 'completed',
      task: 'Which colour?',
      answer: 'It is green.',
      turns: [
        { turn: 1, text: 'I look.', calls: [{ tool: 'project_read', result: { status: 'ok', bytes: 89 } }] },
        { turn: 2, calls: [] },
      ],
    });
    const shown = await runs(['show', 'last', '--prompt']);
    expect(shown).toEqual({ code: 0, stdout: 'You answer tests.\n', stderr: '' });
    const asJson = await runs(['show', 'last', '--prompt', '--json']);
    expect(JSON.parse(asJson.stdout)).toEqual({ run, prompt, text: 'You answer tests.\n' });
    const { sha256 } = await import('../../digest.ts');
    expect(sha256(shown.stdout)).toBe(prompt);
  });

  test('show --calls gives arguments and results in full', async () => {
    await runOnce();
    const { stdout } = await runs(['show', 'last', '--calls']);
    expect(stdout.replaceAll(/[\d.]+ m?s\b/g, 'T')).toContain(
      [
        '└─ 1 project_read',
        '   ├─ {"path":"notes.txt"}',
        '   └─ ok · 89 bytes · T',
        '      └─ {"path":"notes.txt",',
      ].join('\n'),
    );
  });

  test('show --message prints the text of a digest that the record names, by its beginning', async () => {
    const { run } = await runOnce();
    const lines = (await runs(['events', run, '--json'])).stdout.trimEnd().split('\n');
    const events = lines.map((line) => JSON.parse(line));
    const { text } = events.find((event) => event.type === 'message-finish');
    for (const word of [text, text.slice(0, 12)])
      expect(await runs(['show', run, '--message', word])).toEqual({
        code: 0,
        stdout: 'I look.\n',
        stderr: '',
      });
    const asJson = await runs(['show', run, '--message', text, '--json']);
    expect(JSON.parse(asJson.stdout)).toEqual({ run, message: text, text: 'I look.' });
    const { body } = events.find((event) => event.type === 'model-request');
    for (const [word, why] of [
      ['0123456789abcdef', "found '0123456789abcdef'"],
      ['', "found ''"],
      [body, 'The body of a request is kept as its messages'],
    ]) {
      const refused = await runs(['show', run, '--message', word]);
      expect(refused).toMatchObject({ code: 2, stdout: '' });
      expect(refused.stderr).toContain(why);
    }
  });

  test('events prints the record in order, as lines or as lines of JSON', async () => {
    const { run } = await runOnce();
    const all = (await runs(['events', run, '--json'])).stdout.trimEnd().split('\n');
    const events = all.map((line) => JSON.parse(line));
    expect(events.map((event) => event.seq)).toEqual(events.map((_, i) => i + 1));
    // Nobody sits there, so nobody is to be asked.
    expect(events[0]).toMatchObject({ type: 'run-start', approve: 'deny' });
    expect(events.at(-1)).toMatchObject({ type: 'run-finish', run });
    const after = (await runs(['events', run, '--after', String(events.length - 1)])).stdout;
    expect(after).toMatch(
      new RegExp(`^ *${events.length} {2}\\d{4}-.+Z {2}run-finish +\\{"status":"completed".+\n$`),
    );
  });

  test('a run is found by its beginning and its end; what fits several or none is bad input', async () => {
    const one = await runOnce();
    const two = await runOnce();
    for (const word of [one.run, one.run.slice(-8), one.run.slice(0, -2), one.run.slice(4, -2)])
      expect(JSON.parse((await runs(['show', word, '--json'])).stdout).run).toBe(one.run);
    const several = await runs(['show', 'run_0']);
    expect(several).toMatchObject({ code: 2, stdout: '' });
    expect(several.stderr).toContain('error cli.ambiguous-run: Expected one run, found 2');
    expect(several.stderr).toContain(two.run);
    for (const word of ['nothing', ''])
      expect((await runs(['show', word])).stderr).toContain('error run.unknown-run');
  });
});

describe('answering', () => {
  test.each([
    ['approve', [], { decision: 'approved', reason: '' }],
    ['deny', ['--reason', 'Not today.'], { decision: 'denied', reason: 'Not today.' }],
  ])('%s records who said what, once, and names the next command', async (verb, flags, answer) => {
    const { run, ticket } = await pausedRun();
    const shown = (await runs(['show', 'last'])).stdout;
    expect(shown).toContain('waiting for an approval of send {"to":"\\u001b[31mada"}');
    expect(shown).toContain(`  allow: writ runs approve ${run} ${ticket?.id}\n`);
    expect(shown).toContain('  then:  resume it with the program that started it\n');
    const wrong = await runs([verb, run, 'ticket_other', ...flags]);
    expect(wrong).toMatchObject({ code: 2, stdout: '' });
    const given = await runs([verb, run, ticket?.id ?? '', ...flags], { env: { USER: 'ada' } });
    expect(given).toEqual({
      code: 0,
      stdout: `${answer.decision} send {"to":"\\u001b[31mada"}\nnext: resume it with the program that started it\n`,
      stderr: '',
    });
    const events = (await runs(['events', run, '--json'])).stdout.trimEnd().split('\n');
    expect(JSON.parse(events.at(-1) ?? '')).toMatchObject({ type: 'approval-answer', by: 'ada', ...answer });
    for (const again of [[ticket?.id ?? ''], []])
      expect((await runs([verb, run, ...again])).stderr).toContain(
        `error run.unknown-ticket: Ticket ${ticket?.id} of run ${run} was already ${answer.decision} by ada.\n`,
      );
  });

  test('the one open question need not be named, and somebody else may be said to answer it', async () => {
    const { run, ticket } = await pausedRun();
    const refused = await runs(['approve', run, '--by', ' ']);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    const given = await runs(['approve', 'last', '--by', 'the desk', '--json']);
    expect(JSON.parse(given.stdout)).toMatchObject({
      ...{ run, ticket: ticket?.id, decision: 'approved', by: 'the desk', tool: 'send' },
    });
  });
});

describe('resuming', () => {
  test('goes on with the recorded instructions on the same server, and says that the folder changed', async () => {
    await withProvider([{ text: 'I could not send it.' }], async (baseUrl) => {
      const { run, ticket } = await pausedRun({ baseUrl });
      await runs(['deny', run, ticket?.id ?? '']);
      const { code, stdout, stderr } = await runs(['resume', 'last']);
      expect({ code, stdout }).toEqual({ code: 0, stdout: 'I could not send it.\n' });
      expect(stderr).toMatch(new RegExp(`${run} goes on after event \\d+\\n`));
      expect(stderr).toContain('notice: The agent folder composes differently now');
      const again = await runs(['resume', 'last']);
      expect(again).toMatchObject({ code: 3, stdout: '' });
      expect(again.stderr).toContain('error run.already-ended');
    });
  });

  test('without a terminal and an answer the run waits on, and its question can still be answered', async () => {
    const file = join(cwd, 'a/agent.yaml');
    const yaml = await readFile(file, 'utf8');
    await writeFile(file, yaml.replace('project: true', 'edit: true').replace('project_read', 'file_write'));
    const write = { id: 'c1', name: 'file_write', arguments: '{"path":"new.txt","content":"x"}' };
    await withProvider([{ calls: [write] }, { text: 'Not written.' }], async (baseUrl) => {
      const start = ['run', 'a', '--base-url', baseUrl, '--approve', 'pause', '--json', '--', 'Write.'];
      const { run, ticket }: RunResult = JSON.parse((await call(start, { cwd })).stdout);
      for (const flags of [[], ['--json']]) {
        expect((await runs(['resume', run, ...flags])).code).toBe(5);
        expect(JSON.parse((await runs(['show', run, '--json'])).stdout)).toMatchObject({
          state: 'paused',
          ticket: { id: ticket?.id },
        });
      }
      expect((await runs(['deny', run, ticket?.id ?? ''])).code).toBe(0);
      expect(await runs(['resume', run])).toMatchObject({ code: 0, stdout: 'Not written.\n' });
    });
  });

  test('a folder that is gone only costs the comparison', async () => {
    await withProvider([{ text: 'Gone.' }], async (baseUrl) => {
      await pausedRun({ baseUrl, agentFolder: join(cwd, 'moved') });
      const { code, stderr } = await runs(['resume', 'last', '--approve', 'pause']);
      expect(code).toBe(0);
      expect(stderr).toContain('notice: the agent folder cannot be composed now');
      expect(stderr).toContain('compose.no-agent');
    });
  });

  test('new limits lie over those of its start', async () => {
    const { run } = await pausedRun({ baseUrl: 'http://127.0.0.1:9/v1' });
    const { code, stdout } = await runs(['resume', run, '--budget', 'turns=1', '--json']);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      error: { code: 'budget.exhausted' },
      budget: { turns: { limit: 1 } },
    });
  });

  test('a session that the command line started goes on with a command', async () => {
    const { run } = await pausedRun({});
    expect((await runs(['show', 'last'])).stdout).toContain(`  then:  writ runs resume ${run}\n`);
  });

  test('a session of another program is refused', async () => {
    await pausedRun();
    const { code, stderr } = await runs(['resume', 'last']);
    expect(code).toBe(3);
    expect(stderr).toContain('error cli.not-rebuildable');
  });
});

describe('ending', () => {
  test('a run that waits is ended here, and its open call is settled', async () => {
    const { run } = await pausedRun({});
    const { code, stdout } = await runs(['cancel', run], { env: { USER: 'ada' } });
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${run} cancelled\n` });
    const events = (await runs(['events', run, '--json'])).stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events.find((event) => event.type === 'tool-result')).toMatchObject({ status: 'not-run' });
    expect(events.find((event) => event.type === 'cancel-request')).toMatchObject({
      reason: 'by ada with writ runs cancel',
    });
    expect((await runs(['cancel', run])).stderr).toContain('error run.already-ended');
  });

  test.each([
    ['another machine', `elsewhere-${hostname()}:1:1`],
    ['another form', 'somebody'],
  ])('a run at work in a process of %s is left alone', async (_where, holder) => {
    const { run } = await pausedRun({});
    const store = sqliteStore({ path: join(cwd, '.writ/ledger.sqlite') });
    await store.acquire(run, holder, 60_000);
    await store.close();
    const { code, stderr } = await runs(['cancel', run]);
    expect(code).toBe(3);
    expect(stderr).toContain('error cli.held-elsewhere');
    expect((await runs(['show', run])).stdout).toContain('\nstate    running\n');
  });
});

describe('forgetting', () => {
  test('asks for --yes, then nothing of the session is left', async () => {
    const { run, session } = await runOnce();
    const kept = await runOnce('Another task');
    const asked = await runs(['forget', run]);
    expect(asked).toMatchObject({ code: 3, stdout: '' });
    expect(asked.stderr).toContain(`Expected --yes before session ${session} with 1 run`);
    expect(await runs(['forget', session, '--yes'])).toEqual({
      code: 0,
      stdout: `removed session ${session} with 1 run\n`,
      stderr: '',
    });
    expect(JSON.parse((await runs(['list', '--json'])).stdout).runs).toMatchObject([{ run: kept.run }]);
    expect((await runs(['forget', session, '--yes'])).code).toBe(2);
  });
});
