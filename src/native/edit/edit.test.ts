/** `file_write` and `file_patch`: whole or not at all, beneath the workspace only, and never over what was not seen. */
import {
  chmod,
  link,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../clock.ts';
import { refusedReader } from '../context/reader.ts';
import type { Tool, ToolContext } from '../tool/tool.ts';
import { applyEdits, filePatch } from './file-patch.ts';
import { fileWrite } from './file-write.ts';
import { targetOf, writeTarget } from './write-beneath.ts';

let base: string;
let workspace: string;
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'writ-edit-'));
  workspace = join(base, 'workspace');
  await mkdir(workspace);
});
afterEach(() => rm(base, { recursive: true, force: true }));

const context: ToolContext = {
  signal: new AbortController().signal,
  clock: systemClock,
  idempotencyKey: 'run:1:1',
  context: refusedReader,
};
const call = (tool: Tool, args: object) => tool.execute(args, context);
const write = (path: string, content: string, overwrite?: boolean) =>
  call(fileWrite({ workspace }), { path, content, ...(overwrite === undefined ? {} : { overwrite }) });
const patch = (path: string, ...edits: { old: string; new: string }[]) =>
  call(filePatch({ workspace }), { path, edits });
const at = (path: string) => join(workspace, path);

test('both say what they do to the outside', () => {
  const effects = [fileWrite({ workspace }), filePatch({ workspace })].map((tool) => [
    tool.capability,
    tool.access,
    tool.repeat,
    tool.repeatable,
    tool.effectKey({ path: 'a/b' }),
  ]);
  expect(effects).toEqual([
    ['edit', 'write', 'safe', false, 'file a/b'],
    ['edit', 'write', 'once', true, 'file a/b'],
  ]);
});

test('a file is made with its folders, and a second call finds it as it is', async () => {
  expect(await write('deep/er/a.txt', '€\n')).toEqual({
    status: 'succeeded',
    value: { path: 'deep/er/a.txt', bytes: 4, created: true },
  });
  expect(await readFile(at('deep/er/a.txt'), 'utf8')).toBe('€\n');
  expect((await stat(at('deep/er/a.txt'))).mode & 0o777).toBe(0o666 & ~process.umask());
  expect(await write('deep/er/a.txt', '€\n')).toMatchObject({ value: { created: false, unchanged: true } });
  expect(await readdir(at('deep/er'))).toEqual(['a.txt']);
});

test('what is there is replaced only when that was said, and keeps its mode', async () => {
  await writeFile(at('run.sh'), 'old');
  await chmod(at('run.sh'), 0o751);
  expect(await write('run.sh', 'new')).toMatchObject({ status: 'failed', code: 'edit.exists' });
  expect(await readFile(at('run.sh'), 'utf8')).toBe('old');
  expect(await write('run.sh', 'new', true)).toMatchObject({
    status: 'succeeded',
    value: { created: false },
  });
  expect(await readFile(at('run.sh'), 'utf8')).toBe('new');
  expect((await stat(at('run.sh'))).mode & 0o777).toBe(0o751);
});

test('half a character, a path that ends with / and a read-only file are refused, and the file stays', async () => {
  await writeFile(at('a'), 'hi 😀');
  for (const text of ['a\ud800b', '\ude00'])
    expect([
      await write('new', text),
      await patch('a', { old: text, new: '' }),
      await patch('a', { old: 'hi', new: text }),
    ]).toEqual(Array(3).fill(expect.objectContaining({ status: 'failed', code: 'edit.misfit' })));
  for (const end of [await patch('a/', { old: 'hi', new: 'ho' }), await write('a/', 'x', true)])
    expect(end).toMatchObject({ status: 'failed', code: 'tool.path-refused' });
  await chmod(at('a'), 0o444);
  for (const end of [await patch('a', { old: 'hi', new: 'ho' }), await write('a', 'x', true)])
    expect(end).toMatchObject({ status: 'failed', code: 'edit.not-writable' });
  expect([await readdir(workspace), await readFile(at('a'), 'utf8')]).toEqual([['a'], 'hi 😀']);
});

test('what waits while a write is unknown is the file itself, however its path is spelled', async () => {
  await mkdir(at('real/deep'), { recursive: true });
  await writeFile(at('real/deep/a'), '');
  await symlink('real', at('folder'));
  await symlink('../real/deep/a', at('real/name'));
  const key = (path: string) =>
    [fileWrite({ workspace }), filePatch({ workspace })].map((tool) => tool.effectKey({ path }));
  const same = ['real/deep/a', 'folder/deep/a', 'real/name', 'folder/name'];
  expect(same.map(key)).toEqual(same.map(() => Array(2).fill('file real/deep/a')));
  expect(['folder/new/b', 'new/b', 'none'].map((path) => key(path)[0])).toEqual([
    'file real/new/b',
    'file new/b',
    'file none',
  ]);
  expect(key('../out')[0]).toBe('file ../out');
});

