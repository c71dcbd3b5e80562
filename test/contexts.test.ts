/** Contexts through the whole loop: a model that looks instead of reading, results too large to show, resume, budget. */
import { spawnSync } from 'node:child_process';
import { afterEach, describe, expect, test } from 'vitest';
import { systemClock } from '../src/clock.ts';
import { sha256 } from '../src/digest.ts';
import { memoryStore } from '../src/ledger/stores/memory.ts';
import type { GivenContext } from '../src/native/context/session-contexts.ts';
import { contextPeek, contextSearch, contextSlice } from '../src/native/tool/context-tools.ts';
import { defineTool } from '../src/native/tool/define-tool.ts';
import type { Tool } from '../src/native/tool/tool.ts';
import { openRig, type Rig, type RigOptions } from './rig.ts';
import type { SeenRequest } from './scripted-provider.ts';

const opened: Rig[] = [];
async function rig(options: RigOptions): Promise<Rig> {
  const one = await openRig(options);
  opened.push(one);
  return one;
}
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

const look = () => [contextSearch(), contextSlice(), contextPeek()];
const call = (id: string, name: string, args: unknown) => ({ id, name, arguments: JSON.stringify(args) });
const toolTexts = (request: SeenRequest | undefined): string[] =>
  request?.json.messages
    .filter((message: { role: string }) => message.role === 'tool')
    .map((message: { content: string }) => message.content);
const lastTool = (request: SeenRequest | undefined) => toolTexts(request).at(-1) ?? '';
const input = (text: string): GivenContext => ({ alias: 'input', source: { kind: 'text', text } });

/** A read whose result is too large to show, with what matters at its end. */
function dump(result: () => unknown, ran: unknown[] = []): Tool {
  return defineTool({
    name: 'dump',
    description: 'Dumps everything.',
    parameters: { type: 'object', properties: {}, additionalProperties: false },
    capability: 'dump',
    access: 'read',
    limits: { outputBytesMax: 4096 },
    execute: () => {
      ran.push(1);
      return result();
    },
  });
}
const large = () => `first line\n${'filler line\n'.repeat(1000)}the useful line is 4711\n`;

