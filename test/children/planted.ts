/** A test that passes and leaves two processes running, one of which bears nothing of its environment. */
import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test('leaves two processes', () => {
  if (process.env.PLANT !== 'none') {
    const cwd = mkdtempSync(join(tmpdir(), 'planted-'));
    spawn('sleep', ['86401'], {
      detached: true,
      stdio: 'ignore',
      cwd,
      env: { PATH: process.env.PATH },
    }).unref();
    spawn('sleep', ['86402'], { detached: true, stdio: 'ignore' }).unref();
  }
  expect(process.env.TMPDIR).toContain('/w-');
});
