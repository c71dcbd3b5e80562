/** `project_read` over a real folder: what it shows, and every way out of it that is shut. */
import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../clock.ts';
import { exactJsonText } from '../../protocol/json.ts';
import { refusedReader } from '../context/reader.ts';
import { readArguments } from './arguments.ts';
import { projectRead } from './project-read.ts';
import { resultText } from './result-text.ts';
import type { ToolOutput } from './tool.ts';

let outer: string;
let root: string;

beforeAll(() => {
  outer = realpathSync(mkdtempSync(join(tmpdir(), 'writ-read-')));
  root = join(outer, 'work');
  mkdirSync(join(root, 'sub/.git'), { recursive: true });
  mkdirSync(join(root, '.writ'));
  writeFileSync(join(outer, 'secret.txt'), 'outside');
  writeFileSync(join(root, 'notes.md'), '\uFEFFone\r\ntwo\r\nthree');
  writeFileSync(join(root, 'empty.txt'), '');
  writeFileSync(join(root, 'latin1.txt'), Buffer.from([0x63, 0xe9]));
  writeFileSync(join(root, 'big.txt'), 'x'.repeat(2000));
  writeFileSync(join(root, '.env'), 'TOKEN=1');
  writeFileSync(join(root, '.env.example'), 'TOKEN=');
  writeFileSync(join(root, '.writ/ledger.sqlite'), 'x');
  writeFileSync(join(root, 'sub/a.txt'), 'a');
  writeFileSync(join(root, 'sub/.git/config'), 'url = https://u:p@host');
  symlinkSync('sub/a.txt', join(root, 'inside-link'));
  symlinkSync(join(outer, 'secret.txt'), join(root, 'out-link'));
  symlinkSync('..', join(root, 'up'));
  symlinkSync('nowhere', join(root, 'dangling'));
  symlinkSync('loop', join(root, 'loop'));
  symlinkSync('.env', join(root, 'innocent.txt'));
  symlinkSync('/dev/zero', join(root, 'zero'));
  execFileSync('mkfifo', [join(root, 'pipe')]);
});

afterAll(() => rmSync(outer, { recursive: true, force: true }));

async function read(args: object, options: object = {}): Promise<ToolOutput> {
  const tool = projectRead({ workspace: root, ...options });
  const checked = readArguments(JSON.stringify(args), tool);
  if (!checked.ok) throw new Error(checked.message);
  const signal = AbortSignal.timeout(5000);
  return tool.execute(checked.value, {
    signal,
    clock: systemClock,
    idempotencyKey: 'k',
    context: refusedReader,
  });
}

function succeeded(value: object) {
  return { status: 'succeeded', value };
}

describe('a file', () => {
  test('is shown with its byte order mark and line ends', async () => {
    expect(await read({ path: 'notes.md' })).toEqual(
      succeeded({
        path: 'notes.md',
        content: '\uFEFFone\r\ntwo\r\nthree',
        lines: 3,
        bytes: 18,
        truncated: false,
      }),
    );
  });

  test('is shown by lines', async () => {
    const shared = { path: 'notes.md', lines: 3, bytes: 18, truncated: false };
    expect(await read({ path: 'notes.md', start_line: 2, line_count: 1 })).toEqual(
      succeeded({ ...shared, content: 'two\r\n', next_line: 3 }),
    );
    expect(await read({ path: 'notes.md', start_line: 3, line_count: 9 })).toEqual(
      succeeded({ ...shared, content: 'three' }),
    );
    expect(await read({ path: 'notes.md', start_line: 4 })).toEqual({
      status: 'failed',
      code: 'tool.not-found',
      message: 'notes.md has 3 lines; there is no line 4.',
    });
  });

  test('may be empty', async () => {
    expect(await read({ path: 'empty.txt' })).toEqual(
      succeeded({ path: 'empty.txt', content: '', lines: 0, bytes: 0, truncated: false }),
    );
  });

  test('may be reached by a link that stays inside', async () => {
    expect(await read({ path: 'inside-link' })).toMatchObject(succeeded({ content: 'a' }));
  });

  test('that is long is shown up to a whole line, and the rest can be asked for', async () => {
    const whole = Array.from({ length: 5000 }, (_, i) => `"line ${i}"\t\u0001😀\n`).join('');
    writeFileSync(join(root, 'long.txt'), whole);
    let content = '';
    let next: unknown = 1;
    while (typeof next === 'number') {
      const part = await read({ path: 'long.txt', start_line: next });
      if (part.status !== 'succeeded') throw new Error(JSON.stringify(part));
      const value = JSON.parse(exactJsonText(part.value));
      expect(value.truncated).toBe(value.next_line !== undefined);
      expect(resultText(part.value, 64 * 1024).truncated).toBe(false);
      content += value.content;
      next = value.next_line;
    }
    expect(content).toBe(whole);
  });

  test('with one line too long for an answer shows its beginning and goes on after it', async () => {
    writeFileSync(join(root, 'wide.txt'), `${'\u0001'.repeat(100_000)}\nend`);
    const first = await read({ path: 'wide.txt' });
    expect(first).toMatchObject(succeeded({ lines: 2, truncated: true, next_line: 2 }));
    expect(first.status === 'succeeded' && resultText(first.value, 64 * 1024).truncated).toBe(false);
    expect(await read({ path: 'wide.txt', start_line: 2 })).toMatchObject(succeeded({ content: 'end' }));
  });
});

