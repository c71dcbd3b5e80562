import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ledgerPath } from './locate.ts';

let root: string;
beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'writ-locate-')));
  mkdirSync(join(root, 'project/.writ'), { recursive: true });
  mkdirSync(join(root, 'project/deep/er'), { recursive: true });
  mkdirSync(join(root, 'odd/in'), { recursive: true });
  writeFileSync(join(root, 'odd/.writ'), 'a file');
  symlinkSync(join(root, 'project/deep'), join(root, 'link'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe('what was given comes first', () => {
  test.each([
    ['a file that exists', 'odd/.writ', 'odd/.writ'],
    ['a file to be made', 'odd/new.sqlite', 'odd/new.sqlite'],
    ['a folder that exists', 'odd', 'odd/ledger.sqlite'],
    ['a folder to be made', 'odd/new/', 'odd/new/ledger.sqlite'],
  ])('%s', (_what, given, path) => {
    const place = ledgerPath({ given: `${root}/${given}`, workspace: join(root, 'project'), env: {} });
    expect(place).toEqual({ path: join(root, path), source: 'given' });
  });

  test('it is relative to the current folder', () => {
    expect(ledgerPath({ given: 'some.sqlite', workspace: root, env: {} }).path).toBe(resolve('some.sqlite'));
  });

  test('an empty text is an error, not a default', () => {
    expect(() => ledgerPath({ given: '', workspace: root, env: {} })).toThrow(
      expect.objectContaining({ code: 'ledger.not-a-ledger' }),
    );
  });
});

test.each([
  ['itself', 'project'],
  ['a folder deep inside', 'project/deep/er'],
  ['a link to a folder inside', 'link'],
])('the nearest .writ upward from the workspace: %s', (_what, workspace) => {
  expect(ledgerPath({ workspace: join(root, workspace), env: {} })).toEqual({
    path: join(root, 'project/.writ/ledger.sqlite'),
    source: 'workspace',
  });
});

test.each([
  ['the state folder', { XDG_STATE_HOME: '/state', HOME: '/home/u' }, '/state'],
  ['the default below home', { HOME: '/home/u' }, '/home/u/.local/state'],
  [
    'a relative state folder does not count',
    { XDG_STATE_HOME: 'state', HOME: '/home/u' },
    '/home/u/.local/state',
  ],
  ['no home in the environment', {}, join(homedir(), '.local/state')],
])('else the user: %s', (_what, env, state) => {
  // A file named .writ is passed over, and so is a workspace that does not exist.
  for (const workspace of ['odd/in', 'odd/none']) {
    expect(ledgerPath({ workspace: join(root, workspace), env })).toEqual({
      path: join(state, 'writ/ledger.sqlite'),
      source: 'user',
    });
  }
});
