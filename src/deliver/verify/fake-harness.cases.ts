/** What tests of the verifier share: an agent program of our own making, honest or with one bad habit, and its adapter. */
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Adapter } from '../adapter.ts';
import { modelFamily } from '../model-family.ts';

/** What the program does that it should not; `honest` is none. */
export type Habit =
  | 'honest'
  | 'adds-instead'
  | 'careless'
  | 'believes-workspace'
  | 'keeps-and-adds'
  | 'mute'
  | 'hangs';

const source = String.raw`#!/usr/bin/env node
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
const flag = (name) => { const at = process.argv.indexOf(name); return at < 0 ? undefined : process.argv[at + 1]; };
if (process.argv.includes('--version')) {
  // Programs make themselves at home at the first question already.
  mkdirSync(join(process.env.HOME, '.fake'), { recursive: true });
  appendFileSync(process.argv[1] + '.homes', process.env.HOME + '\n');
  console.log('fake 3.2.1 (test)');
  process.exit(0);
}
const habit = flag('--habit'), home = flag('--home'), resume = flag('--resume');
if (habit === 'mute') { console.error('no model today'); process.exit(7); }
if (habit === 'hangs') { setInterval(() => {}, 1000); await new Promise(() => {}); }
const login = join(home, 'login');
if ((process.env.FAKE_KEY === undefined) !== existsSync(login)) { console.error('one of key and login'); process.exit(9); }
const read = (path) => path === undefined ? undefined : readFileSync(path, 'utf8');
const vendor = 'You are Fake, the agent of a vendor. ' + 'Its prompt is long and says much. '.repeat(20);
let ours = read(flag('--replace')) ?? read(flag('--append'));
if (habit === 'careless') ours = ours.trim().replace(/^\uFEFF/, '');
if (habit === 'careless' && ours !== '' && ours.length < 99 && existsSync(ours)) ours = read(ours);
const replaces = flag('--replace') !== undefined && habit !== 'adds-instead';
const above = [replaces ? ours : vendor];
if (!replaces) above.push(ours);
above.push('The vendor keeps this line.');
const task = readFileSync(0, 'utf8');
if (habit === 'believes-workspace' && existsSync('AGENTS.md')) above.push(read('AGENTS.md'));
const id = resume ?? 'session-1', file = join(home, id + '.json');
const earlier = resume === undefined ? { above: [] } : JSON.parse(readFileSync(file, 'utf8'));
if (habit === 'keeps-and-adds') above.unshift(...earlier.above);
mkdirSync(home, { recursive: true });
writeFileSync(file, JSON.stringify({ above: [...earlier.above, ours] }));
console.log(JSON.stringify({ type: 'session', id }));
const ask = (system, content, tools) => new Promise((resolve) => request(flag('--base') + '/v1/messages', { method: 'POST', headers: { 'content-type': 'application/json', 'x-api-key': process.env.FAKE_KEY ?? read(login) } }, (answer) => answer.resume().once('end', resolve)).end(JSON.stringify({ model: 'fake-1', max_tokens: 9, system: system.filter((text) => text !== '').map((text) => ({ type: 'text', text })), messages: [{ role: 'user', content }], tools })));
await ask(['Write a title for this.'], task, []);
await ask(above, task, [{ name: 'look', input_schema: { type: 'object' } }]);
`;

/** Writes the program and makes its adapter; `remove` takes the program away again. */
export async function fakeHarness(
  habit: Habit,
): Promise<{ adapter: Adapter; program: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'writ-fake-'));
  const program = join(folder, 'fake.mjs');
  await writeFile(program, source);
  await chmod(program, 0o755);
  return { adapter: adapterOf(habit), program, remove: () => rm(folder, { recursive: true }) };
}

function adapterOf(habit: Habit): Adapter {
  return {
    name: 'fake',
    summary: 'A program for tests.',
    program: 'fake',
    versionArgv: ['--version'],
    declares: { budget: 'none', approval: 'none', effects: 'none', resume: 'none', cancel: 'none' },
    controls: {
      replace: { control: '--replace', transport: 'file', lands: 'first' },
      append: { control: '--append', transport: 'file', lands: 'second' },
      developer: { none: 'it has none' },
      context: { none: 'it has none' },
    },
    dimensions: {},
    models: {},
    family: modelFamily,
    keyVariables: ['FAKE_KEY'],
    owns: /^FAKE_/,
    resume: 'send-again',
    cells: [],
    loginForVerify: () => [{ path: 'login', text: 'made-up', until: 'session' }],
    plan: ({ request }) => ({
      argv: [
        ...['--habit', habit, '--home', request.home, '--base', request.baseUrl ?? ''],
        ...[`--${request.intent}`, join(request.home, 'prompt.md')],
        ...(request.resume === null ? [] : ['--resume', request.resume]),
      ],
      files: [{ path: 'prompt.md', text: request.text, until: 'run' }],
      stdin: request.task,
      task: { control: 'stdin', transport: 'stdin' },
    }),
  };
}
