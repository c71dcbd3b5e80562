/** Whole runs of programs behind every adapter: what is recorded, what is left, and how each way to end is told. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { type DriveRig, driven, openDriveRig, prints, recorded, strays } from './drive.cases.ts';

let rig: DriveRig | undefined;
afterEach(async () => {
  await rig?.close();
  rig = undefined;
});

async function open(name: string, body: string, env: Readonly<Record<string, string>> = {}) {
  rig = await openDriveRig(name, body, {
    OPENAI_API_KEY: 'k',
    ANTHROPIC_API_KEY: 'k',
    GEMINI_API_KEY: 'k',
    ...env,
  });
  return rig;
}

describe.each(driven.map(({ name }) => name))('%s', (name) => {
  test('a recorded turn becomes the same result and events as a run of our own', async () => {
    const rig = await open(name, prints(await recorded(name, 'tool-call')));
    const result = await rig.run('Read the file.');
    expect(result).toMatchObject({
      status: 'completed',
      harness: name,
      answer: 'The file says intruder.',
      error: null,
    });
    const types = rig.events.map(({ type }) => type);
    expect(types[0]).toBe('run-start');
    expect(types.at(-1)).toBe('run-finish');
    expect(types).toEqual(
      expect.arrayContaining([
        'effect-dispatch',
        'delivery-receipt',
        'vendor-session',
        'turn-start',
        'message-finish',
        'usage-report',
        'turn-finish',
        'effect-observe',
      ]),
    );
    console.log(name, JSON.stringify(result.usage), types.join(' '));
    expect(await strays()).toEqual([]);
  });
});
