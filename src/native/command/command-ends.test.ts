/** Ending the commands of a run: what was listed, what was sent a moment ago, what an earlier process left; proof, or a name. */
import { expect, test } from 'vitest';
import type { Locator } from '../../sandbox/locator.ts';
import type { CommandStatus, EndReceipt, Sandbox } from '../../sandbox/sandbox.ts';
import { commandEnds } from './command-ends.ts';

const locator = (id: string): Locator => ({ sandbox: 'local', id });
const running: CommandStatus = { state: 'running', leader: 1, stdinBytes: 0, startedAtMs: 0 };
const ended: CommandStatus = { state: 'ended', receipt: {} as EndReceipt };

/** A sandbox that lists these, ends what it is told to, and says what that was. */
function boxOf(
  listed: Readonly<Record<string, CommandStatus>>,
  more: Partial<Pick<Sandbox, 'cancel' | 'list' | 'neverStarts'>> = {},
) {
  const cancelled: string[] = [];
  const box = {
    list: async () => Object.entries(listed).map(([id, status]) => ({ locator: locator(id), status })),
    cancel: async ({ id }: Locator) => {
      cancelled.push(id);
      return { done: true as const, receipt: {} as EndReceipt };
    },
    neverStarts: async () => false,
    ...more,
  };
  return { ends: commandEnds(box), cancelled };
}

test('what is listed and has not ended is ended, and so is what was sent and is not listed yet', async () => {
  const { ends, cancelled } = boxOf({ c_listed_1: running, c_ended_01: ended });
  await ends.begin('run', locator('c_listed_1'));
  await ends.begin('run', locator('c_unlisted'));
  await ends.begin('other', locator('c_of_other'));
  expect(await ends.end('run')).toEqual([]);
  expect(cancelled).toEqual(['c_listed_1', 'c_unlisted']);
});

test('a close ends what is left of every run, also of one that only an earlier process served', async () => {
  const { ends, cancelled } = boxOf({ c_earlier1: running });
  await ends.close();
  expect(cancelled).toEqual([]);
  ends.own('run');
  await ends.close();
  await ends.close();
  expect(cancelled).toEqual(['c_earlier1']);
});

test.each([
  [
    'stays named, and holds what comes next',
    false,
    ['The command local/c_listed_1 may still be running. lost'],
  ],
  ['is gone where it is proven to have never begun', true, []],
])('an end that cannot be asked for %s', async (_what, never, said) => {
  const cancel = () => Promise.reject(new Error('lost'));
  const { ends } = boxOf({ c_listed_1: running }, { cancel, neverStarts: async () => never });
  expect(await ends.end('run')).toEqual(said);
  const next = await ends.begin('later', locator('c_next_001'));
  expect('held' in next ? next.held : '').toBe(said.join(' '));
});

test('commands that cannot be listed are no proof', async () => {
  let down = true;
  const list = async () => {
    if (down) throw new Error('down');
    return [];
  };
  const { ends } = boxOf({}, { list });
  expect(await ends.end('run')).toEqual([
    'Commands of the run may still be running; they could not be listed: down',
  ]);
  down = false;
  expect(await ends.end('run')).toEqual([]);
  expect('held' in (await ends.begin('later', locator('c_next_001')))).toBe(false);
});
