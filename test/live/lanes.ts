/** The live lanes: small tasks that show the parts of a run working on a real model. Each ends, whatever the model does. */
import { randomInt } from 'node:crypto';
import { systemClock } from '../../src/clock.ts';
import { plainComposition } from '../../src/compose/plain.ts';
import { thisHolder } from '../../src/ledger/holder.ts';
import { openLedger } from '../../src/ledger/ledger.ts';
import { memoryStore } from '../../src/ledger/stores/memory.ts';
import type { ResolvedModel } from '../../src/native/model/providers.ts';
import { type NativeOptions, native } from '../../src/native/native.ts';
import { contextSearch, contextSlice } from '../../src/native/tool/context-tools.ts';
import { defineTool } from '../../src/native/tool/define-tool.ts';
import type { LiveDelta, RunEvent } from '../../src/protocol/events.ts';
import type { RunResult } from '../../src/protocol/outcome.ts';
import { addUsage } from '../../src/protocol/usage.ts';
import { startRun } from '../../src/run/run.ts';
import type { LaneResult } from './evidence.ts';

export type Lane = (model: ResolvedModel) => Promise<LaneResult>;

const system = 'You follow instructions exactly and answer as briefly as you can, without any decoration.';
/** Enough for a model that reasons before it answers. */
const maxTokens = 4000;
const limits = { turns: 6, modelCalls: 10, wallTimeMs: 120_000 };

/** One question, one word. */
export const smoke: Lane = async (model) => {
  const seat = openSeat(model);
  const result = await seat.run('Answer with the one word: pong');
  return seat.judge('smoke', [result], containing(result, 'pong'));
};

/** The text comes in parts, and the parts are the answer. */
export const stream: Lane = async (model) => {
  const seat = openSeat(model);
  const result = await seat.run('Write the whole numbers from 1 to 30, separated by one blank.');
  const texts = seat.deltas.filter(({ type }) => type === 'text-delta').map(({ text }) => text);
  const fault =
    texts.length < 2
      ? `The text came in ${texts.length} parts.`
      : texts.join('') === result.answer
        ? null
        : 'The parts do not join to the answer.';
  return seat.judge('stream', [result], containing(result, '28 29 30'), fault);
};

/** The answer is only in what a tool returns. */
export const tool: Lane = async (model) => {
  const number = String(randomInt(100_000, 999_999));
  const lookup = defineTool({
    name: 'stock_of',
    description: 'Tells how many pieces of a part are in stock.',
    parameters: {
      type: 'object',
      properties: { part: { type: 'string', description: 'The name of the part.' } },
      required: ['part'],
      additionalProperties: false,
    },
    capability: 'parts',
    access: 'read',
    repeat: 'safe',
    execute: () => ({ pieces: Number(number) }),
  });
  const seat = openSeat(model, { tools: [lookup] }, ['parts']);
  const result = await seat.run('How many pieces of the part "hinge" are in stock? Answer with the number.');
  const fault = result.toolCalls === 0 ? 'The model called no tool.' : null;
  return seat.judge('tool', [result], containing(result, number), fault);
};

/** The answer is one line of a text that is not in the prompt. */
export const context: Lane = async (model) => {
  const number = String(randomInt(100_000, 999_999));
  const lines = Array.from({ length: 4000 }, (_, i) => `entry ${i}: nothing to report`);
  lines[2811] = `entry 2811: the code of the blue door is ${number}`;
  const seat = openSeat(
    model,
    {
      tools: [contextSearch(), contextSlice()],
      contexts: [{ alias: 'input', source: { kind: 'text', text: lines.join('\n') } }],
    },
    ['context'],
  );
  const result = await seat.run(
    'The context "input" is a log. What is the code of the blue door? Answer with the number.',
  );
  const fault = result.toolCalls === 0 ? 'The model did not look into the context.' : null;
  return seat.judge('context', [result], containing(result, number), fault);
};

/** A second run of a session repeats a long beginning, which a provider may have cached. */
export const cache: Lane = async (model) => {
  const long = Array.from({ length: 400 }, (_, i) => `Rule ${i}: part number ${i} is called part-${i * 7}.`);
  const seat = openSeat(model, {}, [], [system, ...long].join('\n'));
  const first = await seat.run('What is part number 12 called?');
  const second = await seat.run('And part number 200?', first.session);
  const right = containing(second, 'part-1400');
  const cached = second.usage.cachedTokens ?? 0;
  // A cache is the provider's to give: without a hit the answers are still usable.
  return seat.judge('cache', [first, second], right === 1 && cached === 0 ? 0.5 : right);
};

function containing({ answer }: RunResult, wanted: string): LaneResult['quality'] {
  if (answer === null || answer.trim() === '') return 0;
  return answer
    .toLowerCase()
    .replaceAll(/[\s,]+/g, ' ')
    .includes(wanted)
    ? 1
    : 0.5;
}

function openSeat(
  model: ResolvedModel,
  options: Omit<NativeOptions, 'model'> = {},
  capabilities: readonly string[] = [],
  text = system,
) {
  const store = openLedger({ store: memoryStore(), secrets: model.secrets });
  const harness = native({ model, request: { maxTokens }, ...options });
  const deltas: LiveDelta[] = [];
  const events: RunEvent[] = [];
  return {
    deltas,
    run: (task: string, session?: string) =>
      startRun({
        harness,
        store,
        clock: systemClock,
        holder: thisHolder(),
        approve: 'deny',
        composition: plainComposition('live', text),
        capabilities,
        limits,
        task,
        ...(session === undefined ? {} : { session }),
        origin: {},
        onLive: (delta) => deltas.push(delta),
        onEvents: (stored) => events.push(...stored),
      }),
    /** Closes what the lane used, and says how it went. */
    async judge(
      lane: string,
      results: readonly RunResult[],
      quality: LaneResult['quality'],
      fault: string | null = null,
    ): Promise<LaneResult> {
      await Promise.all((options.tools ?? []).map((one) => one.close()));
      await store.close();
      const broken = results.find(({ status }) => status !== 'completed');
      const error = broken?.error === undefined ? fault : `${broken.status}: ${broken.error?.message ?? ''}`;
      const response = events.findLast((event) => event.type === 'model-response');
      return {
        lane,
        health: error === null ? 'ok' : 'failed',
        quality: error === null ? quality : 0,
        fault: error,
        modelSeen: response?.type === 'model-response' ? response.modelSeen : null,
        usage: results.map(({ usage }) => usage).reduce(addUsage),
        elapsedMs: results.reduce((sum, { elapsedMs }) => sum + elapsedMs, 0),
      };
    },
  };
}
