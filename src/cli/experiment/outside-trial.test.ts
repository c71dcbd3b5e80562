/** Where the requests of a trial's agent program are sent on to. */
import { rm } from 'node:fs/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { vocabulary } from '../../catalog.ts';
import { loadAgent } from '../../compose/load/agent.ts';
import { agentFolder } from '../call.cases.ts';
import { outsideOrigin } from './outside-trial.ts';

let folder: string;
beforeEach(async () => {
  folder = await agentFolder();
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const key = { OPENAI_API_KEY: 'sk-canary-0123456789' };

test.each([
  ['codex', key, {}, 'https://api.openai.com/v1'],
  ['codex', {}, {}, 'https://chatgpt.com/backend-api/codex'],
  ['gemini', {}, {}, 'https://generativelanguage.googleapis.com'],
  ['codex', {}, { baseUrl: 'http://127.0.0.1:1/v1' }, 'http://127.0.0.1:1/v1'],
])('%s with %j and %j is sent on to %s', async (name, env, flags, expected) => {
  const agent = { ...(await loadAgent(`${folder}/a`, vocabulary)), tools: [] };
  const harness = { name, intent: 'developer', fidelity: 'base', model: null } as const;
  // Of its surroundings nothing else is looked at.
  const context = { env, cwd: folder };
  const origin = await outsideOrigin(
    context,
    { harness, agent },
    {},
    { ...flags, bin: [`${name}=/none`] },
    folder,
  );
  expect(origin.outside.baseUrl).toBe(expected);
});

test('where it asks several vendors the base URL has to be given', async () => {
  const agent = { ...(await loadAgent(`${folder}/a`, vocabulary)), tools: [] };
  const harness = { name: 'pi', intent: 'append', fidelity: 'base', model: null } as const;
  const context = { env: key, cwd: folder };
  await expect(
    outsideOrigin(context, { harness, agent }, {}, { bin: ['pi=/none'] }, folder),
  ).rejects.toMatchObject({ code: 'cli.missing-argument' });
});
