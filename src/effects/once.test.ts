/** An effect across processes: killed at each point of its life, it happens at most once. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ChildPrograms, childPrograms } from '../ledger/child.cases.ts';
import { runRecord, sessionRecord } from '../ledger/store.cases.ts';
import { sqliteStore } from '../ledger/stores/sqlite.ts';

let programs: ChildPrograms;
let folder: string;
beforeAll(() => {
  programs = childPrograms();
  folder = mkdtempSync(join(tmpdir(), 'writ-once-'));
});
afterAll(() => {
  programs.remove();
  rmSync(folder, { recursive: true, force: true });
});

const observed = (replayed: boolean) => ({
  state: 'observed',
  observation: { status: 'succeeded', text: 'acted', truncated: false, bytes: 5 },
  replayed,
});
const unknown = { state: 'unknown', reason: 'It was sent, and no result was recorded.' };

test.each([
  ['before-dispatch', observed(false), 1],
  ['dispatched', unknown, 0],
  ['acted', unknown, 1],
  ['observed', observed(true), 1],
])('killed at %s', async (point, after, times) => {
  const at = mkdtempSync(join(folder, 'case-'));
  const path = join(at, 'ledger.sqlite');
  const counter = join(at, 'counter');
  const store = sqliteStore({ path });
  await store.createSession(sessionRecord('session_a'), []);
  await store.createRun(runRecord('run_a', 'session_a'));
  await store.close();

  const killed = await programs.start('effects/once.child.cases.ts', [path, counter], { STOP_AT: point })
    .ended;
  expect(killed.signal).toBe('SIGKILL');
  // Twice: what one resumption decides, the next must decide too.
  for (const _again of [1, 2]) {
    const child = programs.start('effects/once.child.cases.ts', [path, counter]);
    expect(await child.ended).toEqual({ code: 0, signal: null, stderr: '' });
    const expected = point === 'before-dispatch' && _again === 2 ? observed(true) : after;
    expect(child.lines().map((line) => JSON.parse(line))).toEqual([expected]);
  }
  expect(existsSync(counter) ? readFileSync(counter, 'utf8') : '').toBe('acted\n'.repeat(times));
});
