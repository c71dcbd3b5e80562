/** MCP servers: their order, their environment, their ends, and what a call comes to when one of them goes wrong. */
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { alive, callTool, driven, newFolder, open } from './mcp.cases.ts';
import { mcpSecrets } from './mcp-servers.ts';

const sixty = { timeout: 60_000 };
const names = (opened: Awaited<ReturnType<typeof open>>) => opened.tools.map(({ schema }) => schema.name);

describe('the surface', () => {
  test(
    'tools stand in the order of server and tool, whatever starts first or lists first',
    sixty,
    async () => {
      const one = await open({ b: driven(), a: driven(['reversed']) });
      const other = await open({ a: driven(), b: driven(['reversed', 'slow']) });
      expect(names(one).slice(0, 7)).toEqual([
        'a__change',
        'a__crash',
        'a__environment',
        'a__hang',
        'a__look',
        'a__write',
        'b__change',
      ]);
      expect(other.tools.map(({ schema }) => schema)).toEqual(one.tools.map(({ schema }) => schema));
    },
  );

  test(
    'a tool is a write that acts once, unless the server and the agent both call it a read',
    sixty,
    async () => {
      const opened = await open({ s: driven([], { reads: ['look', 'write'] }) });
      const access = opened.tools.map((tool) => [
        tool.schema.name,
        tool.access,
        tool.repeat,
        tool.capability,
      ]);
      expect(access).toEqual([
        ['s__change', 'write', 'once', 'mcp.s'],
        ['s__crash', 'write', 'once', 'mcp.s'],
        ['s__environment', 'write', 'once', 'mcp.s'],
        ['s__hang', 'write', 'once', 'mcp.s'],
        ['s__look', 'read', 'safe', 'mcp.s'],
        ['s__write', 'write', 'once', 'mcp.s'],
      ]);
      expect(opened.tools[0]?.limits).toEqual({ timeoutMs: 30_000, outputBytesMax: 65_536 });
    },
  );

  test('half a character in what a server says of a tool keeps no tool from the model', sixty, async () => {
    const opened = await open({ s: driven(['halved']) });
    const halved = opened.tools.find(({ schema }) => schema.name === 's__halved');
    expect(halved?.schema.description).toBe('Half \uFFFD of it.');
    expect(halved?.definition?.()).toMatch(/^[0-9a-f]{64}$/);
  });

  test('two tools under one name are refused, and no server stays', sixty, async () => {
    const pids = join(await newFolder(), 'pids');
    const twice = { 'a.b': driven([], { env: ['PIDS'] }), a_b: driven([], { env: ['PIDS'] }) };
    await expect(open(twice, { env: { PIDS: pids } })).rejects.toMatchObject({
      code: 'mcp.name-clash',
      message: "The MCP tools change of a.b and change of a_b would both be called 'a_b__change'.",
    });
    expect(await alive(pids)).toEqual([]);
  });

  test('a tool that no model can be shown is left out and told of', sixty, async () => {
    const opened = await open({ s: driven(['broken']) });
    expect(names(opened)).not.toContain('s__broken');
    expect(opened.notices).toEqual([expect.stringContaining('The MCP tool broken of s is left out: ')]);
  });
});

describe('the environment of a process', () => {
  const env = { MODEL_KEY: 'sk-not-for-servers', TOKEN: 'tok-for-the-server', LANG: 'C' };

  test('holds what agent.yaml names, and nothing else that is ours', sixty, async () => {
    const opened = await open({ s: driven([], { env: ['TOKEN'] }) }, { env });
    const seen = await callTool(opened, 's__environment');
    expect(seen.status === 'succeeded' && Object.keys(JSON.parse(String(seen.value))).sort()).toEqual([
      'HOME',
      'LANG',
      'PATH',
      'TOKEN',
    ]);
  });

  test('named values are secrets of the record; a variable that is not set is refused', async () => {
    const servers = new Map([['s', driven([], { env: ['TOKEN', 'PATH'] })]]);
    expect(mcpSecrets(servers, { ...env, PATH: '/bin' })).toEqual([{ name: 'TOKEN', value: env.TOKEN }]);
    await expect(open({ s: driven([], { env: ['ABSENT'] }) })).rejects.toMatchObject({
      code: 'mcp.no-variable',
      message: "The MCP server 's' needs the variable ABSENT, which is not set.",
    });
  });
});