describe('nothing is written', () => {
  test.each([
    '/etc/x',
    '../x',
    'a/../../x',
    '.',
    'folder/',
    '.env',
    'a/.ssh/config',
    '.writ/ledger.sqlite',
    '.git/hooks/pre-commit',
    'sub/.GIT/config',
    'out/x',
    'out/new/x',
    'dangling',
    'innocent',
    'folder',
    'file/x',
  ])('at %s', async (path) => {
    await mkdir(at('folder'));
    await mkdir(at('.git'));
    await mkdir(join(base, 'outside'));
    await writeFile(at('file'), '');
    await writeFile(at('.git/config'), 'kept');
    await symlink(join(base, 'outside'), at('out'));
    await symlink(join(base, 'outside/none'), at('dangling'));
    await symlink('.git/config', at('innocent'));
    const before = await readdir(base, { recursive: true });
    expect(await write(path, 'x', true)).toMatchObject({
      status: 'failed',
      code: expect.stringMatching(/^(tool|edit)\./),
    });
    expect(await readdir(base, { recursive: true })).toEqual(before);
    expect(await readFile(at('.git/config'), 'utf8')).toBe('kept');
  });

  test('over a file that changed after it was looked at', async () => {
    await writeFile(at('a'), 'one');
    const target = await targetOf(workspace, 'a');
    if (!target.ok) throw new Error(target.message);
    await writeFile(at('a'), 'two');
    expect(await writeTarget(workspace, 'a', target, Buffer.from('three'))).toMatchObject({
      code: 'edit.changed',
    });
    const free = await targetOf(workspace, 'b');
    if (!free.ok) throw new Error(free.message);
    await writeFile(at('b'), 'two');
    expect(await writeTarget(workspace, 'b', free, Buffer.from('three'))).toMatchObject({
      code: 'edit.changed',
    });
    expect([await readFile(at('a'), 'utf8'), await readFile(at('b'), 'utf8')]).toEqual(['two', 'two']);
    expect((await readdir(workspace)).sort()).toEqual(['a', 'b']);
  });

  test('into a folder that became a link after it was looked at', async () => {
    await mkdir(at('sub'));
    const target = await targetOf(workspace, 'sub/a');
    if (!target.ok) throw new Error(target.message);
    await rm(at('sub'), { recursive: true });
    await mkdir(join(base, 'outside'));
    await symlink(join(base, 'outside'), at('sub'));
    expect(await writeTarget(workspace, 'sub/a', target, Buffer.from('x'))).toMatchObject({
      code: 'tool.path-refused',
    });
    expect(await readdir(join(base, 'outside'))).toEqual([]);
  });

  test('where the system does not let it', async () => {
    expect(await write(`${'n'.repeat(250)}x`.repeat(2), 'x')).toMatchObject({ status: 'failed' });
    await mkdir(at('sub'));
    const target = await targetOf(workspace, 'sub/a');
    if (!target.ok) throw new Error(target.message);
    const long = { ...target, inside: `sub/${'n'.repeat(300)}` };
    expect(await writeTarget(workspace, 'sub/a', long, Buffer.from('x'))).toMatchObject({
      code: 'edit.not-writable',
    });
    expect(await readdir(at('sub'))).toEqual([]);
  });
});

test('a link inside the workspace is followed, and a hard link elsewhere keeps its old bytes', async () => {
  await writeFile(at('real'), 'old');
  await link(at('real'), at('twin'));
  await symlink('real', at('name'));
  expect(await write('name', 'new', true)).toMatchObject({ status: 'succeeded' });
  expect(await readFile(at('real'), 'utf8')).toBe('new');
  expect((await stat(at('name'))).isFile()).toBe(true);
  expect(await readFile(at('twin'), 'utf8')).toBe('old');
});

test('edits are made in order, all or none', async () => {
  await writeFile(at('a'), '\uFEFFone\r\ntwo\r\n');
  expect(await patch('a', { old: 'one', new: '1' }, { old: '1\r\ntwo', new: '€' })).toEqual({
    status: 'succeeded',
    value: { path: 'a', edits: 2, bytes: 8 },
  });
  expect(await readFile(at('a'), 'utf8')).toBe('\uFEFF€\r\n');
  expect(await patch('a', { old: '€', new: 'x' }, { old: 'none', new: '' })).toMatchObject({
    status: 'failed',
    code: 'edit.misfit',
    message: expect.stringMatching(/^Edit 2 of 2: its old text does not occur\./),
  });
  expect(await readFile(at('a'), 'utf8')).toBe('\uFEFF€\r\n');
});

test('an edit that fits at two places, a file that is none, and one that is no text are told', async () => {
  await writeFile(at('a'), 'aaa');
  await writeFile(at('bytes'), Buffer.from([0xff, 0xfe]));
  expect(await patch('a', { old: 'aa', new: 'b' })).toMatchObject({ code: 'edit.misfit' });
  expect(await patch('none', { old: 'a', new: 'b' })).toMatchObject({ code: 'tool.not-found' });
  expect(await patch('bytes', { old: 'a', new: 'b' })).toMatchObject({ code: 'tool.not-readable' });
  await writeFile(at('large'), Buffer.alloc(4 * 1024 * 1024, 'x'));
  await writeFile(at('larger'), Buffer.alloc(4 * 1024 * 1024 + 1, 'x'));
  expect(await patch('larger', { old: 'a', new: 'b' })).toMatchObject({ code: 'tool.not-readable' });
  expect(
    await patch('large', { old: 'x'.repeat(4 * 1024 * 1024), new: 'y'.repeat(4 * 1024 * 1024 + 1) }),
  ).toMatchObject({
    code: 'edit.misfit',
  });
});

test('an edit and its inverse give the text back; $ and its like mean nothing', () => {
  fc.assert(
    fc.property(
      fc.string(),
      fc.string({ minLength: 1 }),
      fc.string(),
      fc.string({ minLength: 1 }),
      (before, old, after, by) => {
        const text = before + old + after;
        const forth = applyEdits(text, [{ old, new: by }]);
        const once = text.split(old).length === 2 && text.indexOf(old, text.indexOf(old) + 1) < 0;
        expect(forth.ok).toBe(once);
        if (forth.ok) expect(forth.text).toBe(text.split(old).join(by));
      },
    ),
  );
});
