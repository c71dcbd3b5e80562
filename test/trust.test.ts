/** An agent folder's own code: nothing runs it before somebody accepted exactly those bytes, and nothing else runs then. */
import { execFileSync } from 'node:child_process';
import { chmod, mkdtemp, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { call, writeFiles } from '../src/cli/call.cases.ts';
import { cli, startCli } from './real-cli.ts';
import { type Script, type ScriptedProvider, scriptedProvider } from './scripted-provider.ts';

const mail = () => `
import { writeFileSync } from 'node:fs';
import { defineTool } from 'writ';
import { z } from 'zod';
import { greeting } from './lib/greeting.mjs';
writeFileSync('${home}/canary', 'ran');
export default ({ workspace, options }) => defineTool({
  name: 'mail',
  description: 'Mails.',
  parameters: z.strictObject({ to: z.string() }),
  capability: 'mail',
  access: 'read',
  execute: async ({ to }) => {
    const { late } = await import('./lib/late.mjs');
    return [options.from, to, greeting, late, workspace].join(' ');
  },
});
`;
const server = resolve('test/children/mcp-server.mjs');
const yaml = (mcp = '') =>
  [
    'key: mailer',
    'model: local/scripted-1',
    'profiles: { default: [base] }',
    `capabilities: { from: none, mail: true${mcp === '' ? '' : ', mcp.s: true'} }`,
    'tools: [mail: { from: ana }]',
    mcp,
  ].join('\n');

let home: string;
let provider: ScriptedProvider | undefined;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'writ-trust-'));
  await writeFiles(home, {
    'a/agent.yaml': yaml(),
    'a/instructions/base.md': 'You mail.\n',
    'a/tools/mail.mjs': mail(),
    'a/tools/lib/greeting.mjs': "export const greeting = 'hello';\n",
    'a/tools/lib/late.mjs': "export const late = 'as accepted';\n",
    '.writ/.gitignore': '*\n',
  });
});
afterEach(async () => {
  await provider?.close();
  provider = undefined;
  await rm(home, { recursive: true, force: true });
});

const slow = { timeout: 90_000 };
const mailBob = { calls: [{ id: 'call-1', name: 'mail', arguments: '{"to":"bob"}' }] };

function start(script: Script, words: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
  return begin(script, ['run', 'a', ...words], ['--', 'Mail bob.'], env);
}

async function begin(script: Script, argv: readonly string[], task: readonly string[], env = {}) {
  await provider?.close();
  provider = await scriptedProvider(script);
  return startCli(home, [...argv, '--base-url', provider.url, ...task], env);
}

const run = async (...parameters: Parameters<typeof start>) => (await start(...parameters)).end;
/** In this process, for nothing of the folder may be imported. */
const refused = (...words: readonly string[]) =>
  call(['run', 'a', ...words, '--base-url', 'http://127.0.0.1:9/v1', '--', 'Mail bob.'], { cwd: home });
const hasRun = async () => (await readdir(home)).includes('canary');
const sentBack = () => provider?.requests.at(-1)?.json.messages.at(-1).content;

describe('without consent', () => {
  test(
    'a run is refused, shows what it would execute and how to accept it, and executes nothing',
    slow,
    async () => {
      const { code, stdout, stderr } = await refused();
      expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
      expect(stderr.replaceAll(/[0-9a-f]{64}/g, 'DIGEST').replaceAll(/sha256 \w+/g, 'sha256 D')).toBe(
        [
          "error cli.untrusted: 'mailer' would run code that nobody accepted on this machine:",
          '  tools/lib/greeting.mjs (33 bytes, sha256 D)',
          '  tools/lib/late.mjs (35 bytes, sha256 D)',
          `  tools/mail.mjs (${mail().length} bytes, sha256 D)`,
          '  digest DIGEST',
          `next: Read it, then accept it with: writ run --trust a --base-url http://127.0.0.1:9/v1 -- 'Mail bob.'`,
          '',
        ].join('\n'),
      );
      expect(await hasRun()).toBe(false);
      expect((await call(['runs', 'list'], { cwd: home })).stdout).not.toContain('run_');
    },
  );

  test.each([
    ['compose', 'a'],
    ['compose', 'a', '--explain'],
    ['lock', 'a'],
    ['check', 'a'],
    ['space', 'a'],
    ['run', 'a', '--base-url', 'http://127.0.0.1:9/v1', '--json', '--', 'x'],
    ['runs', 'list'],
  ])('writ %s %s %s executes nothing', slow, async (...argv) => {
    await call(argv, { cwd: home });
    expect(await hasRun()).toBe(false);
  });
});

