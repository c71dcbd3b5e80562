/** Long conversations: old messages leave the requests and can be searched; instructions and the task never leave. */
import { afterEach, describe, expect, test } from 'vitest';
import { contextSearch, contextSlice } from '../src/native/tool/context-tools.ts';
import { defineTool } from '../src/native/tool/define-tool.ts';
import type { RunEvent } from '../src/protocol/events.ts';
import { dying } from './dying-store.ts';
import { openRig, type Rig, type RigOptions } from './rig.ts';
import type { SeenRequest } from './scripted-provider.ts';

const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const prompt = 'Rule 1: answer with the code alone.\nRule 2: never guess.';
const call = (id: string, name: string, args: object) => ({
  calls: [{ id, name, arguments: JSON.stringify(args) }],
  usage,
});
const dump = defineTool<{ readonly n: number }>({
  name: 'dump',
  description: 'Dumps.',
  parameters: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
  capability: 'dump',
  access: 'read',
  execute: ({ n }) => `page ${n} ${'lorem ipsum '.repeat(250)}`,
});

let rig: Rig | undefined;
afterEach(async () => {
  await rig?.close();
  rig = undefined;
});
async function opened(options: RigOptions): Promise<Rig> {
  rig = await openRig({ prompt, tools: [contextSearch(), contextSlice(), dump], ...options });
  return rig;
}
const roles = (request: SeenRequest | undefined) =>
  request?.json.messages.map(({ role }: { role: string }) => role).join(' ');
const compactions = (events: readonly RunEvent[]) =>
  events.flatMap((event) => (event.type === 'session-compact' ? [event] : []));

describe('a conversation beyond its window', () => {
  test('of 40,000 tokens is answered in two generations by exact search', async () => {
    const lines = Array.from(
      { length: 2_600 },
      (_, i) => `entry ${i}: the code of machine ${i} is K${(i * 7919) % 100_003}`,
    );
    const { run, provider, events } = await opened({
      compaction: { hotTokens: 8_000 },
      contexts: [],
      script: [
        { text: 'Read.', usage },
        call('s1', 'context_search', { query: 'machine 1717 is', context: 'history_1' }),
        (request) => ({
          text: /machine 1717 is (K\d+)/.exec(request.json.messages.at(-1).content)?.[1] ?? 'lost',
          usage,
        }),
      ],
    });
    const first = await run(`Keep this in mind:\n${lines.join('\n')}`);
    const second = await run('What is the code of machine 1717?', { session: first.session });
    expect([second.answer, second.turns]).toEqual([`K${(1717 * 7919) % 100_003}`, 2]);
    const [event] = compactions(events);
    expect(event).toMatchObject({ dropped: 1, context: 'history_1' });
    expect(event?.tokensBefore).toBeGreaterThan(40_000);
    expect(event?.tokensAfter).toBeLessThan(1_000);
    const [system, note, answer, task] = provider.requests[1]?.json.messages ?? [];
    expect(system).toEqual({ role: 'system', content: prompt });
    expect(note.content).toMatch(
      /^\[Earlier part of this conversation: 1 messages, about 4\d{4} tokens, .* history_1, the newest last\. Look into one with context_search, context_slice, .* if it is finished, give your final answer\.\]$/,
    );
    expect([answer.content, task.content]).toEqual(['Read.', 'What is the code of machine 1717?']);
    expect(Buffer.byteLength(provider.requests[1]?.raw ?? '')).toBeLessThan(24_000);
  });

  test('loses old pages in the middle of a run, and never the instructions, the task, or a result without its call', async () => {
    const { run, provider, events } = await opened({
      compaction: { hotTokens: 3_500 },
      script: [1, 2, 3, 4, 5, 6, 7, 8, 9]
        .map((n) => call(`d${n}`, 'dump', { n }))
        .concat([{ text: 'end', usage } as never]),
    });
    const result = await run('Read all pages.');
    expect(result.answer).toBe('end');
    expect(compactions(events).length).toBeGreaterThanOrEqual(2);
    const last = provider.requests.at(-1);
    expect(roles(last)).toMatch(/^system (user )+(assistant tool ?)+$/);
    for (const { json } of provider.requests) {
      expect(json.messages[0]).toEqual({ role: 'system', content: prompt });
      expect(
        json.messages.some(({ content }: { content: string }) => content?.startsWith('Read all pages.')),
      ).toBe(true);
    }
    expect(last?.raw).toContain('page 9');
    expect(last?.raw).not.toContain('page 1 ');
    expect(last?.raw).toContain('history_1, history_2');
  });

  test('goes on after a kill in the same bytes, and its history can still be searched', async () => {
    const script = [
      call('d1', 'dump', { n: 1 }),
      call('d2', 'dump', { n: 2 }),
      call('d3', 'dump', { n: 3 }),
      call('d4', 'dump', { n: 4 }),
      call('s1', 'context_search', { query: 'page 1 ', context: 'history_1' }),
      { text: 'end', usage },
    ];
    const { run, resume, provider, store } = await opened({ compaction: { hotTokens: 3_500 }, script });
    const died = await run('Read.', {
      store: dying(store, (_, event) => event.type === 'model-request' && event.turn === 5),
    });
    expect(died.status).toBe('unknown');
    const before = provider.requests.length;
    const result = await resume(died.run);
    expect(result.answer).toBe('end');
    const messages = provider.requests[before]?.json.messages;
    expect(messages[0]).toEqual({ role: 'system', content: prompt });
    expect(provider.requests.at(-1)?.json.messages.at(-1).content).toContain('page 1 ');
  });

  test('says so where the run may not look into contexts', async () => {
    const { run, provider, events } = await opened({
      tools: [dump],
      compaction: { hotTokens: 2_000 },
      script: [
        call('d1', 'dump', { n: 1 }),
        call('d2', 'dump', { n: 2 }),
        call('d3', 'dump', { n: 3 }),
        { text: 'end', usage },
      ],
    });
    await run('Read.');
    expect(compactions(events)[0]).toMatchObject({ context: null });
    expect(provider.requests.at(-1)?.raw).toContain('It cannot be looked into in this session.');
  });

  test('is not touched within its window', async () => {
    const { run, provider, events } = await opened({
      compaction: { hotTokens: 50_000 },
      script: [call('d1', 'dump', { n: 1 }), { text: 'end', usage }],
    });
    await run('Read.');
    expect(compactions(events)).toEqual([]);
    expect(roles(provider.requests[1])).toBe('system user assistant tool');
  });
});
