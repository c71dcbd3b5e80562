/** What each protocol is told of a setting, and that one which it cannot say is refused before anything is sent. */
import { afterEach, describe, expect, test } from 'vitest';
import { reasoningEfforts, type Settings } from '../wire/settings.ts';
import { aiSdkModel } from './model/ai-sdk-model.ts';
import type { Model } from './model/model.ts';
import { resolveModel } from './model/providers.ts';
import { scripted } from './model/scripted-sdk.cases.ts';
import { native } from './native.ts';
import { parametersOf } from './request-parameters.ts';

const open: Model[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

function model(spec: string): Model {
  const keys = { OPENAI_API_KEY: 'sk-1', ANTHROPIC_API_KEY: 'sk-2', GEMINI_API_KEY: 'sk-3' };
  const made = resolveModel(spec, { env: { ...keys, OPENROUTER_API_KEY: 'sk-4' } });
  open.push(made);
  return made;
}

const sampling: Settings = { temperature: 0.5, top_p: 0.9, seed: 7, stop: ['END'] };

function told(made: Model, settings: Settings): unknown {
  try {
    return parametersOf(made, { parameters: {}, settings });
  } catch (thrown) {
    return (thrown as { code: string }).code;
  }
}
const unsaid = 'model.setting-unsupported';

describe('of sampling', () => {
  test.each([
    ['openai/gpt-x', { temperature: 0.5, top_p: 0.9, seed: 7, stop: ['END'] }],
    ['openai-responses/gpt-x', unsaid],
    ['anthropic/claude-x', unsaid],
    ['gemini/gemini-3-x', { temperature: 0.5, topP: 0.9, seed: 7, stopSequences: ['END'] }],
  ])('%s is told all of it by its own names, or nothing', (spec, expected) => {
    expect(told(model(spec), sampling)).toEqual(expected);
  });

  test('a protocol that lacks one is told the others', () => {
    const { seed: _, ...fewer } = sampling;
    const { stop: __, ...fewest } = fewer;
    expect(told(model('anthropic/claude-x'), fewer)).toEqual({
      temperature: 0.5,
      top_p: 0.9,
      stop_sequences: ['END'],
    });
    expect(told(model('openai-responses/gpt-x'), fewest)).toEqual({ temperature: 0.5, top_p: 0.9 });
  });
});

describe('of a reasoning effort', () => {
  const adaptive = (effort: string) => ({ thinking: { type: 'adaptive' }, output_config: { effort } });
  const budget = (thinkingBudget: number) => ({ thinkingConfig: { thinkingBudget } });
  const level = (thinkingLevel: string) => ({ thinkingConfig: { thinkingLevel } });
  const budgets = [budget(1024), budget(1024), budget(8192), budget(24_576), unsaid, unsaid];
  const levels = [level('minimal'), level('low'), level('medium'), level('high'), unsaid, unsaid];
  // In the order of the efforts: none, minimal, low, medium, high, xhigh, max.
  test.each<[string, readonly unknown[]]>([
    ['openai/gpt-x', reasoningEfforts.map((effort) => ({ reasoning_effort: effort }))],
    ['openrouter/vendor/x', reasoningEfforts.map((effort) => ({ reasoning_effort: effort }))],
    ['openai-responses/gpt-x', reasoningEfforts.map((effort) => ({ reasoning: { effort } }))],
    [
      'anthropic/claude-x',
      [
        { thinking: { type: 'disabled' } },
        unsaid,
        ...['low', 'medium', 'high', 'xhigh', 'max'].map((effort) => adaptive(effort)),
      ],
    ],
    ['gemini/gemini-2.5-flash', [budget(0), ...budgets]],
    ['gemini/gemini-2.5-pro', [unsaid, ...budgets]],
    ['gemini/gemini-3-flash-preview', [unsaid, ...levels]],
    ['gemini/gemini-2.0-flash', reasoningEfforts.map(() => unsaid)],
    ['gemini/gemma-3', reasoningEfforts.map(() => unsaid)],
  ])('%s is told in its own words, and what it has none for is refused', (spec, expected) => {
    const made = model(spec);
    expect(reasoningEfforts.map((effort) => told(made, { reasoning_effort: effort }))).toEqual(expected);
  });

  test('an AI SDK model is told by what the caller knows of its provider, and refuses without that', () => {
    const { sdk } = scripted([]);
    expect(told(aiSdkModel(sdk), { reasoning_effort: 'low' })).toBe(unsaid);
    const knowing = aiSdkModel(sdk, { reasoning: (effort) => ({ scripted: { reasoningEffort: effort } }) });
    const asked = { parameters: { providerOptions: { scripted: { user: 'u' } } } };
    expect(parametersOf(knowing, { ...asked, settings: { reasoning_effort: 'low', top_p: 0.5 } })).toEqual({
      topP: 0.5,
      providerOptions: { scripted: { user: 'u', reasoningEffort: 'low' } },
    });
  });

  test('it stands beside what a caller says of the same object', () => {
    const settings: Settings = { reasoning_effort: 'high' };
    const parameters = { reasoning: { summary: 'auto', effort: 'low' }, service_tier: 'flex' };
    expect(parametersOf(model('openai-responses/gpt-x'), { parameters, settings })).toEqual({
      reasoning: { summary: 'auto', effort: 'high' },
      service_tier: 'flex',
    });
  });
});

test.each([
  ['an effort that the protocol lacks', 'minimal'],
  ['an effort that there is not', 'very'],
])('a harness is not made with %s', (_, effort) => {
  const settings = { reasoning_effort: effort } as Settings;
  const made = model('anthropic/claude-x');
  expect(() => native({ model: made, request: { settings } })).toThrow(
    expect.objectContaining({ code: unsaid }),
  );
  const { reasoning_effort: reasoningEffort } = settings;
  if (reasoningEffort === undefined) throw new Error('An effort is given.');
  expect(() => native({ model: made, plans: { reasoningEffort } })).toThrow(
    expect.objectContaining({
      code: unsaid,
      message: `Expected a setting that anthropic/claude-x can be given over anthropic; found reasoning_effort: "${effort}", for which it has no words.`,
    }),
  );
});
