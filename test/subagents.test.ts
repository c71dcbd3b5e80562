import { afterEach, describe, expect, test } from 'vitest';
import { drawRun } from '../src/cli/view/draw-run.ts';
import { defineTool } from '../src/native/tool/define-tool.ts';
import { subagent } from '../src/native/tool/subagent.ts';
import type { RunEvent } from '../src/protocol/events.ts';
import { answerTicket } from '../src/run/decide.ts';
import { forgetSession } from '../src/run/forget.ts';
import { readRunView } from '../src/run/run-view.ts';
import { readTrace } from '../src/run/trace.ts';
import { dying } from './dying-store.ts';
import { openRig, type Rig, type RigOptions } from './rig.ts';
import type { SeenRequest } from './scripted-provider.ts';

const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const ask = (query: string, id = 'c1') => ({ id, name: 'subagent', arguments: JSON.stringify({ query }) });
const look = defineTool<object>({
  name: 'look',
  description: 'Looks.',
  parameters: { type: 'object', properties: {}, additionalProperties: false },
  capability: 'look',
  access: 'read',
  execute: () => 'seen',
});

let rig: Rig | undefined;
afterEach(async () => {
  await rig?.close();
  rig = undefined;
});

async function opened(options: RigOptions): Promise<Rig> {
  rig = await openRig(options);
  return rig;
}

const ofType = <T extends RunEvent['type']>(events: readonly RunEvent[], type: T) =>
  events.filter((event): event is RunEvent & { type: T } => event.type === type);

/** The newest result that a request tells the model, without the marks around it. */
function lastResult({ json }: SeenRequest): string {
  const { content } = json.messages.findLast(({ role }: { role: string }) => role === 'tool');
  const [, mark, inner] =
    /^<untrusted-result mark="(\w+)" tool="subagent">\n.*\n([\s\S]*)\n<\/untrusted-result mark="\1">$/.exec(
      content,
    ) ?? [];
  return mark === undefined ? content : (inner ?? '');
}

function seen(request: SeenRequest | undefined): SeenRequest {
  if (request === undefined) throw new Error('there was no such request');
  return request;
}

