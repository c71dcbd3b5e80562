/** Whole runs of programs behind every adapter: what is recorded, what is refused, and how each way to end is told. */
import { readdir } from 'node:fs/promises';
import { afterEach, describe, expect, test } from 'vitest';
import type { Intent } from '../../protocol/intent.ts';
import { type DriveRig, driven, openDriveRig, prints, recorded } from './drive.cases.ts';

let rig: DriveRig;
afterEach(() => rig.close());

const keys = { OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k', GEMINI_API_KEY: 'k' };

async function open(name: string, body: string, env: Readonly<Record<string, string>> = {}) {
  rig = await openDriveRig(name, body, { ...keys, ...env });
  return rig;
}

/** The program of each harness asked for this tool when its output was recorded. */
const tools: Readonly<Record<string, string>> = {
  'claude-code': 'Read',
  codex: 'shell',
  gemini: 'read_file',
  opencode: 'read',
  pi: 'read',
  'qwen-code': 'read_file',
};

/** An intent for which there is no control. */
const lacking: Readonly<Record<string, Intent>> = { codex: 'append', gemini: 'append' };

describe.each(driven.map(({ name }) => name))('%s', (name) => {
  test('a recorded turn with a call becomes the events and the result of a run of our own', async () => {
    const rig = await open(name, prints(await recorded(name, 'tool-call')));
    const result = await rig.run('Read the file.');
    expect(result).toMatchObject({
      status: 'completed',
      harness: name,
      answer: 'The file says intruder.',
      error: null,
      turns: 2,
      toolCalls: 1,
      usage: { modelCalls: 2, costUsd: null, costSource: 'unknown' },
    });
    const types = rig.events.map(({ type }) => type).filter((type) => type !== 'notice');
    expect(types.filter((type) => type !== 'usage-report')).toEqual([
      ...[
        'run-start',
        'effect-dispatch',
        'delivery-receipt',
        'vendor-session',
        'turn-start',
        'message-finish',
      ],
      ...['tool-call', 'tool-result', 'turn-finish', 'turn-start', 'message-finish', 'turn-finish'],
      ...['effect-observe', 'run-finish'],
    ]);
    expect(rig.events.find(({ type }) => type === 'tool-call')).toMatchObject({
      turn: 1,
      position: 1,
      tool: tools[name],
      observed: true,
    });
    expect(rig.events.find(({ type }) => type === 'tool-result')).toMatchObject({ turn: 1, status: 'ok' });
    const receipt = rig.events.find((event) => event.type === 'delivery-receipt')?.receipt;
    expect(receipt).toMatchObject({ harness: name, bytes: 'You answer tests.'.length });
    expect(JSON.stringify(receipt)).not.toContain('You answer tests.');
  });

  test('a request that the provider refused is a failure, whatever text was printed before', async () => {
    const rig = await open(name, prints(await recorded(name, 'refused')));
    expect(await rig.run('x')).toMatchObject({
      status: 'failed',
      answer: null,
      error: { code: 'deliver.program-failed', message: expect.stringMatching(/40[01]/) },
    });
  });

  test.each([
    ['ends without a word', '', 0],
    ['prints what is no event', 'hello\n{"type":"surprise"}\n{broken', 0],
  ])('a program that %s has not answered', async (_what, text, code) => {
    const rig = await open(name, prints(text, code));
    const { status, error } = await rig.run('x');
    expect([status, error?.kind]).toEqual(['failed', 'failed']);
    expect(error?.code).toMatch(/^deliver\.(no-answer|program-failed)$/);
  });

  test('an output that breaks off is no answer', async () => {
    const lines = (await recorded(name, 'tool-call')).trimEnd().split('\n');
    for (const kept of [lines.length >> 1, lines.length - (name === 'pi' ? 2 : 1)]) {
      const rig = await open(name, prints(`${lines.slice(0, kept).join('\n')}\n`));
      expect(await rig.run('x')).toMatchObject({ status: 'failed', answer: null });
      await rig.close();
    }
  });

  test('a good end with another exit code than 0 is none', async () => {
    const rig = await open(name, prints(await recorded(name, 'tool-call'), 3));
    expect(await rig.run('x')).toMatchObject({
      status: 'failed',
      error: { code: 'deliver.program-failed', message: expect.stringContaining('exit code 3') },
    });
  });

  test('an intent without a control is refused: no start, no home, no session', async () => {
    const rig = await open(name, prints(await recorded(name, 'tool-call')));
    const intent = lacking[name] ?? 'developer';
    await expect(rig.run('x', {}, { intent })).rejects.toMatchObject({
      code: 'deliver.no-control',
      kind: 'refused',
      details: { harness: name, field: 'intent' },
    });
    expect(await rig.starts()).toEqual([]);
    expect(await readdir(rig.root)).toEqual(['program.mjs', 'workspace']);
    expect(await readdir(rig.workspace)).toEqual([]);
    expect(await rig.store.runs()).toEqual([]);
  });

  test('tokens are counted once: cached ones are a part of the prompt', async () => {
    const rig = await open(name, prints(await recorded(name, 'usage')));
    const result = await rig.run('x');
    expect(result).toMatchObject({ status: 'completed', answer: 'Done.', error: null });
    expect(result.usage).toMatchObject({
      promptTokens: 1000,
      cachedTokens: 600,
      completionTokens: 100,
      totalTokens: 1100,
      costUsd: null,
    });
  });

  test('the environment is a short list, the folder the workspace, and no prompt file stays', async () => {
    const around = { SECRET_OF_MINE: 'canary', TRACEPARENT: '00-1', WRIT_LIVE_MODEL: 'm' };
    const rig = await open(name, prints(await recorded(name, 'tool-call')), around);
    const { session } = await rig.run('The task.');
    const [start] = await rig.starts();
    expect(start?.cwd).toBe(rig.workspace);
    expect(start?.env).toMatchObject({ HOME: rig.root, PWD: rig.workspace, NO_COLOR: '1' });
    for (const variable of Object.keys(around)) expect(start?.env).not.toHaveProperty(variable);
    expect((start?.stdin ?? '') + (start?.argv.join(' ') ?? '')).toContain('The task.');
    const left = await readdir(`${rig.homes}/${session}`, { recursive: true });
    expect(left.filter((path) => /prompt\.md|GEMINI\.md|\.writ-run\.json|\.part$/.test(path))).toEqual([]);
    expect(await readdir(rig.workspace)).toEqual([]);
  });
});

test.each(['codex', 'qwen-code'])('%s counts its session, and a run gets its own part', async (name) => {
  const [first, second] = [await recorded(name, 'usage'), await recorded(name, 'usage-resumed')];
  const rig = await open(name, `say(nth === 1 ? ${JSON.stringify(first)} : ${JSON.stringify(second)});`);
  const { session } = await rig.run('One.');
  const result = await rig.run('Two.', { session });
  expect(result).toMatchObject({ status: 'completed', error: null });
  expect(result.usage).toMatchObject({ promptTokens: 1000, cachedTokens: 600, totalTokens: 1100 });
});

test('what Claude Code reckons as cost stays an estimate and never becomes a bill', async () => {
  const rig = await open('claude-code', prints(await recorded('claude-code', 'usage')));
  expect((await rig.run('x')).usage).toMatchObject({
    costUsd: null,
    costSource: 'unknown',
    estimatedUsd: 0.00288,
  });
});

test('pi asks again by itself: told, and the last turn decides', async () => {
  const rig = await open('pi', prints(await recorded('pi', 'retried')));
  const result = await rig.run('x');
  expect(result).toMatchObject({ status: 'failed', error: { message: expect.stringContaining('500') } });
  expect(
    rig.events.filter((event) => event.type === 'notice' && event.code === 'deliver.retry'),
  ).toHaveLength(3);
  // What failed requests used is not known; the zeros that stand there are no measurement.
  expect(result.usage).toMatchObject({ totalTokens: null });
});
