/** The contract of the harness port, held over every harness that the catalogue names: agent programs, and our own session. */
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { acpAgent, acpCell } from '../src/deliver/drive/acp.cases.ts';
import { allAdapters, openDriveRig, prints, recorded, straysOf } from '../src/deliver/drive/drive.cases.ts';
import { guarantees } from '../src/harness.ts';
import { defineTool } from '../src/native/tool/define-tool.ts';
import type { RunEvent } from '../src/protocol/events.ts';
import type { RunResult } from '../src/protocol/outcome.ts';
import type { StartRequest } from '../src/run/run.ts';
import { openRig } from './rig.ts';

/** What the model, or the program, does with each task. */
type Scene = 'answers' | 'is refused' | 'hangs';

interface Subject {
  readonly events: readonly RunEvent[];
  run(more?: Partial<StartRequest>): Promise<RunResult>;
  /** How often a model was asked or a program started. */
  asked(): Promise<number>;
  /** Processes that it left. */
  left(): Promise<readonly string[]>;
  close(): Promise<unknown>;
}

const read = defineTool({
  name: 'read',
  description: 'Reads a file.',
  parameters: { type: 'object', properties: {}, additionalProperties: false },
  capability: 'project',
  access: 'read',
  repeat: 'safe',
  execute: async () => 'intruder',
});

async function ownSession(scene: Scene): Promise<Subject> {
  const answer = { text: 'The file says intruder.' };
  let calls = 0;
  const look = () => {
    calls += 1;
    return { text: 'I look. ', calls: [{ id: `c${calls}`, name: 'read', arguments: '{}' }] };
  };
  const rig = await openRig({
    tools: [read],
    script: ({ json }) => {
      if (scene === 'is refused') return { status: 401, body: '{"error":{"message":"scripted 401"}}' };
      if (scene === 'hangs') return { text: 'I', ending: 'hang' };
      return json.messages.at(-1).role === 'tool' ? answer : look();
    },
  });
  return {
    events: rig.events,
    run: (more) => rig.run('Read the file.', more),
    asked: async () => rig.provider.requests.length,
    left: async () => [],
    close: () => rig.close(),
  };
}

const acpScenes: { readonly [S in Scene]: string } = {
  answers: `
    update({ sessionUpdate: 'tool_call', toolCallId: 'c1', title: 'read', kind: 'read', status: 'pending', rawInput: {} });
    update({ sessionUpdate: 'tool_call_update', toolCallId: 'c1', status: 'completed', content: [{ type: 'content', content: { type: 'text', text: 'intruder' } }] });
    update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'The file says intruder.' } });
    done('end_turn');`,
  'is refused': "send({ id, error: { code: -32000, message: 'scripted 401' } });",
  hangs: '',
};

async function program(name: string, scene: Scene): Promise<Subject> {
  const isAcp = name === 'acp';
  const printed = async () => {
    if (scene === 'hangs') return 'setInterval(() => {}, 1000);';
    return prints(await recorded(name, scene === 'answers' ? 'tool-call' : 'refused'));
  };
  const keys = { OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k', GEMINI_API_KEY: 'k' };
  const rig = await openDriveRig(name, isAcp ? acpAgent(acpScenes[scene]) : await printed(), keys);
  const agent = join(rig.root, 'program.mjs');
  const own = isAcp ? { measured: [acpCell], dimensions: { agent: [agent] } } : {};
  const lowered = Object.fromEntries(guarantees.map((guarantee) => [guarantee, 'none']));
  return {
    events: rig.events,
    run: (more) => rig.run('Read the file.', { lowered, ...more }, own),
    asked: async () => (await rig.starts()).length,
    left: () => straysOf(rig.root),
    close: () => rig.close(),
  };
}

let subject: Subject;
afterEach(() => subject.close());

const open = async (name: string, scene: Scene) => {
  subject = name === 'native' ? await ownSession(scene) : await program(name, scene);
};

describe.each(allAdapters.map((adapter) => [adapter.name, adapter] as const))('%s', (name, adapter) => {
  test('a task: its answer, its calls with their results, its turns and use, in an order that is whole', async () => {
    await open(name, 'answers');
    const result = await subject.run();
    expect(result).toMatchObject({
      status: 'completed',
      harness: name,
      answer: 'The file says intruder.',
      error: null,
      toolCalls: 1,
    });
    const { events } = subject;
    const of = (type: RunEvent['type']) => events.filter((event) => event.type === type);
    expect([events[0]?.type, events.at(-1)?.type]).toEqual(['run-start', 'run-finish']);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1));
    expect([of('turn-start').length, of('turn-finish').length]).toEqual([result.turns, result.turns]);
    const call = events.findIndex(({ type }) => type === 'tool-call');
    expect(events.findIndex(({ type }) => type === 'tool-result')).toBeGreaterThan(call);
    // What a program ran is never ours to run.
    expect(events[call]).toMatchObject(name === 'native' ? { tool: 'read' } : { observed: true });
    // Use that nobody tells is unknown, and no zero.
    expect(result.usage.costUsd).toBe(null);
  });

  test('the next task of its session goes on in it, or that is refused before anything', async () => {
    await open(name, 'answers');
    const first = await subject.run();
    const asked = await subject.asked();
    const next = subject.run({ session: first.session });
    if (adapter.resume === 'none') {
      await expect(next).rejects.toMatchObject({ code: 'deliver.no-resume', kind: 'refused' });
      expect(await subject.asked()).toBe(asked);
      return;
    }
    const second = await next;
    const { session, prompt } = first;
    expect(second).toMatchObject({ status: 'completed', session, prompt });
  });

  test('a request that the provider refuses is a failed run with its reason and a next step', async () => {
    await open(name, 'is refused');
    const { status, answer, error } = await subject.run();
    expect([status, answer, error?.kind]).toEqual(['failed', null, 'failed']);
    expect([error?.message, error?.next]).toEqual([
      expect.stringMatching(/40[01]/),
      expect.stringMatching(/\.$/),
    ]);
    expect(subject.events.at(-1)?.type).toBe('run-finish');
  });

  test('a cancel before it begins asks nobody', async () => {
    await open(name, 'answers');
    expect(await subject.run({ signal: AbortSignal.abort('no') })).toMatchObject({ status: 'cancelled' });
    expect(await subject.asked()).toBe(0);
  });

  test('a cancel while it works ends it, with nothing left', async () => {
    await open(name, 'hangs');
    const cancel = new AbortController();
    const running = subject.run({ signal: cancel.signal });
    for (let i = 0; i < 600 && (await subject.asked()) === 0; i += 1)
      await new Promise((resolve) => setTimeout(resolve, 10));
    cancel.abort('enough');
    expect(await running).toMatchObject({ status: 'cancelled', answer: null });
    expect(subject.events.at(-1)?.type).toBe('run-finish');
    expect(await subject.left()).toEqual([]);
  });
});
