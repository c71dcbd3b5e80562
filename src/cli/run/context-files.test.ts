/** `--context` on a real command line: what the model is told, what it can look into, and what a session keeps of it. */
import { appendFile, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Script, type ScriptedProvider, scriptedProvider } from '../../../test/scripted-provider.ts';
import { agentFolder, call, writeFiles } from '../call.cases.ts';

let cwd: string;
let provider: ScriptedProvider | undefined;
beforeEach(async () => {
  cwd = await agentFolder('model: local/scripted-1');
  const yaml = await readFile(join(cwd, 'a/agent.yaml'), 'utf8');
  await writeFiles(cwd, {
    'a/agent.yaml': yaml
      .replace(/^capabilities: .*$/m, 'capabilities: { from: none, project: true, context: true }')
      .replace(/^tools: .*$/m, 'tools: [project_read, context_search, context_slice, context_peek]'),
    'app.log': 'first line\nthe needle is 4711\nlast line\n',
  });
});
afterEach(async () => {
  await provider?.close();
  provider = undefined;
  await rm(cwd, { recursive: true, force: true });
});

async function run(script: Script, argv: readonly string[]) {
  await provider?.close();
  provider = await scriptedProvider(script);
  return call(['run', 'a', '--base-url', provider.url, ...argv], { cwd });
}
const ask = (name: string, args: unknown, id = name) => ({ id, name, arguments: JSON.stringify(args) });
const messages = (request: number): { role: string; content: string }[] =>
  provider?.requests[request]?.json.messages;

test('the task stands first and word for word, then name and size; the content is found by looking', async () => {
  const { code, stdout } = await run(
    [{ calls: [ask('context_search', { query: 'needle' })] }, { text: 'It is 4711.' }],
    ['--context', 'app.log', '--', 'Find the needle.'],
  );
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'It is 4711.\n' });
  expect(messages(0)[1]?.content).toBe(
    'Find the needle.\n\nContexts of this session, whose content is not in this message. ' +
      'Look into one with context_search, context_slice, context_peek, or hand the name to another tool that takes a context.\n' +
      '- input: text, 40 bytes, 40 characters, 3 lines',
  );
  expect(provider?.requests[0]?.raw).not.toContain('4711');
  expect(messages(1).at(-1)?.content).toBe(
    '{"hits":[{"index":1,"at":15,"value":"the needle is 4711"}],"next":null,"skipped":0,"truncated":false}',
  );
});

test('several files bear names; a session keeps them, and says when one is another file now', async () => {
  await writeFile(join(cwd, 'b.txt'), 'beta');
  const argv = ['--context', 'log=app.log', '--context', 'other=b.txt', '--json', '--', 'One?'];
  const first = JSON.parse((await run([{ text: 'One.' }], argv)).stdout);
  expect(messages(0)[1]?.content).toMatch(/- log: text, 40 bytes.*\n- other: text, 4 bytes/);
  const again = ['--session', first.session, '--json', '--', 'Two?'];
  const script = [
    { calls: [ask('context_peek', { selector: { type: 'tail' }, context: 'log' })] },
    { text: 'Two.' },
  ];
  expect(JSON.parse((await run(script, again)).stdout)).toMatchObject({ status: 'completed' });
  expect(messages(0).at(-1)?.content).toBe('Two?');
  expect(messages(1).at(-1)?.content).toContain('last line');

  await writeFile(join(cwd, 'app.log'), 'rewritten\n');
  const third = await run([{ text: 'Three.' }], ['--session', first.session, '--', 'Three?']);
  expect(third.code).toBe(0);
  expect(third.stderr).toContain("notice: The file of the context 'log' is not what it was");
  expect(messages(0).at(-1)?.content).toMatch(
    /^Three\?\n\n.*\n- log: text, 10 bytes.* \(another file than at the beginning of this session\)$/,
  );
});

test('a session that goes on after a cancel finds the file again', async () => {
  const stop = new AbortController();
  provider = await scriptedProvider([
    { calls: [ask('context_search', { query: 'needle' }, 'c1')] },
    { text: 'I', ending: 'hang' },
  ]);
  const argv = ['run', 'a', '--base-url', provider.url, '--context', 'app.log', '--json', '--', 'Look.'];
  const running = call(argv, { cwd, signal: stop.signal });
  await provider.arrived(2);
  stop.abort('Ctrl-C');
  const { session } = JSON.parse((await running).stdout);
  const next = [{ calls: [ask('context_slice', { start: 11, length: 10 }, 'c2')] }, { text: 'Done.' }];
  await run(next, ['--session', session, '--', 'Go on.']);
  expect(messages(1).at(-1)?.content).toBe('{"start":11,"value":"the needle","next":21,"truncated":false}');
});

test('without the capability it is refused before anything is recorded, and the refusal names it', async () => {
  const yaml = await readFile(join(cwd, 'a/agent.yaml'), 'utf8');
  await writeFiles(cwd, { 'a/agent.yaml': yaml.replace(', context: true', '') });
  const { code, stderr } = await run([], ['--context', 'app.log', '--', 'x']);
  expect(code).toBe(3);
  expect(stderr).toMatch(/error context\.capability-missing: .*'context'.*\nnext: Grant it in agent\.yaml/);
  expect((await call(['runs', 'list', '--json'], { cwd })).stdout).not.toContain('run_');
});

test.each([
  [['--context', 'none.log'], 'cli.unreadable', 2],
  [['--context', 'input='], 'cli.unreadable', 2],
  [['--context', ''], 'cli.bad-value', 2],
  [['--context', 'app.log', '--context', 'input=app.log'], 'cli.bad-value', 2],
  [['--context', 'app.log', '--session', 'session_1'], 'cli.bad-value', 2],
  [['--context', 'folder'], 'context.file-refused', 3],
  [['--context', 'result_1_1=app.log'], 'context.bad-alias', 2],
])('%j is %s', async (argv, code, exit) => {
  await mkdir(join(cwd, 'folder'));
  const result = await run([], [...argv, '--', 'x']);
  expect(result.code).toBe(exit);
  expect(result.stderr).toContain(`error ${code}: `);
});

test('bytes that are no text end the run with their place; a link to a file is followed', async () => {
  await writeFile(join(cwd, 'raw.bin'), Buffer.from([0x66, 0xff, 0xfe]));
  const refused = await run([], ['--context', 'raw.bin', '--', 'x']);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain('error context.not-text: ');
  await symlink(join(cwd, 'app.log'), join(cwd, 'current'));
  expect((await run([{ text: 'Yes.' }], ['--context', 'current', '--', 'x'])).code).toBe(0);
});

test('a file that grows while the run is at work keeps its positions; one that is rewritten is said to be', async () => {
  await run(
    [
      async () => {
        await appendFile(join(cwd, 'app.log'), 'a needle more\n');
        return { calls: [ask('context_search', { query: 'needle' }, 'c1')] };
      },
      async () => {
        await writeFile(join(cwd, 'app.log'), 'short');
        return { calls: [ask('context_search', { query: 'needle' }, 'c2')] };
      },
      { text: 'Done.' },
    ],
    ['--context', 'app.log', '--', 'x'],
  );
  expect(JSON.parse(messages(1).at(-1)?.content ?? '').hits).toHaveLength(1);
  expect(messages(2).at(-1)?.content).toMatch(/^failed\(context\.changed\): app\.log had 40 bytes/);
});
