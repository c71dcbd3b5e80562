/** A program of which something cannot be ended: nobody knows how it ends, and that is said. */
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { type DriveRig, openDriveRig, prints, recorded } from './drive.cases.ts';

// As the system has it with a process that waits for a disk: no signal reaches it.
vi.mock('../../sandbox/supervisor/process-tree.ts', async (original) => {
  const real = await original<typeof import('../../sandbox/supervisor/process-tree.ts')>();
  const endAll = async (...given: Parameters<typeof real.endAll>) => {
    await real.endAll(...given);
    return [{ pid: 4242, name: 'stuck' }];
  };
  return { ...real, endAll };
});
afterAll(() => vi.doUnmock('../../sandbox/supervisor/process-tree.ts'));

let rig: DriveRig;
afterEach(() => rig.close());

test('its outcome is unknown whatever it answered, what is left is named, and its record holds no observation', async () => {
  rig = await openDriveRig('pi', prints(await recorded('pi', 'tool-call')), { OPENAI_API_KEY: 'k' });
  const result = await rig.run('Read it.');
  expect(result).toMatchObject({
    status: 'unknown',
    answer: null,
    error: { code: 'deliver.outcome-unknown', message: expect.stringContaining('stuck (4242)') },
  });
  const types = rig.events.map(({ type }) => type);
  expect(types).toContain('effect-unknown');
  expect(types).not.toContain('effect-observe');
});
