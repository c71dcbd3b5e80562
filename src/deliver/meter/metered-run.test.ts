/** Whole runs of small programs behind the meter: what is admitted, proven, charged and refused, and how each run ends. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { sha256 } from '../../digest.ts';
import type { BudgetLimits } from '../../protocol/budget.ts';
import type { EventType } from '../../protocol/events.ts';
import type { Usage } from '../../protocol/usage.ts';
import { meterOf } from '../../run/meter-view.ts';
import { type DriveRig, openDriveRig } from '../drive/drive.cases.ts';
import type { OutsideOptions } from '../drive/options.ts';
import { asking, cell, chatAnswer, startUpstream, type Upstream } from './meter.cases.ts';

let rig: DriveRig;
let upstream: Upstream;
afterEach(async () => {
  await upstream.close();
  await rig.close();
});

const enough = { turns: 5, modelCalls: 5, tokens: 100_000 };
const key = 'sk-canary-0123456789';

async function run(
  body: string,
  limits: BudgetLimits = enough,
  answer: Parameters<typeof startUpstream>[0] = (response) => chatAnswer(response),
  more: Partial<OutsideOptions> = {},
) {
  upstream = await startUpstream(answer);
  rig = await openDriveRig('pi', asking(body), { OPENAI_API_KEY: key });
  const lowered = { approval: 'none', effects: 'observed', resume: 'observed', cancel: 'observed' } as const;
  const meter = { ...more.meter, upstream: upstream.url };
  return rig.run('Say done.', { limits, lowered }, { measured: [cell], ...more, meter });
}

const eventsOf = <T extends EventType>(type: T) =>
  rig.events.filter((event): event is typeof event & { readonly type: T } => event.type === type);
const answers = async () =>
  (await readFile(join(rig.root, 'starts.jsonl.answers'), 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { readonly status: number; readonly said: string });

test('each request is admitted and proven before it is sent, and charged with what its answer says', async () => {
  const result = await run('await ask(); await ask(); finish();');
  expect(result).toMatchObject({
    status: 'completed',
    answer: 'Done.',
    usage: { modelCalls: 2, promptTokens: 18, completionTokens: 2, totalTokens: 20 },
    budget: {
      turns: { used: 2, reserved: 0 },
      modelCalls: { used: 2, reserved: 0 },
      tokens: { used: 20, reserved: 0 },
    },
  });
  expect(upstream.got.map(({ path, headers }) => [path, headers.authorization])).toEqual([
    ['/base/chat/completions', `Bearer ${key}`],
    ['/base/chat/completions', `Bearer ${key}`],
  ]);
  const [body = ''] = upstream.got.map((one) => one.body);
  const promptTokens = Math.ceil(Buffer.byteLength(body) / 3);
  const { run: _run, seq: _seq, at: _at, epoch: _epoch, ...admit } = eventsOf('meter-admit')[0] ?? {};
  expect(admit).toEqual({
    type: 'meter-admit',
    number: 1,
    lane: 'main',
    protocol: 'openai-chat',
    model: 'm1',
    body: sha256(body),
    bodyBytes: Buffer.byteLength(body),
    tools: 1,
    text: { field: 'messages', role: 'system', index: 0 },
    reserved: { turns: 1, modelCalls: 1, tokens: promptTokens + 4096 },
  });
  expect(eventsOf('meter-answer')).toMatchObject([
    { number: 1, httpStatus: 200, fault: null, usage: { totalTokens: 10 } },
    { number: 2, httpStatus: 200, fault: null, usage: { totalTokens: 10 } },
  ]);
  expect(meterOf(rig.events)).toEqual({
    meter: { upstream: new URL(upstream.url).origin, main: 2, proven: 2, side: 0, refused: 0 },
  });
  // Neither the key nor the port of the recorder is anything to keep.
  expect(JSON.stringify(rig.events)).not.toContain(key);
});

test('through a proxy of the user goes nothing that is meant for the meter; without one the list stays as it is', async () => {
  const around = { OPENAI_API_KEY: key, HTTPS_PROXY: 'http://127.0.0.1:1', NO_PROXY: 'intern.example' };
  const listOf = async (meter: Pick<OutsideOptions, 'meter'>) => {
    rig = await openDriveRig('pi', 'process.exitCode = 1;', around);
    await rig.run('x', {}, { measured: [cell], ...meter });
    const [start] = await rig.starts();
    await rig.close();
    return [start?.env.HTTPS_PROXY, start?.env.NO_PROXY, start?.env.no_proxy];
  };
  upstream = await startUpstream((response) => chatAnswer(response));
  const proxy = around.HTTPS_PROXY;
  expect(await listOf({ meter: { upstream: upstream.url } })).toEqual([
    proxy,
    'intern.example,127.0.0.1',
    '127.0.0.1',
  ]);
  expect(await listOf({})).toEqual([proxy, 'intern.example', undefined]);
});

test.each<[string, BudgetLimits, string, number]>([
  ['model calls', { modelCalls: 1 }, 'modelCalls', 1],
  ['turns', { turns: 1 }, 'turns', 1],
  ['tokens', { tokens: 4_300 }, 'tokens', 1],
  ['tokens, before the first', { tokens: 100 }, 'tokens', 0],
])(
  'a spent budget of %s: the protocol itself says no, nothing is sent, the run ends',
  async (_, limits, counter, sent) => {
    const body = 'while ((await ask()) === 200); finish("I ran out.");';
    const result = await run(body, limits, (response) => chatAnswer(response, 200));
    expect(result).toMatchObject({
      status: 'failed',
      answer: null,
      error: { code: 'budget.exhausted', details: { counter } },
    });
    expect(upstream.got).toHaveLength(sent);
    expect(eventsOf('budget-refuse')).toMatchObject([{ counter }]);
    const last = (await answers()).at(-1);
    expect([last?.status, JSON.parse(last?.said ?? '')]).toEqual([
      400,
      {
        error: {
          message: result.error?.message,
          type: 'invalid_request_error',
          param: null,
          code: 'billing_hard_limit_reached',
        },
      },
    ]);
  },
);

test('a program that asks again and again is ended, and no request of it is sent', async () => {
  const result = await run('for (;;) { await ask(); await new Promise((next) => setTimeout(next, 50)); }', {
    modelCalls: 1,
  });
  expect(result).toMatchObject({ status: 'failed', error: { code: 'budget.exhausted' } });
  expect(upstream.got).toHaveLength(1);
}, 20_000);

test('usage that nobody tells charges what was set aside; the output limit of the request counts', async () => {
  const result = await run('await ask(system, { max_tokens: 50 }); finish();', enough, (response) =>
    chatAnswer(response, null),
  );
  const bytes = Buffer.byteLength(upstream.got[0]?.body ?? '');
  expect(result).toMatchObject({
    status: 'completed',
    usage: { modelCalls: 1, totalTokens: null },
    budget: { tokens: { used: Math.ceil(bytes / 3) + 50, overrun: 0 } },
  });
});

test('an answer that is cut, and a server that is not there, are charged as unknown', async () => {
  const result = await run('await ask().catch(() => {}); await ask(); finish();', enough, (response, nth) => {
    if (nth === 2) return chatAnswer(response);
    response.writeHead(200, { 'content-type': 'text/event-stream', 'content-length': '999' });
    response.write('data: {"usage":{"prompt_tokens":1,"completion_tokens":1},"choices":[]}\n\n', () =>
      response.destroy(),
    );
  });
  const [cut] = eventsOf('meter-answer');
  expect(cut).toMatchObject({ usage: { totalTokens: null }, fault: expect.stringContaining('upstream-cut') });
  expect(result.budget.tokens?.used).toBe((eventsOf('meter-admit')[0]?.reserved.tokens ?? 0) + 10);
});

test('what its provider turns away is a request, and neither a turn nor tokens', async () => {
  const result = await run('await ask(); await ask(); finish();', enough, (response, nth) => {
    if (nth === 2) return chatAnswer(response);
    response.writeHead(429).end('{}');
  });
  expect(result.budget).toMatchObject({ modelCalls: { used: 2 }, turns: { used: 1 }, tokens: { used: 10 } });
});

test('use beyond what was set aside is told, and the next request is refused', async () => {
  const limits = { tokens: 9_000 };
  const result = await run('await ask(); await ask(); finish();', limits, (response) =>
    chatAnswer(response, 8_000),
  );
  expect(eventsOf('budget-overrun')).toMatchObject([{ counter: 'tokens', actual: 8_000 }]);
  expect(result).toMatchObject({ status: 'failed', error: { code: 'budget.exhausted' } });
  expect(upstream.got).toHaveLength(1);
});

const elsewhere = `{ messages: [{ role: 'user', content: 'x' }, { role: 'system', content: system }] }`;
test.each([
  ['is not there', "await ask('You are the vendor.');", 'it does not stand there'],
  ['is altered by one byte', `await ask(system.replace('tests', 'test'));`, 'it does not stand there'],
  ['stands twice', `await ask(system + system);`, 'it stands 2 times'],
  ['stands elsewhere', `await ask('', ${elsewhere});`, 'it stands at messages[1] (system)'],
  [
    'is said by the user',
    `await ask('', { messages: [{ role: 'user', content: system }] });`,
    'it does not stand there',
  ],
  ['is gone later', "await ask(); await ask('You are the vendor.');", 'it does not stand there'],
  ['cannot be looked for', "await post('/chat/completions', 'no object');", 'the body is no JSON object'],
])('a request in which the text %s is not sent and ends the run', async (_, body, found) => {
  const result = await run(`${body} await ask(); finish('All is well.');`);
  expect(result).toMatchObject({ status: 'failed', answer: null, error: { code: 'deliver.not-proven' } });
  expect(result.error?.message).toContain(found);
  // Of a run that has failed nothing more is asked, however right it is.
  expect(upstream.got).toHaveLength(body.startsWith('await ask();') ? 1 : 0);
  expect(eventsOf('meter-refuse')).toHaveLength(2);
});

test('a request beside the task needs no text, but its budget; the conversation may quote the text', async () => {
  const body = `
    await ask('Name this session.', { tools: [] });
    await ask(system, { messages: [{ role: 'system', content: system }, { role: 'tool', content: system }] });
    await ask('Name it again.', { tools: [] });
    finish();`;
  const result = await run(body);
  expect(result).toMatchObject({
    status: 'completed',
    budget: { turns: { used: 1 }, modelCalls: { used: 3 } },
  });
  expect(eventsOf('meter-admit').map(({ lane, text }) => [lane, text !== null])).toEqual([
    ['side', false],
    ['main', true],
    ['side', false],
  ]);
});

test('what is no request to a model is not sent on where it could cost; lists pass', async () => {
  const body = `await post('/embeddings', {}); await fetch(baseUrl + '/models'); await ask(); finish();`;
  expect((await run(body)).status).toBe('completed');
  expect(upstream.got.map(({ path }) => path)).toEqual(['/base/models', '/base/chat/completions']);
  expect((await answers())[0]?.status).toBe(404);
  expect(eventsOf('notice').map(({ code }) => code)).toContain('deliver.not-metered');
});

test('an answer without a request through the meter is no answer', async () => {
  const result = await run('finish();');
  expect(result).toMatchObject({ status: 'failed', error: { code: 'deliver.not-metered' } });
});

test.each([
  ['m1', 'completed', undefined],
  ['m2', 'failed', 'deliver.unpriced'],
])('money, limited: the model %s is %s', async (model, status, code) => {
  const price = (usage: Usage): Usage => ({ ...usage, costUsd: 0.25, costSource: 'priced' });
  const tariff = (name: string | null) => (name === 'm1' ? { atMost: () => 0.5, price } : null);
  const body = `await ask(system, { model: '${model}' }); finish();`;
  const result = await run(body, { costUsd: 1 }, undefined, { meter: { tariff, upstream: '' } });
  expect([result.status, result.error?.code]).toEqual([status, code]);
  if (code === undefined) {
    expect(result).toMatchObject({
      usage: { costUsd: 0.25 },
      budget: { costUsd: { used: 0.25, reserved: 0 } },
    });
    expect(eventsOf('meter-admit')[0]?.reserved.costUsd).toBe(0.5);
  } else expect(upstream.got).toEqual([]);
});

test('a limit that no meter keeps is refused before anything is started', async () => {
  await expect(run('finish();', { toolCalls: 3 })).rejects.toMatchObject({ code: 'run.limit-unkeepable' });
  expect(await rig.starts()).toEqual([]);
});

test('a harness that cannot be led elsewhere is refused before anything is started', async () => {
  upstream = await startUpstream((response) => chatAnswer(response));
  rig = await openDriveRig('acp', '', {});
  const meter = { upstream: upstream.url };
  const asked = {
    measured: [{ ...cell, harness: 'acp', control: '_meta.systemPrompt' }],
    dimensions: { agent: ['x'] },
    meter,
  };
  const lowered = { approval: 'none', effects: 'observed', resume: 'none', cancel: 'observed' } as const;
  const refused = rig.run('Say done.', { lowered }, asked);
  await expect(refused).rejects.toMatchObject({ code: 'deliver.not-redirectable' });
  expect(await rig.starts()).toEqual([]);
});
