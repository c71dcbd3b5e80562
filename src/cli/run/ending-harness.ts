/** A harness that can only put an end to a run, made from the run's record alone, whoever started it. */
import { existsSync } from 'node:fs';
import { guarantees, type Harness } from '../../harness.ts';
import type { Store } from '../../ledger/store.ts';
import { muteModel } from '../../native/model/mute-model.ts';
import { native } from '../../native/native.ts';
import { type Settling, settlingTools } from '../../native/settle-run.ts';
import type { RunRecord, SessionRecord } from '../../protocol/record.ts';
import { RunError } from '../../run/errors.ts';
import type { Context } from '../context.ts';
import { type Origin, originOfRun } from './origin.ts';
import { openOutside } from './outside-parts.ts';
import type { HarnessParts } from './parts.ts';

/** It has no tools, no key and nobody to ask. The run is cancelled before it could do anything. */
export async function endingHarness(
  context: Context,
  store: Store,
  { run, session }: { readonly run: RunRecord; readonly session: SessionRecord },
): Promise<Pick<HarnessParts, 'harness'> & Partial<Pick<HarnessParts, 'lowered'>>> {
  const origin = await originOfRun(store, run.id, session).catch(() => undefined);
  if (origin !== undefined && 'outside' in origin) return openOutside(context, origin);
  const { harness: name, model: id } = session;
  const model = name === 'native' && id !== null ? muteModel(id, await wireOf(store, session.id)) : undefined;
  // Nothing is spent any more, so there is no limit that it could fail to keep.
  const harness = model === undefined ? bareEnd(name, id) : { ...native({ model }), unkeepable: () => [] };
  const ender = origin === undefined ? undefined : commandEnder(context, origin);
  return { harness: ender === undefined ? harness : settledBy(harness, ender) };
}

/** Commands outlive the process that started them; those that were not to be kept end with their run. */
function commandEnder({ env }: Context, { tools, workspace }: Origin): Settling | undefined {
  const tool = tools.find(({ name }) => name === 'command_start');
  if (tool === undefined || tool.options.keep === true || !existsSync(workspace)) return undefined;
  return {
    schema: { name: tool.name },
    settle: async (run) => {
      const [{ commandEnds }, { seenThrough }] = await Promise.all([
        import('../../native/command/command-ends.ts'),
        import('../../native/command/command-seat.ts'),
      ]);
      return commandEnds(seenThrough(workspace, { env })).end(run);
    },
  };
}

function settledBy(harness: Harness, tool: Settling): Harness {
  return {
    ...harness,
    open: async (session, host) => {
      const opened = await harness.open(session, host);
      return {
        ...opened,
        turns: (input) => settlingTools(opened.turns(input), { run: input.run, tools: [tool], host }),
      };
    },
  };
}

/** How the session's messages are written; that of any, where it has none yet. */
async function wireOf(store: Store, session: string): Promise<string> {
  for (const { id } of await store.runs({ session })) {
    const request = (await store.events(id)).findLast(({ type }) => type === 'model-request');
    if (request?.type === 'model-request') return request.wire;
  }
  return 'openai-chat';
}

/**
 * Ends the run and settles no call in its words: a session whose messages only its own program can write names what is
 * missing when it goes on.
 */
function bareEnd(name: string, model: string | null): Harness {
  const cancelled = new RunError('run.cancelled', 'The run was told to stop.', {
    next: 'Start the task again with the program that started it.',
  });
  const levels = guarantees.map((guarantee) => [guarantee, 'enforced'] as const);
  return {
    name,
    model,
    declares: Object.fromEntries(levels) as Harness['declares'],
    project: async () => ({ tools: [], text: '' }),
    unkeepable: () => [],
    open: async () => ({
      // biome-ignore lint/correctness/useYield: it ends before its first turn.
      async *turns() {
        return { status: 'cancelled', error: cancelled.toJSON() } as const;
      },
      close: async () => {},
    }),
  };
}