describe('a context that was given', () => {
  test('is searched: its content is in no request until it is found, and the tools stay the same', async () => {
    const needle = '7c9e6679-7425-40de-944b-e07fc1f90ae7';
    const text = Array.from({ length: 4000 }, (_, i) => (i === 2718 ? `key ${needle}` : `line ${i}`)).join(
      '\n',
    );
    const one = await rig({
      tools: look(),
      contexts: [input(text)],
      script: [{ calls: [call('a', 'context_search', { query: 'key ' })] }, { text: needle }],
    });
    const result = await one.run('Which key?');
    const [first, second] = one.provider.requests;
    expect(first?.raw).not.toContain(needle);
    expect(second?.json.tools).toEqual(first?.json.tools);
    expect(JSON.parse(lastTool(second))).toEqual({
      hits: [{ index: 2718, at: text.indexOf('key '), value: `key ${needle}` }],
      next: null,
      skipped: 0,
      truncated: false,
    });
    expect(result).toMatchObject({ status: 'completed', answer: needle, turns: 2 });
    expect(result.budget.contextOps).toMatchObject({ used: 1 });
    expect(result.budget.toolCalls?.used ?? 0).toBe(0);
    expect(one.events.filter((event) => event.type.startsWith('context-'))).toMatchObject([
      { type: 'context-register', alias: 'input', bytes: Buffer.byteLength(text), blob: null },
      { type: 'context-read', alias: 'input', operation: 'search', truncated: false },
    ]);
  });

  test('tells the model what was withheld', async () => {
    const one = await rig({
      tools: look(),
      contexts: [input('x\n'.repeat(100))],
      script: [
        {
          calls: [
            call('a', 'context_search', { query: 'x' }),
            call('b', 'context_slice', { start: 0, length: 3 }),
            call('c', 'context_peek', { selector: { type: 'head' } }),
            call('d', 'context_peek', { selector: { type: 'metadata' } }),
          ],
        },
        { text: 'ok' },
      ],
    });
    await one.run('Look.');
    const answers = toolTexts(one.provider.requests[1]).map((text) => JSON.parse(text));
    expect(answers[0]).toMatchObject({ next: 32, truncated: true });
    expect(answers[1]).toEqual({ start: 0, value: 'x\nx', next: 3, truncated: false });
    expect(answers[2]).toEqual({ value: 'x\n'.repeat(64), truncated: true });
    expect(answers[3]).toMatchObject({ value: { kind: 'text', items: 100 }, truncated: false });
  });

  test('costs one context operation a look; the second is refused before it runs', async () => {
    const one = await rig({
      tools: look(),
      contexts: [input('text')],
      script: [
        { calls: [call('a', 'context_peek', { selector: { type: 'head' } })] },
        { calls: [call('b', 'context_peek', { selector: { type: 'tail' } })] },
      ],
    });
    const result = await one.run('Look.', { limits: { contextOps: 1, toolCalls: 0 } });
    expect(result).toMatchObject({
      status: 'failed',
      error: { code: 'budget.exhausted', details: { counter: 'contextOps', limit: 1, left: 0, wanted: 1 } },
    });
    expect(one.events.filter((event) => event.type === 'context-read')).toHaveLength(1);
  });

  test('a resumed run remembers what it has looked at', async () => {
    const store = memoryStore({ clock: systemClock });
    const one = await rig({
      store,
      tools: look(),
      contexts: [input('text')],
      script: [
        { calls: [call('a', 'context_peek', { selector: { type: 'head' } })] },
        () => {
          stop.abort('stop');
          return { text: 'I', ending: 'hang' };
        },
      ],
    });
    const stop = new AbortController();
    const first = await one.run('Look.', { limits: { contextOps: 3 }, signal: stop.signal });
    expect(first).toMatchObject({ status: 'cancelled', budget: { contextOps: { used: 1, left: 2 } } });
    const { spentBy } = await import('../src/run/derive.ts');
    expect(spentBy(await store.events(first.run))).toMatchObject({ contextOps: 1, toolCalls: 0 });
  });

  test('an unknown name goes back before anything is charged; a fault in a look is a failed call', async () => {
    const one = await rig({
      tools: look(),
      contexts: [input('text')],
      script: [
        {
          calls: [
            call('a', 'context_peek', { selector: { type: 'head' }, context: 'nothing' }),
            call('b', 'context_slice', { start: 99, length: 1 }),
            call('c', 'context_search', { query: '(', regex: true }),
          ],
        },
        { text: 'ok' },
      ],
    });
    const result = await one.run('Look.', { limits: { contextOps: 2 } });
    expect(toolTexts(one.provider.requests[1])).toEqual([
      "failed(context.unknown): There is no context 'nothing'. There are: input.",
      'failed(context.out-of-range): start: expected at most 4, the number of characters, found 99.',
      expect.stringMatching(/^failed\(context\.invalid-pattern\): pattern: error parsing regexp/),
    ]);
    expect(result.budget.contextOps?.used).toBe(2);
  });

  test('without the capability nothing is opened and no run begins', async () => {
    const one = await rig({ tools: look(), contexts: [input('text')], script: [] });
    await expect(one.run('Look.', { capabilities: [] })).rejects.toMatchObject({
      code: 'context.capability-missing',
      kind: 'refused',
    });
    await expect(
      (await rig({ tools: look(), contexts: [{ ...input('x'), alias: 'result_1_1' }], script: [] })).run(
        'Look.',
      ),
    ).rejects.toMatchObject({ code: 'context.bad-alias' });
  });
});

