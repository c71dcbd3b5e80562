/** What tests of whole runs share: a composition, a store, the native harness on a scripted provider, and one call to run. */
import { systemClock } from '../src/clock.ts';
import { plainComposition } from '../src/compose/plain.ts';
import { sha256 } from '../src/digest.ts';
import type { Store } from '../src/ledger/store.ts';
import { memoryStore } from '../src/ledger/stores/memory.ts';
import type { HttpLimits } from '../src/native/model/http-model.ts';
import { resolveModel } from '../src/native/model/providers.ts';
import { type NativeOptions, native } from '../src/native/native.ts';
import type { Tool } from '../src/native/tool/tool.ts';
import type { RunEvent } from '../src/protocol/events.ts';
import type { RunResult } from '../src/protocol/outcome.ts';
import { resumeRun, type StartRequest, startRun } from '../src/run/run.ts';
import { type Script, type ScriptedProvider, scriptedProvider } from './scripted-provider.ts';

export interface Rig {
  readonly provider: ScriptedProvider;
  readonly store: Store;
  readonly events: RunEvent[];
  run(task: string, more?: Partial<StartRequest>): Promise<RunResult>;
  resume(run: string, more?: Partial<StartRequest>): Promise<RunResult>;
  close(): Promise<void>;
}

export interface RigOptions {
  readonly script: Script;
  readonly tools?: readonly Tool[];
  readonly prompt?: string;
  readonly model?: string;
  readonly store?: Store;
  readonly request?: NativeOptions['request'];
  readonly gate?: NonNullable<NativeOptions['gate']>;
  readonly contexts?: NativeOptions['contexts'];
  readonly root?: NonNullable<NativeOptions['root']>;
  readonly plans?: NonNullable<NativeOptions['plans']>;
  readonly limits?: Partial<HttpLimits>;
  readonly policies?: NativeOptions['policies'];
  readonly workspace?: string;
  readonly spec?: NonNullable<NativeOptions['spec']>;
  readonly compaction?: NonNullable<NativeOptions['compaction']>;
  readonly offer?: NonNullable<NativeOptions['offer']>;
  readonly idempotencyHeader?: string;
  readonly prices?: Readonly<Record<string, { prompt: number; completion: number }>>;
}

/** Opens a rig; `close` also proves that every scripted step was used. */
export async function openRig(options: RigOptions): Promise<Rig> {
  const {
    script,
    tools = [],
    prompt = 'You answer tests.',
    prices,
    request,
    contexts = [],
    offer,
    policies,
  } = options;
  const provider = await scriptedProvider(script);
  const store = options.store ?? memoryStore({ clock: systemClock });
  const model = resolveModel(options.model ?? 'local/scripted-1', {
    env: {},
    baseUrl: provider.url,
    idempotencyHeader: options.idempotencyHeader,
    ...(prices === undefined ? {} : { prices }),
    ...(options.limits === undefined ? {} : { limits: options.limits }),
  });
  const all = [...tools, ...(offer?.tools ?? [])];
  const capabilities = [...new Set(all.map((tool) => tool.capability))];
  const events: RunEvent[] = [];
  const seat = {
    harness: native({
      model,
      tools,
      contexts,
      ...(request === undefined ? {} : { request }),
      ...(options.gate === undefined ? {} : { gate: options.gate }),
      ...(offer === undefined ? {} : { offer }),
      ...(policies === undefined ? {} : { policies }),
      ...(options.workspace === undefined ? {} : { workspace: options.workspace }),
      ...(options.spec === undefined ? {} : { spec: options.spec }),
      ...(options.compaction === undefined ? {} : { compaction: options.compaction }),
      ...(options.root === undefined ? {} : { root: options.root }),
      ...(options.plans === undefined ? {} : { plans: options.plans }),
    }),
    store,
    clock: systemClock,
    holder: 'test:1:1',
    approve: 'deny' as const,
    onEvents: (stored: readonly RunEvent[]) => events.push(...stored),
  };
  return {
    provider,
    store,
    events,
    run: (task, more = {}) =>
      startRun({
        ...seat,
        composition: plainComposition('tester', prompt),
        capabilities,
        limits: {},
        task,
        origin: {},
        ...more,
      }),
    resume: (run, more = {}) => resumeRun({ ...seat, ...more, run, promptNow: sha256(prompt) }),
    async close() {
      await Promise.all(all.map((tool) => tool.close()));
      await model.close();
      await store.close();
      await provider.close();
    },
  };
}
