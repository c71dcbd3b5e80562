/** Agents of the Agent Client Protocol, measured: one that takes our text, one that passes it over, and a vendor's own. */
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { systemClock } from '../../clock.ts';
import { adapterNamed, allAdapters, straysOf } from '../drive/drive.cases.ts';
import { acpAgent } from './acp.cases.ts';
import { verifyHarness } from './verify.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'writ-acp-'));
  // Another test counts the stages of this machine.
  vi.stubEnv('TMPDIR', root);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  expect(await straysOf(root)).toEqual([]);
  await rm(root, { recursive: true, force: true });
});

async function verify(program: string, words: readonly string[]) {
  return verifyHarness({
    adapter: adapterNamed('acp'),
    adapters: allAdapters,
    program,
    words,
    model: null,
    known: [],
    env: { PATH: process.env.PATH },
    clock: systemClock,
    signal: new AbortController().signal,
    timeoutMs: 60_000,
    depth: 'cells',
  });
}

async function written(system: string): Promise<string> {
  const path = join(root, 'agent.mjs');
  await writeFile(path, acpAgent(system));
  await chmod(path, 0o755);
  return path;
}

test('an agent that takes the text has cells that say so, under its own command', async () => {
  const program = await written("typeof meta === 'string' ? meta : vendor + meta.append");
  const report = await verify(program, ['--acp']);
  expect(report.faults).toEqual([]);
  expect(
    report.intents.map(({ cells }) => cells.map(({ date, ...cell }) => cell)).map(([cell]) => cell),
  ).toMatchObject([
    {
      harness: 'acp',
      version: 'agent.mjs --acp 2.3.4',
      intent: 'replace',
      control: '_meta.systemPrompt',
      delivered: true,
      position: { field: 'messages', role: 'system', index: 0 },
      residue: { bytes: 0 },
      byteEquality: true,
      altered: [],
    },
    { intent: 'append', delivered: true, residue: { bytes: 20 }, builtInBytes: 20 },
  ]);
}, 60_000);

test('an agent that passes the text over is measured not to deliver it', async () => {
  const report = await verify(await written('vendor'), ['--acp']);
  expect(report.intents.flatMap(({ cells }) => cells.map(({ delivered }) => delivered))).toContain(false);
  expect(report.intents.flatMap(({ cells }) => cells.map(({ delivered }) => delivered))).not.toContain(true);
}, 60_000);

test('an agent that does not speak the protocol has no cell, and the reason is told', async () => {
  const report = await verify(await written('vendor'), []);
  expect(report.intents.flatMap(({ cells }) => cells)).toEqual([]);
  expect(report.faults[0]).toMatch(/^replace: /);
}, 60_000);

const qwen = resolve('conformance/node_modules/.bin/qwen');
test.skipIf(process.env.WRIT_REAL_AGENTS !== '1' || !existsSync(qwen))(
  'a real agent: Qwen Code passes it over',
  async () => {
    const report = await verify(qwen, ['--acp', '--auth-type', 'openai']);
    const cells = report.intents.flatMap((one) => one.cells);
    expect(cells.map(({ intent, delivered }) => [intent, delivered])).toEqual([
      ['replace', false],
      ['append', false],
    ]);
    expect(cells[0]?.version).toMatch(/^qwen --acp --auth-type openai \d/);
  },
  120_000,
);