describe('a start that fails', () => {
  test('a program that is not there', async () => {
    await expect(open({ s: { command: 'no-such-program', args: [] } })).rejects.toMatchObject({
      code: 'mcp.start-failed',
      message: "The MCP server 's' did not start: there is no program 'no-such-program'.",
    });
  });

  test('a program that ends: its exit code and last words, without secrets', sixty, async () => {
    const script = 'console.error("bad token", process.env.TOKEN); process.exit(3)';
    const server = { command: process.execPath, args: ['-e', script], env: ['TOKEN'] };
    const redact = (text: string) => text.replaceAll('tok-secret', '[secret TOKEN]');
    await expect(open({ s: server }, { env: { TOKEN: 'tok-secret' }, redact })).rejects.toMatchObject({
      code: 'mcp.start-failed',
      message:
        "The MCP server 's' did not start: it ended with exit code 3. It said last: bad token [secret TOKEN]",
      next: expect.stringContaining('Run it by hand'),
    });
  });

  test(
    'a program that says nothing is ended with its children, and so is the server beside it',
    sixty,
    async () => {
      const pids = join(await newFolder(), 'pids');
      const servers = {
        silent: driven(['silent', 'stubborn'], { env: ['PIDS'] }),
        well: driven([], { env: ['PIDS'] }),
      };
      await expect(open(servers, { env: { PIDS: pids }, startTimeoutMs: 1_500 })).rejects.toMatchObject({
        code: 'mcp.start-timeout',
        message: "The MCP server 'silent' was not ready within 1500 ms.",
      });
      expect(await alive(pids)).toEqual([]);
    },
  );

  test('a start that is cancelled leaves nothing', sixty, async () => {
    const pids = join(await newFolder(), 'pids');
    const stop = AbortSignal.timeout(700);
    const server = driven(['silent'], { env: ['PIDS'] });
    await expect(open({ s: server }, { env: { PIDS: pids }, signal: stop })).rejects.toMatchObject({
      code: 'mcp.start-failed',
    });
    expect(await alive(pids)).toEqual([]);
  });
});

test.each([
  ['the protocol of 2026', 'modern'],
  ['a greeting before its messages', 'noisy'],
  ['an end at what comes before the handshake of 2025', 'brittle'],
])('a server with %s can be used, and its changes are seen', sixty, async (_, word) => {
  const opened = await open({ s: driven([word]) });
  expect(await callTool(opened, 's__write', { line: 'x' })).toEqual({
    status: 'succeeded',
    value: 'wrote x',
  });
  const look = opened.tools.find(({ schema }) => schema.name === 's__look');
  const before = look?.definition?.();
  await callTool(opened, 's__change');
  await expect.poll(() => look?.definition?.()).not.toBe(before);
});