describe('a subagent', () => {
  test('works in a run of its own under the same instructions, and its answer is the result of the call', async () => {
    const { run, provider, events, store } = await opened({
      tools: [subagent(), look],
      script: [
        { calls: [ask('count the files')], usage },
        { text: 'there are 3', usage },
        { text: 'done: 3', usage },
      ],
    });
    const result = await run('how many?', { limits: { tokens: 9_000, modelCalls: 5 } });
    expect([result.status, result.answer]).toEqual(['completed', 'done: 3']);
    const child = provider.requests[1]?.json;
    expect(child.messages).toEqual([
      { role: 'system', content: 'You answer tests.' },
      { role: 'user', content: 'count the files' },
    ]);
    // At the deepest level the child is not shown a tool that could only be refused.
    expect(child.tools.map((tool: { function: { name: string } }) => tool.function.name)).toEqual(['look']);
    // Whatever the child has read, its answer is data to its parent.
    expect(provider.requests[2]?.json.messages.at(-1).content).toMatch(
      /^<untrusted-result mark="mark_\w{26}" tool="subagent">/,
    );
    expect(JSON.parse(lastResult(seen(provider.requests[2])))).toMatchObject({
      status: 'completed',
      answer: 'there are 3',
      usage: { modelCalls: 1, totalTokens: 15 },
    });
    const [begun] = ofType(events, 'child-start');
    const [ended] = ofType(events, 'child-finish');
    expect(begun?.inherits).toEqual({
      instructions: 'parent',
      prompt: result.prompt,
      capabilities: ['look'],
      tools: ['look'],
      withheld: [
        { name: 'subagents', reason: 'No level below the child is left in the budget.' },
        { name: 'subagent', reason: "It needs the capability 'subagents', which the child has not." },
      ],
    });
    expect(ended).toMatchObject({ status: 'completed', usage: { totalTokens: 15 } });
    expect([result.usage.modelCalls, result.usage.totalTokens]).toEqual([3, 45]);
    expect([result.budget.tokens?.used, result.budget.modelCalls?.used]).toEqual([45, 3]);
    expect(await store.run(begun?.child ?? '')).toMatchObject({ parent: result.run });
    const recorded = await store.events(begun?.child ?? '');
    expect(recorded.at(-1)).toMatchObject({ type: 'run-finish', status: 'completed' });
  });

  test('is drawn and traced below the call that it worked for', async () => {
    const { run, store, events } = await opened({
      tools: [subagent(), look],
      script: [
        { calls: [ask('count')], usage },
        { text: '3', usage },
        { text: 'done', usage },
      ],
    });
    const { run: id, session: sessionId } = await run('go');
    const [record, session] = [await store.run(id), await store.session(sessionId)];
    if (record === undefined || session === undefined) throw new Error('no record');
    const [begun] = ofType(events, 'child-start');
    const { spans } = await readTrace(store, record, session);
    expect(spans.map(({ id: span, parent: above }) => [span, above])).toEqual([
      [id, null],
      [`${id}/t1`, id],
      [`${id}/t1/a1`, `${id}/t1`],
      [`${id}/t1/c1`, `${id}/t1`],
      [begun?.child, `${id}/t1/c1`],
      [`${begun?.child}/t1`, begun?.child],
      [`${begun?.child}/t1/a1`, `${begun?.child}/t1`],
      [`${id}/t2`, id],
      [`${id}/t2/a1`, `${id}/t2`],
    ]);
    const drawn = drawRun(await readRunView(store, record, session), {
      commandFor: (...words) => words.join(' '),
      resume: { text: '', command: true },
      cells: 100,
    });
    const tree = drawn.slice(drawn.indexOf('TURN 1'), drawn.indexOf('TURN 2'));
    expect(
      tree
        .replaceAll(begun?.child ?? '', 'CHILD')
        .trimEnd()
        .split('\n'),
    ).toEqual([
      'TURN 1 · 30 tokens · cost unknown',
      '└─ 1 subagent {"query":"count"}',
      '   ├─ child CHILD · completed · 15 tokens · cost unknown',
      '   │  ├─ given: the same instructions, look, without subagents, subagent',
      '   │  ├─ task: count',
      '   │  ├─ turn 1 · 15 tokens · cost unknown',
      '   │  │  └─ the answer',
      '   │  └─ answer: 3',
      expect.stringMatching(/^ {3}└─ ok · \d+ bytes/),
    ]);
  });

  test('a limit reached in the child is a typed result for the parent, which goes on', async () => {
    const { run, provider } = await opened({
      tools: [subagent({ turns: 1 }), look],
      script: [
        { calls: [ask('look around')], usage },
        { calls: [{ id: 'c9', name: 'look', arguments: '{}' }], usage },
        { text: 'it did not get there', usage },
      ],
    });
    const result = await run('go');
    expect([result.status, result.answer]).toEqual(['completed', 'it did not get there']);
    expect(lastResult(seen(provider.requests[2]))).toMatch(
      /^failed\(budget\.exhausted\): The helper run_\S+ ended as failed\. The budget allows 1 turns .* It made 1 requests \(15 tokens\)/,
    );
    expect(result.usage.totalTokens).toBe(45);
  });

  test('a limit of the parent holds for the child, and both are counted once', async () => {
    const { run } = await opened({
      tools: [subagent(), look],
      script: [
        { calls: [ask('a')], usage },
        { text: 'b', usage },
      ],
    });
    const result = await run('go', { limits: { modelCalls: 2 } });
    expect(result).toMatchObject({
      status: 'failed',
      error: { code: 'budget.exhausted', details: { counter: 'modelCalls', limit: 2, left: 0 } },
      budget: { modelCalls: { used: 2, left: 0, reserved: 0 } },
    });
  });

  test('may go as deep as the budget says and no deeper', async () => {
    const { run, provider } = await opened({
      tools: [subagent()],
      script: [
        { calls: [ask('first level')], usage },
        { calls: [ask('second level')], usage },
        { text: 'deep', usage },
        { text: 'less deep', usage },
        { text: 'top', usage },
      ],
    });
    const result = await run('go', { limits: { depth: 2 } });
    expect(result.answer).toBe('top');
    expect(provider.requests.map(({ json }) => json.tools !== undefined)).toEqual([
      true,
      true,
      false,
      true,
      true,
    ]);
    expect(result.usage.modelCalls).toBe(5);
  });

  test('a depth of zero makes no child', async () => {
    const { run, provider, events } = await opened({
      tools: [subagent()],
      script: [
        { calls: [ask('x')], usage },
        { text: 'alone', usage },
      ],
    });
    await run('go', { limits: { depth: 0 } });
    expect(lastResult(seen(provider.requests[1]))).toMatch(
      /^failed\(budget\.exhausted\): No helper was begun\. .*depth/,
    );
    expect(ofType(events, 'child-start')).toEqual([]);
  });

  test('is refused what its parent is doing or another child has done, and after three without an answer', async () => {
    const { run, provider, events } = await opened({
      tools: [subagent({ turns: 1 }), look],
      script: [
        { calls: [ask('  go ')], usage },
        { calls: [ask('one', 'c2')], usage },
        { text: 'is one', usage },
        { calls: [ask('one', 'c3')], usage },
        ...['a', 'b', 'c'].flatMap((task) => [
          { calls: [ask(task, `call_${task}`)], usage },
          { calls: [{ id: 'c9', name: 'look', arguments: '{}' }], usage },
        ]),
        { calls: [ask('d', 'c7')], usage },
        { text: 'enough', usage },
      ],
    });
    await run('go');
    const results = provider.requests
      .slice(1)
      .filter(({ json }) => json.messages.length > 2)
      .map(lastResult);
    expect(results[0]).toMatch(
      /^failed\(run\.child-duplicate\): No helper was begun\. The task is that of the run itself/,
    );
    expect(results[2]).toMatch(/^failed\(run\.child-duplicate\): .* has answered this very task/);
    expect(results.at(-1)).toMatch(
      /^failed\(run\.child-no-progress\): .*budget\.exhausted, budget\.exhausted, budget\.exhausted/,
    );
    expect(ofType(events, 'child-start')).toHaveLength(4);
  });

  test.each([
    [{ capabilities: 'look, root', tools: 'look' }, "capability 'root'"],
    [{ tools: 'look, rm' }, "tool 'rm'"],
  ])('never gets what its parent has not: %j', async (options, excess) => {
    const { run, provider, events } = await opened({
      tools: [subagent(options), look],
      script: [
        { calls: [ask('x')], usage },
        { text: 'no', usage },
      ],
    });
    await run('go');
    expect(lastResult(seen(provider.requests[1]))).toMatch(/^failed\(run\.child-widens\)/);
    expect(lastResult(seen(provider.requests[1]))).toContain(`the parent has no ${excess}. It has:`);
    expect(ofType(events, 'child-start')).toEqual([]);
  });

  test('with instructions of its own sees those alone', async () => {
    const { run, provider, events } = await opened({
      tools: [subagent({ instructions: 'You count.', tools: 'look' }), look],
      script: [
        { calls: [ask('x')], usage },
        { text: '1', usage },
        { text: 'ok', usage },
      ],
    });
    await run('go');
    expect(provider.requests[1]?.json.messages[0]).toEqual({ role: 'system', content: 'You count.' });
    expect(ofType(events, 'child-start')[0]?.inherits.instructions).toBe('given');
  });

  test('ends with its parent', async () => {
    const stop = new AbortController();
    const { run, provider, events, store } = await opened({
      tools: [subagent()],
      script: [
        { calls: [ask('wait')], usage },
        { text: 'half', usage, ending: 'hang' },
      ],
    });
    const running = run('go', { signal: stop.signal });
    await provider.arrived(2);
    stop.abort('enough');
    const result = await running;
    expect(result).toMatchObject({ status: 'cancelled', error: { code: 'run.cancelled' } });
    const [ended] = ofType(events, 'child-finish');
    expect(ended).toMatchObject({ status: 'cancelled', error: { code: 'run.cancelled' } });
    expect(await store.holder(ended?.child ?? '')).toBeUndefined();
    expect(events.at(-1)?.type).toBe('run-finish');
  });

  test('several at once are held by the limit of concurrency', async () => {
    const { run, provider } = await opened({
      tools: [subagent()],
      script: (request) =>
        request.json.messages.length > 2
          ? { text: 'all', usage }
          : request.json.messages.at(-1).content === 'go'
            ? { calls: [ask('a', 'c1'), ask('b', 'c2'), ask('c', 'c3')], usage }
            : { text: `did ${request.json.messages.at(-1).content}`, usage },
    });
    const result = await run('go', { limits: { concurrency: 2 } });
    const results = provider.requests
      .at(-1)
      ?.json.messages.filter((m: { role: string }) => m.role === 'tool');
    expect(
      results.map((m: { content: string }) =>
        lastResult({ json: { messages: [{ ...m, role: 'tool' }] } } as SeenRequest).slice(0, 24),
      ),
    ).toEqual(['{"status":"completed","a', '{"status":"completed","a', 'failed(budget.exhausted)']);
    expect(result.budget.concurrency).toEqual({ limit: 2, used: 0, reserved: 0, overrun: 0, left: 2 });
  });
});