describe('with --trust', () => {
  test(
    'the tool works, with its options, its own files and Writ’s packages; later runs need not say it',
    slow,
    async () => {
      const first = await run([mailBob, { text: 'Sent.' }], ['--trust']);
      expect(first).toMatchObject({ code: 0, stdout: 'Sent.\n' });
      expect(first.stderr).toMatch(/^trusted from now on:\n {2}tools\/lib\/greeting\.mjs .+\n/);
      expect(sentBack()).toBe(`ana bob hello as accepted ${home}`);
      const second = await run([mailBob, { text: 'Sent.' }]);
      expect(second).toMatchObject({ code: 0, stdout: 'Sent.\n' });
      expect(second.stderr).not.toContain('trusted');
      const file = join(home, '.local/state/writ/trust.json');
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      expect(JSON.parse(await readFile(file, 'utf8')).accepted).toEqual([
        { agent: 'mailer', digest: expect.stringMatching(/^[0-9a-f]{64}$/), at: expect.any(Number) },
      ]);
    },
  );

  test(
    'what was accepted is what runs: a file that changes meanwhile changes nothing, and asks again',
    slow,
    async () => {
      await run([{ text: 'Yes.' }], ['--trust']);
      const changeFirst = async () => {
        await writeFiles(home, { 'a/tools/lib/late.mjs': "export const late = 'swapped';\n" });
        return mailBob;
      };
      expect((await run([changeFirst, { text: 'Sent.' }])).code).toBe(0);
      expect(sentBack()).toContain('as accepted');
      expect((await refused()).code).toBe(3);
      await writeFiles(home, { 'a/tools/lib/late.mjs': "export const late = 'as accepted';\n" });
      expect((await run([{ text: 'Yes.' }])).code).toBe(0);
    },
  );

  test('a new file, another name, another agent, another server: each asks again', slow, async () => {
    await run([{ text: 'Yes.' }], ['--trust']);
    const back = yaml();
    await writeFiles(home, { 'a/tools/notes.txt': '' });
    expect((await refused()).stderr).toContain('tools/notes.txt (0 bytes');
    await rm(join(home, 'a/tools/notes.txt'));
    await rename(join(home, 'a/tools/lib/late.mjs'), join(home, 'a/tools/lib/later.mjs'));
    expect((await refused()).code).toBe(3);
    await rename(join(home, 'a/tools/lib/later.mjs'), join(home, 'a/tools/lib/late.mjs'));
    await writeFiles(home, { 'a/agent.yaml': back.replace('mailer', 'other') });
    expect((await refused()).code).toBe(3);
    await writeFiles(home, {
      'a/agent.yaml': yaml(`mcp: { s: { command: node, args: ['${server}'], env: [TOKEN] } }`),
    });
    expect((await refused()).stderr).toContain(`MCP server s: node ${server} (is given TOKEN)\n`);
    await writeFiles(home, { 'a/agent.yaml': back });
    expect((await run([{ text: 'Yes.' }])).code).toBe(0);
  });

  test('it accepts what a refusal showed, and shows again what changed since', slow, async () => {
    const late = (text: string) =>
      writeFiles(home, { 'a/tools/lib/late.mjs': `export const late = '${text}';\n` });
    const digestIn = (text: string) => /digest ([0-9a-f]{64})/.exec(text)?.[1];
    const shown = await refused();
    await late('swapped after it was read');
    const swapped = await refused('--trust');
    expect(swapped.code).toBe(3);
    expect(swapped.stderr).toMatch(/^error cli.untrusted: 'mailer' would run other code than was last seen/);
    expect(swapped.stderr).toContain('next: Read it, then accept it with: writ run a --trust --base-url');
    expect(digestIn(swapped.stderr)).not.toBe(digestIn(shown.stderr));
    expect(await hasRun()).toBe(false);
    expect((await run([mailBob, { text: 'Sent.' }], ['--trust'])).code).toBe(0);
    expect(sentBack()).toContain('swapped after it was read');
    // Whoever always says --trust is no less asked when accepted code changes.
    await late('changed again');
    expect((await refused('--trust')).code).toBe(3);
    await late('as accepted');
    expect((await refused('--trust')).stderr).toContain(`digest ${digestIn(shown.stderr)}`);
    expect((await run([{ text: 'Yes.' }], ['--trust'])).code).toBe(0);
    const file = join(home, '.local/state/writ/trust.json');
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({
      accepted: [swapped, shown].map(({ stderr }) => ({
        agent: 'mailer',
        digest: digestIn(stderr),
        at: expect.any(Number),
      })),
    });
  });

  test('nothing is left behind in the folder for temporary files', slow, async () => {
    const temporary = await mkdtemp(join(home, 'tmp-'));
    await run([mailBob, { text: 'Sent.' }], ['--trust'], { TMPDIR: temporary });
    await writeFiles(home, { 'a/tools/mail.mjs': 'throw new Error("no");' });
    await refused();
    expect((await run([], ['--trust'], { TMPDIR: temporary })).code).toBe(2);
    expect((await readdir(temporary)).filter((name) => name.startsWith('writ-'))).toEqual([]);
  });
});