describe('a result too large to show', () => {
  test('is kept: the model reads size, beginning and end, and finds the rest by its name', async () => {
    const one = await rig({
      tools: [dump(large), ...look()],
      script: [
        { calls: [call('a', 'dump', {})] },
        { calls: [call('b', 'context_search', { query: 'useful', context: 'result_1_1' })] },
        { text: '4711' },
      ],
    });
    const result = await one.run('Dump.');
    const [text = ''] = toolTexts(one.provider.requests[1]);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(4096);
    expect(text).toMatch(
      /^\[kept: the result has 12035 bytes.* context "result_1_1" \(text, 12035 bytes, 12035 characters, 1002 lines\)\. Look into one with context_search.*\]\n\[the first \d+ bytes\]\nfirst line\n/,
    );
    expect(text).toMatch(/\n\[the last \d+ bytes\]\n[\s\S]*the useful line is 4711\n$/);
    expect(lastTool(one.provider.requests[2])).toContain('"value":"the useful line is 4711"');
    expect(result.status).toBe('completed');
    const registered = one.events.find((event) => event.type === 'context-register');
    expect(registered).toMatchObject({ alias: 'result_1_1', bytes: 12035, blob: sha256(large()) });
    const blob = await one.store.blob(sha256(large()));
    expect(Buffer.from(blob ?? '').toString()).toBe(large());
    expect(one.events.find((event) => event.type === 'tool-result')).toMatchObject({
      truncated: true,
      status: 'ok',
    });
  });

  test('is only cut where the run may not look into contexts', async () => {
    const one = await rig({
      tools: [dump(large), ...look()],
      script: [{ calls: [call('a', 'dump', {})] }, { text: 'ok' }],
    });
    await one.run('Dump.', { capabilities: ['dump'] });
    expect(lastTool(one.provider.requests[1])).toMatch(/\[cut: \d+ of 12035 bytes shown/);
    expect(one.events.some((event) => event.type === 'context-register')).toBe(false);
  });

  test('never has half a character, wherever the edges of beginning and end fall', async () => {
    for (const shift of ['', 'a', 'ab', 'abc']) {
      const one = await rig({
        tools: [dump(() => shift + '😀'.repeat(3000)), ...look()],
        script: [{ calls: [call('a', 'dump', {})] }, { text: 'ok' }],
      });
      await one.run('Dump.');
      const text = lastTool(one.provider.requests[1]);
      expect(text).not.toMatch(/\uFFFD|\p{Surrogate}/u);
      expect(text).toMatch(
        /^\[kept: .*\]\n\[the first \d+ bytes\]\na?b?c?(😀)+\n\[the last \d+ bytes\]\n(😀)+$/u,
      );
    }
  });

  test('of a later run bears another name, and that of the earlier one is restored from the ledger', async () => {
    const store = memoryStore({ clock: systemClock });
    const tools = [dump(large), ...look()];
    const script = [
      { calls: [call('a', 'dump', {})] },
      { text: 'one' },
      { calls: [call('b', 'dump', {})] },
      {
        calls: ['result_1_1', 'run2_result_1_1'].map((context, i) =>
          call(`c${i}`, 'context_peek', { selector: { type: 'tail', count: 5 }, context }),
        ),
      },
      { text: 'two' },
    ];
    const one = await rig({ store, tools, script });
    const first = await one.run('Dump.');
    await one.run('Again.', { session: first.session });
    const texts = toolTexts(one.provider.requests[4]);
    expect(texts.slice(-2)).toEqual([
      '{"value":"4711\\n","truncated":true}',
      '{"value":"4711\\n","truncated":true}',
    ]);
  });

  test('that is no longer in the ledger as it was is said to be lost', async () => {
    const real = memoryStore({ clock: systemClock });
    let lost = false;
    const digest = sha256(large());
    const store = {
      ...real,
      blob: async (asked: string) => (lost && asked === digest ? undefined : real.blob(asked)),
    };
    const one = await rig({
      store,
      tools: [dump(large), ...look()],
      script: [
        { calls: [call('a', 'dump', {})] },
        { text: 'one' },
        { calls: [call('b', 'context_peek', { selector: { type: 'tail' }, context: 'result_1_1' })] },
        { text: 'two' },
      ],
    });
    const first = await one.run('Dump.');
    lost = true;
    expect(await one.run('Again.', { session: first.session })).toMatchObject({ status: 'completed' });
    expect(lastTool(one.provider.requests[3])).toMatch(/^failed\(context\.lost\): The result 'result_1_1'/);
  });

  test('of a write is kept as well, and is not made twice', async () => {
    let written = 0;
    const write = defineTool({
      name: 'export_all',
      description: 'Exports.',
      parameters: { type: 'object', properties: {}, additionalProperties: false },
      capability: 'dump',
      access: 'write',
      repeat: 'once',
      limits: { outputBytesMax: 1024 },
      execute: () => {
        written += 1;
        return large();
      },
    });
    const one = await rig({
      tools: [write, ...look()],
      script: [
        { calls: [call('a', 'export_all', {})] },
        { calls: [call('b', 'export_all', {})] },
        { calls: [call('c', 'context_search', { query: 'useful', context: 'result_1_1' })] },
        { text: 'ok' },
      ],
    });
    const ask = async () => ({ decision: 'approved' as const, by: 'ada', reason: '' });
    const result = await one.run('Export.', { approve: 'ask', ask });
    expect([result.status, written]).toEqual(['completed', 1]);
    const texts = toolTexts(one.provider.requests[3]);
    expect(texts[1]).toBe(texts[0]);
    expect(texts[2]).toContain('the useful line is 4711');
  });
});

describe('a context handed from one tool to another', () => {
  const count = defineTool<{ data: string; word: string }>({
    name: 'count_lines',
    description: 'Counts the lines of a context that hold a word.',
    parameters: {
      type: 'object',
      properties: { data: { type: 'string', format: 'writ-context' }, word: { type: 'string' } },
      required: ['data', 'word'],
      additionalProperties: false,
    },
    capability: 'dump',
    access: 'read',
    async execute({ data, word }, context) {
      let lines = 0;
      let rest = '';
      for await (const text of context.context(data).texts()) {
        const parts = (rest + text).split('\n');
        rest = parts.pop() ?? '';
        lines += parts.filter((line) => line.includes(word)).length;
      }
      return { lines };
    },
  });

  test('is read by the tool and never by the model', async () => {
    const one = await rig({
      tools: [dump(large), count, ...look()],
      script: [
        { calls: [call('a', 'dump', {})] },
        {
          calls: [
            call('b', 'count_lines', { data: 'result_1_1', word: 'filler' }),
            call('c', 'count_lines', { data: 'result_9_9', word: 'filler' }),
          ],
        },
        { text: '1000' },
      ],
    });
    const result = await one.run('Count.');
    expect(toolTexts(one.provider.requests[2]).slice(1)).toEqual([
      '{"lines":1000}',
      "failed(context.unknown): There is no context 'result_9_9'. There are: result_1_1.",
    ]);
    expect(result.budget).toMatchObject({ toolCalls: { used: 2 } });
    expect(one.events.find((event) => event.type === 'context-read')).toMatchObject({
      alias: 'result_1_1',
      operation: 'texts',
      bytes: 12035,
    });
  });

  test('is refused where the run may not look into contexts', async () => {
    const one = await rig({
      tools: [count],
      script: [{ calls: [call('a', 'count_lines', { data: 'input', word: 'x' })] }, { text: 'ok' }],
    });
    await one.run('Count.');
    expect(lastTool(one.provider.requests[1])).toMatch(/^failed\(context\.capability-missing\): /);
  });
});

test('50 MB as a file and 50 MB as a result are looked into with 96 MB of heap', () => {
  const run = spawnSync(process.execPath, ['--max-old-space-size=96', 'test/children/large-contexts.mjs'], {
    encoding: 'utf8',
    timeout: 60_000,
  });
  expect(run.stderr).toBe('');
  expect(JSON.parse(run.stdout)).toMatchObject({
    status: 'completed',
    file: expect.stringContaining('"value":"the needle at the end of the file"'),
    kept: expect.stringContaining('[kept: the result has 5'),
    found: expect.stringContaining('the useful line at the end'),
  });
});
