/** A write whose process was killed: every command says what is unknown, in words and in JSON, and of each sending its own. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { call } from '../src/cli/call.cases.ts';
import { cli, type Started, startCli } from './real-cli.ts';
import { type Script, type ScriptedProvider, scriptedProvider } from './scripted-provider.ts';

let cwd: string;
let provider: ScriptedProvider;
const started: Started[] = [];

/** Asks for the seat, then for the very same once more, then says so. */
const script: Script = ({ json }) => {
  const results = json.messages.filter((m: { role: string }) => m.role === 'tool').length;
  if (results > 1) return { text: 'Asked twice.', usage: null };
  return { calls: [{ id: `call-${results}`, name: 'book', arguments: '{"seat":"4A"}' }], usage: null };
};
const tool = `
import { appendFileSync, existsSync } from 'node:fs';
import { defineTool } from 'writ';
export default defineTool({
  name: 'book',
  description: 'Books a seat.',
  parameters: { type: 'object', properties: { seat: { type: 'string' } }, required: ['seat'] },
  capability: 'booking',
  access: 'write',
  repeat: 'once',
  execute: async ({ seat }) => {
    appendFileSync('acts.log', 'x');
    if (existsSync('stall')) await new Promise((resolve) => setTimeout(resolve, 600_000));
    return 'booked ' + seat;
  },
});
`;

beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'writ-told-'));
  for (const folder of ['desk/instructions', 'desk/tools', '.writ'])
    mkdirSync(join(cwd, folder), { recursive: true });
  const capabilities = 'capabilities: { from: none, booking: true }\ntools: [book]\n';
  writeFileSync(
    join(cwd, 'desk/agent.yaml'),
    `key: desk\nmodel: local/scripted-1\nprofiles: { default: [base] }\n${capabilities}`,
  );
  writeFileSync(join(cwd, 'desk/instructions/base.md'), 'You take bookings.\n');
  writeFileSync(join(cwd, 'desk/tools/book.mjs'), tool);
  writeFileSync(join(cwd, 'stall'), '');
  provider = await scriptedProvider(script);
});
afterEach(async () => {
  for (const { child, end } of started.splice(0)) {
    child.kill('SIGKILL');
    await end;
  }
  await provider.close();
  rmSync(cwd, { recursive: true, force: true });
});

const env = () => ({ HOME: cwd, USER: 'ada' });
/** In this process: commands that load no code of the agent. */
const runs = (...argv: string[]) => call(['runs', ...argv], { cwd, env: env() });
const resume = (...flags: string[]) => cli(cwd, ['runs', 'resume', 'last', ...flags], { USER: 'ada' });
const shown = async () => (await runs('show', 'last')).stdout.replaceAll(/\d{4}-[\d: -]+Z/g, 'WHEN');

/** Begins the run, allows its call, and carries it on until the tool has acted and hangs. */
async function atWork(): Promise<Started> {
  const begin = ['run', 'desk', '--base-url', provider.url, '--approve', 'pause'];
  // What it would run is shown before it is accepted.
  await call([...begin, '--', 'Book 4A.'], { cwd, env: env() });
  expect((await cli(cwd, [...begin, '--trust', '--', 'Book 4A.'], { USER: 'ada' })).code).toBe(5);
  expect((await runs('approve', 'last')).code).toBe(0);
  const resumed = startCli(cwd, ['runs', 'resume', 'last'], { USER: 'ada' });
  started.push(resumed);
  while (acts() === 0) await sleep(20);
  return resumed;
}

async function killed(): Promise<void> {
  const { child, end } = await atWork();
  child.kill('SIGKILL');
  await end;
  rmSync(join(cwd, 'stall'));
}

function acts(): number {
  try {
    return readFileSync(join(cwd, 'acts.log'), 'utf8').length;
  } catch {
    return 0;
  }
}

test('what is unknown stands in the JSON of a resume, and a run at work or ended is told no such thing', async () => {
  const { child, end } = await atWork();
  expect(await shown()).toContain('└─ sent; its answer has not come yet\n');
  const busy = await resume();
  expect(busy.stderr).toMatch(/^error ledger\.lease-held: /);
  child.kill('SIGKILL');
  await end;

  expect(await shown()).toContain('└─ sent; what it did is not known\n');
  const resumed = await resume('--json');
  const result = JSON.parse(resumed.stdout);
  expect(result).toMatchObject({
    ...{ status: 'completed', error: null },
    goesOnAfter: { type: 'effect-dispatch' },
    unsettled: [{ effect: '1.1', tool: 'book', state: 'unknown', attempts: 1, approvedBy: 'ada' }],
  });
  expect(acts()).toBe(1);

  const again = await resume();
  expect(again.stderr).toMatch(/^error run\.already-ended: /);
  expect(again.stderr).toContain(`writ run AGENT --session ${result.session} -- TASK`);
  const finish = JSON.parse(
    (await runs('events', 'last', '--json')).stdout.trimEnd().split('\n').at(-1) ?? '',
  );
  expect(finish).toMatchObject({ type: 'run-finish', budget: { costUsd: { used: null } } });
}, 60_000);

test('two sendings are told apart, and the equal call that nothing was sent for', async () => {
  await killed();
  await runs('reconcile', 'last', '--retry', '--reason', 'Two bookings do no harm.');
  expect(await shown()).toContain(
    [
      '   ├─ decided by ada: it may be sent again (Two bookings do no harm.)',
      '   └─ it may have happened; the run sends it again when it goes on',
    ].join('\n'),
  );
  const resumed = await resume('--json');
  expect(JSON.parse(resumed.stdout)).toMatchObject({ status: 'completed', unsettled: [] });
  expect(acts()).toBe(2);
  const tree = await shown();
  expect(tree).toContain(
    [
      '   ├─ attempt 1, sent WHEN: it may have happened',
      '   │  └─ decided by ada: it may be sent again (Two bookings do no harm.)',
      '   ├─ attempt 2, sent WHEN: its outcome was seen',
    ].join('\n'),
  );
  expect(tree).toContain('nothing was sent for it: it got what the equal call 1.1 brought\n');
  expect(tree).toContain('2 calls (for 1 of them nothing was sent)');
}, 60_000);
