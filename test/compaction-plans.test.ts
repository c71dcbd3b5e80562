/** Long conversations inside plans and before a decision: their windows are kept as that of the session's own is, and no step is lost by it. */
import { afterEach, describe, expect, test } from 'vitest';
import { planTask } from '../src/native/plan/session-plans.ts';
import { contextSearch } from '../src/native/tool/context-tools.ts';
import { defineTool } from '../src/native/tool/define-tool.ts';
import type { RunEvent } from '../src/protocol/events.ts';
import { dying } from './dying-store.ts';
import { field, final, model, parallel, plan, ref, rights, tool } from './plan.cases.ts';
import { openRig, type Rig, type RigOptions } from './rig.ts';
import type { SeenRequest } from './scripted-provider.ts';

const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const dump = defineTool<{ readonly n: number }>({
  name: 'dump',
  description: 'Dumps.',
  parameters: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
  capability: 'parts',
  access: 'read',
  execute: ({ n }) => `page ${n} ${'lorem ipsum '.repeat(250)}`,
});
let calls = 0;
const ask = (name: string, args: object) => {
  calls += 1;
  return { calls: [{ id: `c${calls}`, name, arguments: JSON.stringify(args) }], usage };
};
const compactions = (events: readonly RunEvent[]) =>
  events.flatMap((event) => (event.type === 'session-compact' ? [event] : []));

let rig: Rig | undefined;
afterEach(async () => {
  await rig?.close();
  rig = undefined;
});
async function opened(options: RigOptions): Promise<Rig> {
  rig = await openRig({
    root: 'plan',
    tools: [contextSearch(), dump],
    compaction: { hotTokens: 3_500 },
    ...options,
  });
  return rig;
}
const all = [...rights, 'context'];
const asText = ({ json }: SeenRequest) => JSON.stringify(json.messages);

describe('a model step of a plan', () => {
  const text = plan(
    tool('dump', 'a', { n: 0 }),
    model('Read all pages.', 'b'),
    final([field('a', 'status'), field('b', 'text')]),
  );
  const pages = [1, 2, 3, 4].map((n) => ask('dump', { n }));

  test('loses old pages, keeps its instructions and its prompt, and can look into what went', async () => {
    const { run, provider, events } = await opened({
      script: [
        ...pages,
        ask('context_search', { query: 'page 1 ', context: 'history_1' }),
        { text: 'end', usage },
      ],
    });
    const result = await run(planTask(text), { capabilities: all });
    expect([result.answer, result.status]).toEqual(['["ok","end"]', 'completed']);
    expect(compactions(events)).toMatchObject([{ lane: 'plan#1', context: 'history_1' }]);
    const [first] = provider.requests;
    for (const request of provider.requests) {
      expect(request.json.messages[0]).toEqual(first?.json.messages[0]);
      expect(asText(request)).toContain('Read all pages.');
      expect(Buffer.byteLength(request.raw)).toBeLessThan(3_500 * 3 + 4_000);
    }
    expect(asText(provider.requests[4] as SeenRequest)).toMatch(
      /Earlier part .* It is in history_1, .* context_search/,
    );
    expect(provider.requests[5]?.json.messages.at(-1).content).toContain('page 1 ');
  });

  test('goes on after a kill behind the compaction in the same bytes, and no finished step is made again', async () => {
    const end = { text: 'end', usage };
    const { run, resume, provider, store } = await opened({ script: [...pages, end, end] });
    const died = await run(planTask(text), {
      capabilities: all,
      store: dying(store, (_, event) => event.type === 'model-response' && event.turn === 6),
    });
    expect(died.status).toBe('unknown');
    expect(compactions(await store.events(died.run))).toHaveLength(1);
    const before = provider.requests.length;
    expect(before).toBe(5);
    const result = await resume(died.run);
    expect(result.answer).toBe('["ok","end"]');
    expect(provider.requests[before]?.raw).toBe(provider.requests[before - 1]?.raw);
    const events = await store.events(died.run);
    expect(events.filter((event) => event.type === 'plan-step' && event.status === 'ok').length).toBe(3);
    expect(compactions(events)).toHaveLength(1);
  });

  test('in branches: each has its own history, and none reads the note of another', async () => {
    const branch = (name: string) => [model(`Read as ${name}.`, 'x'), final(field('x', 'text'))];
    const { run, provider, events } = await opened({
      plans: { limits: { modelCalls: 16 } },
      script: (request) => {
        const asked = request.json.messages;
        const name = /Read as (\w+)\./.exec(JSON.stringify(asked))?.[1] ?? '';
        const done = provider.requests.filter((one) => asText(one).includes(`Read as ${name}.`)).length;
        return done <= 4 ? ask('dump', { n: name === 'ana' ? done : done + 100 }) : { text: name, usage };
      },
    });
    const result = await run(
      planTask(plan(parallel('both', branch('ana'), branch('ben')), final(ref('both')))),
      {
        capabilities: all,
      },
    );
    expect(result.answer).toBe('["ana","ben"]');
    const made = compactions(events);
    expect(made.map(({ lane }) => lane).sort()).toEqual(['plan#0/b0/0', 'plan#0/b1/0']);
    expect(made.map(({ context }) => context).sort()).toEqual(['history_1', 'history_2']);
    for (const { lane, context } of made) {
      const name = lane === 'plan#0/b0/0' ? 'ana' : 'ben';
      const last = provider.requests.findLast((one) => asText(one).includes(`Read as ${name}.`));
      expect(/It is in (\w+), the newest last/.exec(last === undefined ? '' : asText(last))?.[1]).toBe(
        context,
      );
    }
  });

  test('shows of a long result what the cap of the session lets through', async () => {
    const { run, provider } = await opened({
      policies: { 'result-cap': { bytes: 300 }, completion: {} },
      script: [ask('dump', { n: 1 }), { text: 'end', usage }],
    });
    await run(planTask(plan(model('Read.', 'b'), final(field('b', 'text')))), { capabilities: all });
    const { content } = provider.requests[1]?.json.messages.at(-1) ?? {};
    expect(Buffer.byteLength(content)).toBeLessThanOrEqual(300);
    // Whoever speaks to the model speaks to the session's own conversation only.
    expect(provider.requests[0]?.raw).not.toContain('DONE');
  });
});

test('a decision is asked for with old tasks of the session behind a note', async () => {
  const { run, provider, events } = await opened({
    root: 'decide',
    compaction: { hotTokens: 6_000 },
    script: [
      { text: '{"mode":"direct","answer":"Read."}', usage },
      { text: '{"mode":"direct","answer":"done"}', usage },
    ],
  });
  const first = await run(`Keep this in mind: ${'lorem ipsum '.repeat(2_000)}`, { capabilities: all });
  const second = await run('And now?', { session: first.session, capabilities: all });
  expect(second.answer).toBe('done');
  expect(compactions(events)).toMatchObject([{ context: 'history_1' }]);
  expect(compactions(events)[0]).not.toHaveProperty('lane');
  const [system, note, , task] = provider.requests[1]?.json.messages ?? [];
  expect(system).toEqual(provider.requests[0]?.json.messages[0]);
  expect(note.content).toContain('[Earlier part of this conversation: 1 messages');
  expect(task.content).toContain('And now?');
});
