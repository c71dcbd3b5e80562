/** The runs of an experiment among those of a person: marked where they are listed, and never the last one. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runRecord, sessionRecord } from '../../ledger/store.cases.ts';
import { sqliteStore } from '../../ledger/stores/sqlite.ts';
import { call } from '../call.cases.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'writ-trials-'));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const stamp = { experiment: 'seats', item: 'north', side: 'treatment', repeat: 2, surroundings: {} };
const made = { trial: stamp, judge: { judge: true } };

/** Runs in their order, each with a session of its own: by a person, or made by an experiment. */
async function ledgerWith(...ids: readonly string[]): Promise<void> {
  const store = sqliteStore({ path: join(cwd, 'ledger.sqlite') });
  for (const [at, id] of ids.entries()) {
    const [kind] = id.split('_');
    const origin = kind === 'trial' || kind === 'judge' ? { experiment: made[kind] } : {};
    const session = sessionRecord(`session_${id}`);
    await store.createSession({ ...session, origin }, []);
    await store.createRun({ ...runRecord(id, session.id), createdAt: at });
  }
  await store.close();
}
const runs = (...argv: string[]) => call(['runs', ...argv, '--ledger', 'ledger.sqlite'], { cwd });

test('last is the newest run that no experiment made, and the list leaves theirs out and says so', async () => {
  await ledgerWith('old', 'own', 'trial_1', 'judge_1');
  expect(JSON.parse((await runs('show', 'last', '--json')).stdout).run).toBe('own');
  const listed = await runs('list', '--limit', '1');
  expect(listed.stdout).toMatch(/^own /);
  expect(listed.stdout).not.toContain('old');
  expect(listed.stderr).toBe('left out: 2 runs of experiments; --trials lists them\n');
  const { runs: shown, leftOut } = JSON.parse((await runs('list', '--json')).stdout);
  expect(shown.map((one: { run: string; experiment: unknown }) => [one.run, one.experiment])).toEqual([
    ['own', null],
    ['old', null],
  ]);
  expect(leftOut).toBe(2);
});

test('asked for they are listed with what each is of, and found by their names', async () => {
  await ledgerWith('own', 'trial_1', 'judge_1');
  const { stdout, stderr } = await runs('list', '--trials');
  expect(stderr).toBe('');
  expect(stdout).toContain('\n  trial of seats: north, treatment, 2\n');
  expect(stdout).toContain('\n  judges a trial\n');
  const { surroundings: _, ...shown } = stamp;
  const { runs: all } = JSON.parse((await runs('list', '--trials', '--json')).stdout);
  expect(all.map((one: { experiment: unknown }) => one.experiment)).toEqual([{ judge: true }, shown, null]);
  expect(JSON.parse((await runs('show', 'trial_1', '--json')).stdout).run).toBe('trial_1');
});

test('where there are only theirs, last is none, and the error says why', async () => {
  await ledgerWith('trial_1');
  const { code, stderr } = await runs('show', 'last');
  expect(code).toBe(2);
  expect(stderr).toContain(
    'found only runs of experiments.\nnext: See what is there: writ runs list --trials',
  );
});