test('resume asks again where the code changed since, and goes on once it is accepted', slow, async () => {
  const { child, end } = await start([mailBob, { ending: 'hang' as const }], ['--trust']);
  await provider?.arrived(2);
  child.kill('SIGKILL');
  await end;
  await writeFiles(home, { 'a/tools/lib/greeting.mjs': "export const greeting = 'good day';\n" });
  const again = await cli(home, ['runs', 'resume', 'last']);
  expect(again.code).toBe(3);
  expect(again.stderr).toContain('accept it with: writ runs resume --trust last\n');
  const url = new URL(provider?.url ?? '');
  await provider?.close();
  provider = await scriptedProvider([{ text: 'Sent.' }], Number(url.port));
  expect(await cli(home, ['runs', 'resume', 'last', '--trust'])).toMatchObject({
    code: 0,
    stdout: 'Sent.\n',
  });
});

describe('what cannot be accepted', () => {
  const outside = () => writeFiles(home, { 'outside.mjs': 'export default 1;' });

  test.each<[string, () => Promise<unknown>, string]>([
    [
      'a link out of tools/',
      () => symlink('../../outside.mjs', join(home, 'a/tools/out.mjs')),
      'tools/out.mjs',
    ],
    ['a link to nothing', () => symlink('nowhere', join(home, 'a/tools/out.mjs')), 'tools/out.mjs'],
    ['a link to a folder', () => symlink('lib', join(home, 'a/tools/more')), 'tools/more'],
    ['a pipe', async () => execFileSync('mkfifo', [join(home, 'a/tools/pipe')]), 'tools/pipe'],
    [
      'tools/ itself as a link',
      async () => {
        await rename(join(home, 'a/tools'), join(home, 'elsewhere'));
        await symlink('../elsewhere', join(home, 'a/tools'));
      },
      'tools of the agent folder',
    ],
  ])('%s is refused, also with --trust', slow, async (_, make, path) => {
    await outside();
    await make();
    const { code, stderr } = await refused('--trust');
    expect({ code, stderr }).toEqual({
      code: 3,
      stderr: expect.stringMatching(
        new RegExp(`^error cli.tools-unreadable: ${path}.* nothing of it was run\\.\n`),
      ),
    });
    expect(await hasRun()).toBe(false);
  });

  test.each([
    ['is not understood', '{"accepted": true}', 0o600],
    ['others may write', '{"accepted": []}', 0o666],
  ])('a list that %s is no consent', slow, async (_, text, mode) => {
    await writeFiles(home, { '.local/state/writ/trust.json': text });
    await chmod(join(home, '.local/state/writ/trust.json'), mode);
    for (const words of [[], ['--trust']]) {
      const { code, stderr } = await refused(...words);
      expect({ code, found: /^error (\S+):/.exec(stderr)?.[1] }).toEqual({
        code: 3,
        found: 'cli.trust-unreadable',
      });
    }
    expect(await hasRun()).toBe(false);
  });
});

