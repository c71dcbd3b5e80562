/** Files of a real workspace that a harness would read: found where they are, refused or named. */
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { lookAround } from './ambient.ts';
import { cellFor, requestFor } from './conformance.cases.ts';
import { adapter as gemini } from './harnesses/gemini/gemini.ts';
import { adapter as pi } from './harnesses/pi/pi.ts';
import { planDelivery } from './plan-delivery.ts';

let root: string;
let workspace: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'writ-ambient-'));
  workspace = join(root, 'a', 'b');
  await mkdir(workspace, { recursive: true });
});
afterEach(() => rm(root, { recursive: true }));

function planOf(adapter: typeof pi, intent: 'replace' | 'append') {
  const request = requestFor(adapter, { intent, workspace });
  const measured = [cellFor(adapter, request)];
  return planDelivery(adapter.name, request, { adapters: [adapter], measured, unmeasured: 'refuse' });
}

async function put(path: string): Promise<string> {
  const file = join(root, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, 'x');
  return file;
}

test('nothing there is nothing said', async () => {
  expect(await lookAround(planOf(pi, 'append'))).toEqual([]);
  expect(await lookAround(planOf(gemini, 'replace'))).toEqual([]);
});

test('a system prompt of the workspace refuses an addition, and cannot touch a replacement', async () => {
  const file = await put('a/b/.pi/SYSTEM.md');
  await expect(lookAround(planOf(pi, 'append'))).rejects.toMatchObject({
    code: 'deliver.workspace-speaks',
    kind: 'refused',
    message: expect.stringContaining(file),
  });
  expect(await lookAround(planOf(pi, 'replace'))).toEqual([]);
});

test('a link that leads nowhere counts too: it may lead somewhere when it is read', async () => {
  await mkdir(join(workspace, '.pi'));
  await symlink('/nowhere/at/all', join(workspace, '.pi', 'SYSTEM.md'));
  await expect(lookAround(planOf(pi, 'append'))).rejects.toMatchObject({ code: 'deliver.workspace-speaks' });
});

test('a file that was set for the whole machine refuses the run, and is named by its own place', async () => {
  const file = await put('etc/managed.json');
  const plan = planOf(pi, 'replace');
  const set = (touches: 'system' | 'beside') => ({
    ...plan,
    ambient: [{ path: file, where: 'machine', touches } as const],
  });
  await expect(lookAround(set('system'))).rejects.toMatchObject({
    code: 'deliver.workspace-speaks',
    details: {
      requirement: 'that no file of the machine speaks in our place',
      alternative: 'another harness',
    },
  });
  expect(await lookAround(set('beside'))).toEqual([file]);
  await rm(file);
  expect(await lookAround(set('system'))).toEqual([]);
});

test('files that are only read beside the text are named, in the folders above too', async () => {
  const above = await put('a/GEMINI.md');
  const here = await put('a/b/GEMINI.md');
  expect(await lookAround(planOf(gemini, 'replace'))).toEqual([here, above]);
});
