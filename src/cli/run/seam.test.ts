/** The refusals of `writ run --harness`, for every agent program: they stop all, and with the seam gone nothing else does. */
import { chmod, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { adapters as catalogued } from '../../catalog.ts';
import type { Resolved } from '../../deliver/adapter.ts';
import { intentsOf } from '../../deliver/conformance.cases.ts';
import type { DeliveryRequest } from '../../deliver/request.ts';
import { intents } from '../../protocol/intent.ts';
import { agentFolder, call, writeFiles } from '../call.cases.ts';

const seam = vi.hoisted(() => ({ there: true }));

// What deleting the guard leaves: whatever is asked for goes on to the adapter.
vi.mock('../../deliver/permit.ts', async (original) => {
  const real = await original<typeof import('../../deliver/permit.ts')>();
  const passed = (request: DeliveryRequest): Resolved => ({
    request,
    control: { control: 'none', transport: 'file', lands: 'nowhere' },
    cell: null,
  });
  return {
    ...real,
    permit: (...given: Parameters<typeof real.permit>) =>
      seam.there ? real.permit(...given) : passed(given[1]),
  };
});

let cwd: string;
beforeEach(async () => {
  cwd = await agentFolder();
  await writeFiles(cwd, {
    // Verbatim, and without a line end: two programs are refused any other text.
    'plain/agent.yaml': 'key: plain\njoin: verbatim\nprofiles: { default: [base] }\n',
    'plain/instructions/base.md': 'You are the canary.',
    'tools/agent.yaml': 'key: tools\njoin: verbatim\nprofiles: { default: [base] }\ntools: [project_read]\n',
    'tools/instructions/base.md': 'You are the canary.',
    program: `#!/bin/sh\n[ "$1" = --version ] && echo 99.0.0 && exit 0\necho started >> ${cwd}/starts\nexit 1\n`,
  });
  await chmod(join(cwd, 'program'), 0o755);
});
afterEach(async () => {
  seam.there = true;
  await rm(cwd, { recursive: true, force: true });
});

const keys = ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'GEMINI_API_KEY'];
const env = Object.fromEntries([['PATH', process.env.PATH], ...keys.map((name) => [name, 'sk-canary'])]);
const run = (agent: string, name: string, ...flags: string[]) =>
  call(
    [
      ...['run', agent, '--harness', name, ...flags, '--bin', './program', '--lower', 'all', '--json'],
      ...['--', 'Say hello.'],
    ],
    { cwd, env },
  );
const started = async () => (await readFile(join(cwd, 'starts'), 'utf8').catch(() => '')) !== '';

const adapters = await Promise.all(catalogued.map((part) => part.load()));
const outside = adapters.filter(({ needsCell }) => needsCell !== false);

describe.each(outside.map((adapter) => [adapter.name, adapter] as const))('%s', (name, adapter) => {
  const unable = intents.filter((intent) => !intentsOf(adapter).includes(intent));
  const able = name === 'codex' ? 'developer' : name === 'gemini' ? 'context' : 'append';
  const requests: readonly (readonly [code: string, agent: string, flags: readonly string[]])[] = [
    ...unable.map((intent) => ['deliver.no-control', 'plain', ['--intent', intent]] as const),
    ['deliver.dimension-unsupported', 'tools', ['--intent', able]],
    ['deliver.unmeasured', 'plain', ['--intent', 'replace']],
  ];

  test.each(requests)('%s: nothing is started, and no home is made', async (code, agent, flags) => {
    const { code: exit, stdout } = await run(agent, name, ...flags);
    expect([exit, JSON.parse(stdout).error.code]).toEqual([3, code]);
    expect(await started()).toBe(false);
    expect(await readdir(join(cwd, '.local/state/writ/homes')).catch(() => [])).toEqual([]);
  });

  test.each(requests.slice(unable.length - 1))(
    '%s comes of the seam alone: without it the program is started',
    async (_, agent, flags) => {
      seam.there = false;
      const { stdout } = await run(agent, name, ...flags);
      expect(JSON.parse(stdout).error?.kind).not.toBe('refused');
      expect(await started()).toBe(true);
    },
  );
});