describe('a tool file that is wrong', () => {
  const tool = (name: string) =>
    `import { defineTool } from 'writ';\nexport default defineTool({ name: '${name}', description: 'd', capability: 'mail', access: 'read', parameters: { type: 'object' }, execute: () => 1 });`;

  test.each([
    ['throws', 'throw new Error("broken");', 'could not be loaded: broken'],
    ['has no default export', 'export const x = 1;', 'expected a tool from defineTool, found nothing'],
    ['returns something else', 'export default () => [1];', 'expected a tool from defineTool, found number'],
    [
      'is called otherwise',
      tool('fax').replace('default', 'default () =>'),
      "expected its tools to be called mail, or mail_ and more, found 'fax'",
    ],
    ['cannot take options', tool('mail'), 'could not be loaded: agent.yaml gives it options'],
    ['reaches out of tools/', "import '../instructions/base.md';", 'could not be loaded: Cannot find module'],
    [
      'is no tool that can be',
      `${tool('mail').replace('mail', 'no name')}`,
      'could not be loaded: Expected a tool name',
    ],
  ])('%s', slow, async (_, text, message) => {
    await writeFiles(home, { 'a/tools/mail.mjs': text });
    const { code, stderr } = await run([], ['--trust']);
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`error cli.bad-tool: tools/mail.mjs ${message}`),
    });
    expect(stderr).not.toContain('writ-tools-');
  });

  test('tools whose capability the agent does not hold are told of', slow, async () => {
    await writeFiles(home, { 'a/agent.yaml': yaml().replace('mail: true', 'project: true') });
    const { code, stderr } = await run([{ text: 'Yes.' }], ['--trust']);
    expect(code).toBe(0);
    expect(stderr).toContain(
      "notice: The agent does not hold the capability 'mail', so its model does not see mail.\n",
    );
    expect(provider?.requests[0]?.json.tools).toBeUndefined();
  });

  test.each([
    ['mail', undefined],
    ['{ mail: mail }', undefined],
    ['post', "agent.yaml says of the tool 'mail' that it asks for 'post'; tools/mail.mjs asks for 'mail'."],
    [
      '{ mail: mail, mail_read: mail }',
      "agent.yaml says of the tool 'mail_read' that it asks for 'mail'; tools/mail.mjs makes no such tool.",
    ],
    [
      '{ mail_read: mail }',
      "agent.yaml says of the tool 'mail_read' that it asks for 'mail'; tools/mail.mjs makes no such tool.",
    ],
  ])('what agent.yaml says of its capability (%s) is held against it', slow, async (said, found) => {
    const tools = `tools: [{ mail: { from: ana }, capability: ${said} }]`;
    await writeFiles(home, { 'a/agent.yaml': yaml().replace('tools: [mail: { from: ana }]', tools) });
    const { code, stderr } = await run(found === undefined ? [{ text: 'Yes.' }] : [], ['--trust']);
    expect(code).toBe(found === undefined ? 0 : 3);
    if (found === undefined) return;
    expect(stderr).toContain(`error cli.other-capability: ${found}\n`);
    expect(stderr).toContain(
      'next: Write what tools/mail.mjs says beside it in the tools of agent.yaml: capability: mail.\n',
    );
  });

  test('a capability that no tool has is found before the model is asked', slow, async () => {
    await writeFiles(home, { 'a/agent.yaml': yaml().replace('mail: true', 'mial: true') });
    const { code, stderr } = await run([], ['--trust']);
    expect(code).toBe(2);
    expect(stderr).toContain("error cli.unknown-capability: agent.yaml grants the capability 'mial'");
    expect(stderr).toContain("next: Write 'mail'.\n");
  });
});
