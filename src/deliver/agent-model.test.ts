/** The model of agent.yaml on each harness: by the name that it has there, or said to be left out. */
import { expect, test } from 'vitest';
import { adapters as catalogued } from '../catalog.ts';
import { agentModel } from './agent-model.ts';
import { requestFor } from './conformance.cases.ts';
import { planDelivery } from './plan-delivery.ts';

const adapters = await Promise.all(catalogued.map((part) => part.load()));
const as = { given: undefined, redirected: false };
const of = (name: string) => {
  const found = adapters.find((adapter) => adapter.name === name);
  if (found === undefined) throw new Error(name);
  return found;
};
const called = (name: string, written: string | null, how: Partial<typeof as> = {}) =>
  agentModel(of(name), written, { ...as, ...how });

test.each([
  ['claude-code', 'anthropic/claude-opus-4-8', 'claude-opus-4-8'],
  ['codex', 'openai/gpt-5.2', 'gpt-5.2'],
  ['gemini', 'google/gemini-2.5-pro', 'gemini-2.5-pro'],
  ['opencode', 'openrouter/vendor/m', 'openrouter/vendor/m'],
  ['pi', 'anthropic/claude-opus-4-8', 'anthropic/claude-opus-4-8'],
  ['qwen-code', 'openai/m', 'm'],
  ['native', 'acme/vendor/m', 'acme/vendor/m'],
])('%s is given %s as %s, in its plan', (name, written, model) => {
  expect(called(name, written)).toEqual({ model, notices: [] });
  const request = requestFor(of(name), { intent: name === 'codex' ? 'developer' : 'replace', model });
  const { argv, files, controls } = planDelivery(name, request, {
    adapters,
    measured: [],
    unmeasured: 'warn',
  });
  expect(controls.map(({ wish }) => wish)).toContain('model');
  if (name !== 'native') expect(JSON.stringify([argv, files])).toContain(JSON.stringify(model).slice(1, -1));
});

test.each(adapters.filter(({ name }) => name !== 'native').map(({ name }) => name))(
  '%s: what it is not known to call by a name is said, and nothing is passed over',
  (name) => {
    for (const written of ['acme/m', 'constructor/m', 'm', 'acme/', '/m']) {
      const { model, notices } = called(name, written);
      expect(model).toBe(null);
      expect(notices).toEqual([
        expect.stringContaining(`${written} of agent.yaml is not used: what ${name}`),
      ]);
    }
    expect(called(name, null)).toEqual({ model: null, notices: [] });
  },
);

test('the name of the caller wins as it is; a server of the caller gets the name without the provider', () => {
  expect(called('pi', 'acme/m', { given: undefined, redirected: true })).toEqual({ model: 'm', notices: [] });
  expect(agentModel(of('codex'), 'openai/x', { given: 'y/z', redirected: true })).toEqual({
    model: 'y/z',
    notices: [],
  });
  // The protocol has no field for it, wherever its requests go.
  expect(called('acp', 'openai/x', { redirected: true }).notices).toHaveLength(1);
});
