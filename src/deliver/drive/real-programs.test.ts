/** The real agent programs, where they are installed, against a scripted model on this machine: whole runs and resumes. */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../clock.ts';
import { plainComposition } from '../../compose/plain.ts';
import { memoryStore } from '../../ledger/stores/memory.ts';
import type { Intent } from '../../protocol/intent.ts';
import { startRun } from '../../run/run.ts';
import type { Exchange } from '../recorder/exchange.ts';
import { readModelRequest } from '../recorder/model-request.ts';
import { startRecorder } from '../recorder/recorder.ts';
import { startScriptedModel } from '../recorder/scripted-model.ts';
import { copiesOf } from '../verify/observe.ts';
import { adapterNamed, allAdapters, lowered, straysOf } from './drive.cases.ts';
import { outside } from './outside.ts';

const bins = resolve('conformance/node_modules/.bin');
const canary = 'You are canary-7f3a. Answer with one word.';

const programs: readonly { name: string; bin: string; intent: Intent; model: string }[] = [
  { name: 'pi', bin: 'pi', intent: 'append', model: 'm1' },
  { name: 'codex', bin: 'codex', intent: 'developer', model: 'gpt-5.1' },
];

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

describe.each(programs)('$name', ({ name, bin, intent, model }) => {
  test.skipIf(!existsSync(join(bins, bin)))(
    'the text stands once after two resumes, the answer and the usage come back, and only the session is kept',
    async () => {
      const { run, exchanges, homes, workspace } = await openReal(name, bin, intent, model);
      const first = await run('Say done.');
      expect(first).toMatchObject({ status: 'completed', answer: 'Done.', turns: 1 });
      const second = await run('Again.', first.session);
      const third = await run('Once more.', first.session);
      expect([second.answer, third.answer]).toEqual(['Done.', 'Done.']);
      const copies = exchanges.flatMap((one) => {
        const reading = readModelRequest(one);
        return reading.kind === 'model' ? [copiesOf(reading.request, canary)] : [];
      });
      expect(copies).toEqual([1, 1, 1]);
      expect(await readdir(workspace)).toEqual([]);
      expect(await readdir(join(homes, first.session))).not.toContain('prompt.md');
    },
    60_000,
  );

  test.skipIf(!existsSync(join(bins, bin)))(
    'a cancel in the middle of a turn ends the real program with all that it started',
    async () => {
      const cancel = new AbortController();
      const { run } = await openReal(name, bin, intent, model, () => cancel.abort('enough'));
      const result = await run('Say done.', undefined, cancel.signal);
      expect(result).toMatchObject({ status: 'cancelled', error: { code: 'run.cancelled' } });
    },
    60_000,
  );
});

/** `onAsk` is called with each request, which then has no answer. */
async function openReal(name: string, bin: string, intent: Intent, model: string, onAsk?: () => void) {
  const root = await mkdtemp(join(tmpdir(), 'writ-real-'));
  const workspace = join(root, 'workspace');
  await mkdir(workspace);
  const scripted = await startScriptedModel(() => ({ text: 'Done.' }));
  const exchanges: Exchange[] = [];
  const recorder = await startRecorder({
    upstream: scripted.url,
    clock: systemClock,
    take: (exchange) => exchanges.push(exchange),
    ...(onAsk === undefined
      ? {}
      : {
          gate: () => {
            onAsk();
            return new Promise<undefined>((resolve) => {
              setTimeout(() => resolve(undefined), 5_000).unref();
            });
          },
        }),
  });
  const store = memoryStore({ clock: systemClock });
  closers.push(
    () => rm(root, { recursive: true, force: true }),
    async () => expect(await straysOf(root)).toEqual([]),
    () => store.close(),
    () => scripted.stop(),
    () => recorder.close(),
  );
  const homes = join(root, 'homes');
  const harness = outside({
    adapter: adapterNamed(name),
    adapters: allAdapters,
    program: join(bins, bin),
    version: null,
    intent,
    fidelity: 'base',
    dimensions: { model },
    baseUrl: `${recorder.url}/v1`,
    workspace,
    homes,
    env: { PATH: process.env.PATH, HOME: root, OPENAI_API_KEY: 'writ-test' },
    unmeasured: 'warn',
  });
  return {
    exchanges,
    homes,
    workspace,
    run: (task: string, session?: string, signal?: AbortSignal) =>
      startRun({
        store,
        harness,
        clock: systemClock,
        holder: 'test:1:1',
        approve: 'deny',
        lowered,
        composition: plainComposition('tester', canary),
        capabilities: [],
        limits: {},
        task,
        origin: {},
        ...(session === undefined ? {} : { session }),
        ...(signal === undefined ? {} : { signal }),
      }),
  };
}
