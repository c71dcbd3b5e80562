/** The model's key reaches the provider and nobody else: no argument, environment, record, stream or message holds it. */
import { copyFile, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { call, writeFiles } from '../src/cli/call.cases.ts';
import { type Ended, startCli } from './real-cli.ts';
import { type Script, type ScriptedProvider, scriptedProvider } from './scripted-provider.ts';

let home: string;
let provider: ScriptedProvider;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'writ-secrets-'));
  await writeFiles(home, {
    'a/agent.yaml': [
      'key: keeper',
      'model: local/scripted-1',
      'profiles: { default: [base] }',
      'capabilities: { from: none, sql: true, project: true, mcp.s: true }',
      'tools: [project_read, sql_query: { database: vega.sqlite }]',
      `mcp: { s: { command: node, args: ['${resolve('test/children/mcp-server.mjs')}'], reads: [environment, look], env: [SERVER_TOKEN] } }`,
    ].join('\n'),
    'a/instructions/base.md': 'You keep secrets.\n',
    '.writ/.gitignore': '*\n',
  });
  await copyFile(resolve('dist/data/vega.sqlite'), join(home, 'vega.sqlite'));
});
afterEach(async () => {
  await provider?.close();
  await rm(home, { recursive: true, force: true });
});

/** The secret, and every form in which programs write such a text. */
function formsOf(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  const forms = [secret, json, JSON.stringify(json).slice(1, -1), encodeURIComponent(secret)];
  return [...new Set([...forms, Buffer.from(secret).toString('base64').slice(0, -4)])];
}

/** Every descendant of a process, with its arguments and its environment as the system shows them. */
async function descendants(pid: number): Promise<{ readonly args: string; readonly env: string }[]> {
  const parents = new Map<number, number>();
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '');
    parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
  }
  const under = (one: number): boolean => {
    const parent = parents.get(one);
    return parent !== undefined && parent > 0 && (parent === pid || under(parent));
  };
  const read = (one: number, what: string) => readFile(`/proc/${one}/${what}`, 'latin1').catch(() => '');
  return Promise.all(
    [...parents.keys()].filter(under).map(async (one) => ({
      args: await read(one, 'cmdline'),
      env: await read(one, 'environ'),
    })),
  );
}

async function ledgerBytes(): Promise<string> {
  const names = (await readdir(join(home, '.writ'))).filter((name) => name.startsWith('ledger'));
  expect(names.length).toBeGreaterThan(0);
  // SQLite takes its side files away when the last process closes; what is gone holds nothing.
  const files = await Promise.all(
    names.map((name) => readFile(join(home, '.writ', name), 'latin1').catch(() => '')),
  );
  return files.join('\n');
}

/** Everything that anybody could look at after the run, and during it, by what it is. */
async function traces(ended: Ended): Promise<Record<string, string>> {
  const looks = [
    ['runs', 'list'],
    ['runs', 'show', 'last'],
    ['runs', 'show', 'last', '--json'],
    ['runs', 'events', 'last'],
    ['runs', 'events', 'last', '--json'],
  ];
  const shown = await Promise.all(looks.map((look) => call(look, { cwd: home })));
  return {
    stdout: ended.stdout,
    stderr: ended.stderr,
    ledger: await ledgerBytes(),
    ...Object.fromEntries(
      shown.map(({ stdout, stderr }, i) => [(looks[i] ?? []).join(' '), stdout + stderr]),
    ),
  };
}

function expectAbsent(where: Record<string, string>, secret: string): void {
  const found = Object.entries(where).flatMap(([place, text]) =>
    formsOf(secret)
      .filter((form) => text.includes(form) || text.includes(Buffer.from(form).toString('latin1')))
      .map((form) => `${place}: ${form}`),
  );
  expect(found).toEqual([]);
}

const asks = (id: string, name: string, args: object) => ({ id, name, arguments: JSON.stringify(args) });

// A key travels in a header, which takes printable ASCII without blanks only; a server's token may be any text.
describe.each([
  ['ordinary', 'sk-canary-0123456789abcdef', 'tok-for-the-server-0042'],
  ['odd', String.raw`sk-"quo'ted"\back\\slash/+=%41<&>$(word)`, 'tök "für" den\\ Server\n✓ 0042'],
])('a key of %s characters', (_, key, serverToken) => {
  const env = { MODEL_KEY: key, SERVER_TOKEN: serverToken };
  const words = ['--trust', '--key-env', 'MODEL_KEY'];

  async function start(script: Script, ...more: string[]) {
    provider = await scriptedProvider(script);
    return startCli(home, ['run', 'a', ...words, ...more, '--base-url', provider.url, '--', 'Keep it.'], env);
  }

  test('is absent from children, record, streams and output, and was used', { timeout: 90_000 }, async () => {
    // A file of the workspace, a row, a server and the model itself all repeat the key.
    await writeFiles(home, { 'notes.txt': `the key is ${key}\n` });
    let children: Awaited<ReturnType<typeof descendants>> = [];
    const script: Script = [
      {
        text: `I look for ${key}.`,
        calls: [
          asks('call-1', 'project_read', { path: 'notes.txt' }),
          asks('call-2', 'sql_query', { query: `select ? as found`, params: [key] }),
          asks('call-3', 's__environment', {}),
          asks('call-4', 's__look', {}),
        ],
      },
      async () => {
        children = await descendants(Number(started.child.pid));
        return { status: 400, body: JSON.stringify({ error: { message: `bad key ${key}`, code: 'x' } }) };
      },
    ];
    const started = await start(script);
    const ended = await started.end;
    expect(ended.code).toBe(1);
    expect(children.map(({ args }) => args).join()).toContain('mcp-server.mjs');
    expect(children.map(({ args }) => args).join()).toContain('sql-query-child');
    const seen = children.map(({ args, env }) => args + env).join('\0');
    const where = await traces(ended);
    expectAbsent({ ...where, children: seen }, key);
    expectAbsent(where, serverToken);
    // The server got its token, and the provider its key, byte for byte.
    expect(seen).toContain(Buffer.from(serverToken).toString('latin1'));
    const sent = Buffer.from(provider.requests[0]?.headers.authorization ?? '', 'latin1').toString('latin1');
    expect(sent).toBe(`Bearer ${key}`);
    // What the model read is what the tool said: only what is stored and shown is cleaned.
    expect(JSON.parse(provider.requests[1]?.json.messages.at(-4).content).content).toBe(
      `the key is ${key}\n`,
    );
    expect(where['runs events last --json']).toContain('[secret MODEL_KEY]');
  });

  test.each([[[]], [['--json']]])(
    'is absent from an answer that holds it (%j)',
    { timeout: 90_000 },
    async (more) => {
      const started = await start([{ text: `The key is ${key}, of course.` }], ...more);
      const ended = await started.end;
      expect(ended.code).toBe(0);
      expect(ended.stdout).toContain('[secret MODEL_KEY]');
      expectAbsent(await traces(ended), key);
    },
  );
});