describe('a folder', () => {
  test('is answered with its names, sorted, closed ones left out', async () => {
    expect(await read({ path: 'sub' })).toEqual(
      succeeded({ path: 'sub', names: ['.git/', 'a.txt'], count: 2, truncated: false }),
    );
    expect(await read({ path: 'sub/.git/' })).toEqual(
      succeeded({ path: 'sub/.git/', names: [], count: 0, truncated: false }),
    );
    const top = await read({ path: '.' });
    expect(top).toMatchObject(
      succeeded({ names: expect.arrayContaining(['.env.example', 'notes.md', 'sub/']) }),
    );
    expect(JSON.stringify(top)).not.toMatch(/"\.env"|\.writ/);
  });

  test('with many names shows the first of them', async () => {
    mkdirSync(join(root, 'many'));
    for (let i = 0; i < 600; i += 1) writeFileSync(join(root, 'many', `f${String(i).padStart(4, '0')}`), '');
    const listed = await read({ path: 'many' });
    expect(listed).toMatchObject(succeeded({ count: 600, truncated: true }));
    const names = listed.status === 'succeeded' ? Object(listed.value).names : [];
    expect([names.length, names[0], names[499]]).toEqual([500, 'f0000', 'f0499']);
  });
});

describe('what is refused', () => {
  test.each([
    ['an absolute path', '/etc/passwd', 'tool.path-refused', 'it is absolute'],
    ['a drive', 'C:/x', 'tool.path-refused', 'it is absolute'],
    ['a step up', '../secret.txt', 'tool.path-refused', "'..' segment"],
    ['a step up in the middle', 'sub/../../secret.txt', 'tool.path-refused', "'..' segment"],
    ['a dot segment', './notes.md', 'tool.path-refused', "'.' or"],
    ['an empty segment', 'sub//a.txt', 'tool.path-refused', 'an empty'],
    ['a backslash', 'sub\\a.txt', 'tool.path-refused', 'backslash'],
    ['a NUL', 'notes.md\0.txt', 'tool.path-refused', 'NUL'],
    ['a link that leads out', 'out-link', 'tool.path-refused', 'out of the workspace'],
    ['a path through a link that leads out', 'up/secret.txt', 'tool.path-refused', 'out of the workspace'],
    ['a link to the folder above', 'up', 'tool.path-refused', 'out of the workspace'],
    ['a device behind a link', 'zero', 'tool.path-refused', 'out of the workspace'],
    ['a dangling link', 'dangling', 'tool.not-found', 'There is no dangling'],
    ['a link in circles', 'loop', 'tool.path-refused', 'circles'],
    ['a missing file', 'none.md', 'tool.not-found', 'There is no none.md'],
    ['a file as folder', 'notes.md/x', 'tool.not-found', 'There is no notes.md/x'],
    ['a pipe', 'pipe', 'tool.not-readable', 'pipe, socket or device'],
    ['text that is not UTF-8', 'latin1.txt', 'tool.not-readable', 'no UTF-8'],
    ['credentials', '.env', 'tool.path-refused', 'kept closed'],
    ['credentials in capitals', '.ENV', 'tool.path-refused', 'kept closed'],
    ['credentials of git', 'sub/.git/config', 'tool.path-refused', 'kept closed'],
    ['credentials behind a link', 'innocent.txt', 'tool.path-refused', 'kept closed'],
    ['a key that is not there', 'keys/id_rsa', 'tool.path-refused', 'kept closed'],
    ['the record', '.writ/ledger.sqlite', 'tool.path-refused', 'kept closed'],
    ['the folder of the record', '.writ', 'tool.path-refused', 'kept closed'],
  ])('%s', async (_, path, code, message) => {
    const output = await read({ path });
    expect(output).toEqual({ status: 'failed', code, message: expect.stringContaining(message) });
    expect(JSON.stringify(output)).not.toContain(outer);
  });

  test('a file above the limit', async () => {
    expect(await read({ path: 'big.txt' }, { fileBytesMax: 1999 })).toEqual({
      status: 'failed',
      code: 'tool.not-readable',
      message: 'big.txt holds 2000 bytes; at most 1999 are read.',
    });
    expect(await read({ path: 'big.txt' }, { fileBytesMax: 2000 })).toMatchObject({ status: 'succeeded' });
  });

  test('credentials only unless the option opens them; the record stays closed', async () => {
    expect(await read({ path: '.env' }, { secrets: true })).toMatchObject(succeeded({ content: 'TOKEN=1' }));
    expect(await read({ path: '.writ' }, { secrets: true })).toMatchObject({ code: 'tool.path-refused' });
  });

  test('a samples file of variables is no secret', async () => {
    expect(await read({ path: '.env.example' })).toMatchObject(succeeded({ content: 'TOKEN=' }));
  });

  test.each([
    [{ workspace: '/nowhere/at/all' }],
    [{ workspace: import.meta.filename }],
    [{ workspace: '' }],
    [{ workspace: '/', fileBytesMax: '9' }],
    [{ workspace: '/', fileBytesMax: 0 }],
    [{ workspace: '/', root: 'x' }],
  ])('the options %j', (options) => {
    expect(() => projectRead(options as never)).toThrow(expect.objectContaining({ code: 'tool.bad-option' }));
  });
});

