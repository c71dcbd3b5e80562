/** Cases of approvals that no other test shows by itself. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { fileWrite } from '../src/native/edit/file-write.ts';
import { counted } from './plan.cases.ts';
import { openRig, type Rig } from './rig.ts';

let rig: Rig;
afterEach(async () => rig?.close());

test('the order of keys and the id of a call make it no other call; another value does', async () => {
  const book = counted('book', 'write', (args) => `booked ${JSON.stringify(args)}`);
  const asked = (id: string, args: string) => ({ calls: [{ id, name: 'book', arguments: args }] });
  rig = await openRig({
    tools: [book.tool],
    script: [
      asked('a', '{"n":1,"text":"x"}'),
      asked('b', '{ "text": "x", "n": 1 }'),
      asked('c', '{"n":1,"text":"y"}'),
      { text: 'Done.' },
    ],
  });
  const ask = async () => ({ decision: 'approved' as const, by: 'ana', reason: '' });
  await rig.run('Book.', { approve: 'ask', ask });
  expect(book.acted).toEqual([
    { n: 1, text: 'x' },
    { n: 1, text: 'y' },
  ]);
  const questions = rig.events.flatMap((event) =>
    event.type === 'approval-request' ? [event.ticket.fingerprint] : [],
  );
  expect(new Set(questions).size).toBe(2);
});

test('a path that leads out is refused without a question', async () => {
  const workspace = mkdtempSync(join(tmpdir(), 'writ-out-'));
  try {
    const args = JSON.stringify({ path: '../out.txt', content: 'x' });
    rig = await openRig({
      tools: [fileWrite({ workspace })],
      script: [{ calls: [{ id: 'a', name: 'file_write', arguments: args }] }, { text: 'No.' }],
    });
    const ended = await rig.run('Write.', { approve: 'pause' });
    expect(ended.status).toBe('completed');
    expect(rig.events.some(({ type }) => type === 'approval-request')).toBe(false);
    expect(readdirSync(workspace)).toEqual([]);
  } finally {
    rmSync(workspace, { recursive: true });
  }
});
