import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { describe, expect, test } from 'vitest';
import { isHeld, thisHolder } from './holder.ts';

const held = (holder: string, expires = 1000) => isHeld({ epoch: 1, holder, expires }, 500);

describe('a lease keeps others out', () => {
  test('while this process lives, which names itself always alike', () => {
    expect(thisHolder()).toMatch(new RegExp(`^${hostname()}:${process.pid}:\\d+$`));
    expect(thisHolder()).toBe(thisHolder());
    expect(held(thisHolder())).toBe(true);
  });

  test('while a process of another host, or of a form we do not know, may live', () => {
    expect([held('elsewhere:1:1'), held('some worker')]).toEqual([true, true]);
  });

  test('not once it expired or was given back', () => {
    expect([held(thisHolder(), 500), held('')]).toEqual([false, false]);
  });

  test.runIf(existsSync('/proc/self/stat'))('not when the number belongs to a later process', () => {
    expect(held(`${hostname()}:${process.pid}:1`)).toBe(false);
  });

  test('not when the process is gone', async () => {
    const child = spawn(process.execPath, ['-e', '']);
    await once(child, 'close');
    expect(held(`${hostname()}:${child.pid}:1`)).toBe(false);
  });
});