const send = defineTool<object>({
  name: 'send',
  description: 'Sends.',
  parameters: { type: 'object', properties: {}, additionalProperties: false },
  capability: 'send',
  access: 'write',
  repeat: 'once',
  execute: () => {
    sent += 1;
    return 'sent';
  },
});
let sent = 0;
/** The run of the test that is at work. */
let parent: string | undefined;

describe('a run with a child', () => {
  test.each(['model-request', 'run-finish', 'child-finish'] as const)(
    'killed before the %s of its child, goes on with that child and pays for nothing twice',
    async (type) => {
      const { run, resume, provider, store } = await opened({
        tools: [subagent(), look],
        script: [
          { calls: [ask('look')], usage },
          { calls: [{ id: 'c9', name: 'look', arguments: '{}' }], usage },
          { text: 'saw it', usage },
          { text: 'all done', usage },
        ],
      });
      const died = await run('go', {
        limits: { tokens: 9_000 },
        store: dying(
          store,
          (of, event) =>
            event.type === type &&
            (type === 'child-finish' || of !== parent) &&
            !('turn' in event && event.turn === 1),
        ),
        onEvents: (events) => {
          parent ??= events[0]?.run;
        },
      });
      expect(died.status).toBe('unknown');
      const result = await resume(died.run);
      expect([result.status, result.answer]).toEqual(['completed', 'all done']);
      const events = await store.events(died.run);
      expect(ofType(events, 'child-start')).toHaveLength(1);
      expect(ofType(events, 'child-finish')).toMatchObject([{ status: 'completed', spent: { tokens: 30 } }]);
      expect(provider.requests).toHaveLength(4);
      expect([result.usage.totalTokens, result.budget.tokens?.used]).toEqual([60, 60]);
      parent = undefined;
    },
  );

  test('waits while its child waits for a person, who answers either', async () => {
    sent = 0;
    const { run, resume, store, provider } = await opened({
      tools: [subagent({ tools: 'send' }), send],
      script: [
        { calls: [ask('send it')], usage },
        { calls: [{ id: 'c9', name: 'send', arguments: '{}' }], usage },
        { text: 'it is sent', usage },
        { text: 'done', usage },
      ],
    });
    const paused = await run('go', { approve: 'pause' });
    expect([paused.status, paused.ticket?.tool, paused.usage.totalTokens]).toEqual(['paused', 'send', null]);
    const record = await store.run(paused.run);
    const session = await store.session(paused.session);
    if (record === undefined || session === undefined) throw new Error('no record');
    const view = await readRunView(store, record, session);
    expect([view.state, view.ticket?.id]).toEqual(['paused', paused.ticket?.id]);
    expect(view.children).toMatchObject([{ key: '1:1', view: { state: 'paused', parent: paused.run } }]);
    await answerTicket(store, 'test:2:2', {
      run: paused.run,
      ticket: paused.ticket?.id ?? '',
      decision: 'approved',
      by: 'me',
      reason: '',
    });
    const result = await resume(paused.run, { approve: 'pause' });
    expect([result.status, result.answer, sent]).toEqual(['completed', 'done', 1]);
    expect([result.usage.totalTokens, provider.requests.length]).toEqual([60, 4]);
  });

  test('is forgotten with its children and theirs', async () => {
    const { run, store, events } = await opened({
      tools: [subagent()],
      script: [
        { calls: [ask('first')], usage },
        { calls: [ask('second')], usage },
        { text: 'deep', usage },
        { text: 'less deep', usage },
        { text: 'top', usage },
      ],
    });
    const { session } = await run('go', { limits: { depth: 2 } });
    expect(await store.runs()).toHaveLength(3);
    await forgetSession(store, 'test:2:2', session);
    expect(await store.runs()).toEqual([]);
    expect(await store.session(ofType(events, 'child-start')[0]?.session ?? '')).toBeUndefined();
  });

  test('takes along a child that was left open when it is ended from outside', async () => {
    const { run, resume, store } = await opened({
      tools: [subagent({ tools: 'send' }), send],
      script: [
        { calls: [ask('send it')], usage },
        { calls: [{ id: 'c9', name: 'send', arguments: '{}' }], usage },
      ],
    });
    const paused = await run('go', { approve: 'pause' });
    const ended = await resume(paused.run, { signal: AbortSignal.abort('no more') });
    expect(ended.status).toBe('cancelled');
    const [finish] = ofType(await store.events(paused.run), 'child-finish');
    expect(finish).toMatchObject({ status: 'cancelled' });
    expect((await store.events(finish?.child ?? '')).at(-1)).toMatchObject({ type: 'run-finish' });
    await expect(resume(finish?.child ?? '')).rejects.toMatchObject({ code: 'run.is-child' });
  });
});