test('a folder swapped for a link that leads out, again and again while reading, shows nothing outside', async () => {
  mkdirSync(join(root, 'swap'));
  writeFileSync(join(root, 'swap/secret.txt'), 'inside');
  symlinkSync(outer, join(root, 'swap-link'));
  const tool = projectRead({ workspace: root });
  const context = {
    signal: AbortSignal.timeout(20_000),
    clock: systemClock,
    idempotencyKey: 'k',
    context: refusedReader,
  };
  const seen = new Set<unknown>();
  let reading = true;
  const attack = (async () => {
    while (reading) {
      renameSync(join(root, 'swap'), join(root, 'swap-away'));
      renameSync(join(root, 'swap-link'), join(root, 'swap'));
      await new Promise(setImmediate);
      renameSync(join(root, 'swap'), join(root, 'swap-link'));
      renameSync(join(root, 'swap-away'), join(root, 'swap'));
      await new Promise(setImmediate);
    }
  })();
  for (let i = 0; i < 1500; i += 1) {
    const outputs = await Promise.all(
      Array.from({ length: 4 }, () => tool.execute({ path: 'swap/secret.txt' }, context)),
    );
    for (const output of outputs)
      seen.add(output.status === 'succeeded' ? Object(output.value).content : Object(output).code);
  }
  reading = false;
  await attack;
  expect(seen).not.toContain('outside');
  expect(seen).toContain('inside');
  expect(seen).toContain('tool.path-refused');
});