describe('a call', () => {
  test(
    'that ends the server throws, for a write may have acted; the next one starts it anew',
    sixty,
    async () => {
      const opened = await open({ s: driven() });
      await expect(callTool(opened, 's__crash')).rejects.toThrow(
        'it ended with exit code 7. It said last: it all went wrong',
      );
      expect(await callTool(opened, 's__look')).toEqual({ status: 'succeeded', value: 'look looked' });
    },
  );

  test('that hangs is given up with its signal', sixty, async () => {
    const opened = await open({ s: driven() });
    await expect(callTool(opened, 's__hang', {}, AbortSignal.timeout(200))).rejects.toThrow();
    expect(await callTool(opened, 's__look')).toEqual({ status: 'succeeded', value: 'look looked' });
  });

  test('of a changed or withdrawn tool is not sent, and its definition says so', sixty, async () => {
    const opened = await open({ s: driven() });
    const tool = (name: string) => opened.tools.find(({ schema }) => schema.name === name);
    const before = tool('s__look')?.definition?.();
    expect(before).toMatch(/^[0-9a-f]{64}$/);
    await callTool(opened, 's__change');
    const gone = { status: 'not-dispatched', nonDispatch: { reason: 'unavailable' } };
    expect(await callTool(opened, 's__look')).toMatchObject(gone);
    expect(await callTool(opened, 's__environment')).toMatchObject(gone);
    expect(await callTool(opened, 's__write', { line: 'x' })).toMatchObject({ status: 'succeeded' });
    expect(tool('s__look')?.definition?.()).not.toBe(before);
    expect(tool('s__environment')?.definition?.()).toBeNull();
  });

  test('is not sent to a server that came back with another tool', sixty, async () => {
    const [flag, effects] = [join(await newFolder(), 'flag'), join(await newFolder(), 'effects')];
    const server = driven([], { env: ['OTHER', 'EFFECTS'] });
    const opened = await open({ s: server }, { env: { OTHER: flag, EFFECTS: effects } });
    await callTool(opened, 's__write', { line: 'first' });
    await writeFile(flag, '');
    await expect(callTool(opened, 's__crash')).rejects.toThrow();
    expect(await callTool(opened, 's__write', { line: 'second' })).toMatchObject({
      status: 'not-dispatched',
    });
    expect(await readFile(effects, 'utf8')).toBe('first\n');
  });

  test('after the end of the run is not sent', sixty, async () => {
    const opened = await open({ s: driven() });
    await opened.close();
    expect(await callTool(opened, 's__look')).toMatchObject({ status: 'not-dispatched' });
  });
});

test('the end of the run ends servers that take no hint, and what they started', sixty, async () => {
  const pids = join(await newFolder(), 'pids');
  const opened = await open({ s: driven(['stubborn'], { env: ['PIDS'] }) }, { env: { PIDS: pids } });
  expect(await alive(pids)).toHaveLength(2);
  await Promise.all([opened.close(), opened.close()]);
  expect(await alive(pids)).toEqual([]);
});

describe('servers of others', () => {
  const server = (name: string, ...words: string[]) => ({
    command: process.execPath,
    args: [resolve(`node_modules/@modelcontextprotocol/${name}/dist/index.js`), ...words],
  });

  test('server-everything', sixty, async () => {
    const opened = await open({ every: server('server-everything', 'stdio') });
    expect(await callTool(opened, 'every__echo', { message: 'hi' })).toEqual({
      status: 'succeeded',
      value: 'Echo: hi',
    });
    const structured = await callTool(opened, 'every__get-structured-content', { location: 'New York' });
    expect(structured).toMatchObject({ value: expect.stringMatching(/^\{"temperature":[^{]+\}$/) });
    expect(await callTool(opened, 'every__get-tiny-image')).toMatchObject({
      value: expect.stringMatching(/\n\[image, image\/png, \d+ bytes, not shown\]\n/),
    });
    await expect(callTool(opened, 'every__get-sum', { a: 'one' })).rejects.toThrow('/a: expected a number');
  });

  test('server-filesystem', sixty, async () => {
    const folder = await newFolder();
    await writeFile(join(folder, 'a.txt'), 'alpha');
    const files = { ...server('server-filesystem', '.'), reads: ['read_text_file'] };
    const opened = await open({ files }, { cwd: folder });
    expect(opened.tools.filter(({ access }) => access === 'read').map(({ schema }) => schema.name)).toEqual([
      'files__read_text_file',
    ]);
    expect(await callTool(opened, 'files__read_text_file', { path: join(folder, 'a.txt') })).toEqual({
      status: 'succeeded',
      value: 'alpha',
    });
    expect(await callTool(opened, 'files__read_text_file', { path: '/etc/hostname' })).toMatchObject({
      status: 'failed',
      code: 'mcp.tool-failed',
      message: expect.stringContaining('Access denied'),
    });
  });
});
