/** A whole run on a disk that fills up: what is not on record is not sent, nothing is sent twice, and with room it goes on. */
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { sqliteStore } from '../src/ledger/stores/sqlite.ts';
import { defineTool } from '../src/native/tool/define-tool.ts';
import { stateOf } from '../src/run/derive.ts';
import { openRig, type Rig } from './rig.ts';
import type { Script } from './scripted-provider.ts';

const base = mkdtempSync(join(tmpdir(), 'writ-small-'));
afterAll(() => rmSync(base, { recursive: true, force: true }));

// Each case has a disk of its own: SQLite lets go of a file that was removed when it is collected as garbage, and on a shared
// disk that would make room in the middle of a later case.
const mount = (disk: string) =>
  spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'none', disk]).status === 0;
const unmount = (disk: string) => spawnSync('umount', ['-l', disk]);
const mounts = mount(base);
if (mounts) unmount(base);

function fillDisk(filler: string): void {
  const file = openSync(filler, 'a');
  try {
    for (;;) writeSync(file, Buffer.alloc(4096, 1));
  } catch {
    closeSync(file);
  }
}

/** Reads, then books; each result is larger than what a record may have left in its last page. */
const script: Script = ({ json }) => {
  const results = json.messages.filter(({ role }: { role: string }) => role === 'tool');
  const told = results.map(({ content }: { content: string }) => content.replaceAll('~', '').trim());
  const next = ['look', 'book'][results.length];
  return next === undefined
    ? { text: told.join(' | ') }
    : { calls: [{ id: `c${results.length}`, name: next, arguments: '{}' }] };
};

const book = 'book done';
const unknown = expect.stringMatching(/^failed\(tool\.outcome-unknown\): .*do not repeat it/);
// Where it fills up once, what was done in the run that this breaks off, how that stands, what was done in all, and what is told.
test.runIf(mounts).each([
  ['while the model answers', 'model', false, ['look'], 'interrupted', ['look', 'look', 'book'], book],
  ['in a read', 'look', false, ['look'], 'interrupted', ['look', 'look', 'book'], book],
  ['while a person is asked', 'ask', false, ['look'], 'paused', ['look', 'book'], book],
  [
    'in a write that can be asked about',
    'book',
    true,
    ['look', 'book'],
    'interrupted',
    ['look', 'book', 'found'],
    'found',
  ],
  ['in a write that cannot', 'book', false, ['look', 'book'], 'interrupted', ['look', 'book'], unknown],
])('it fills up %s', async (_what, where, asks, before, state, after, told) => {
  const disk = mkdtempSync(join(base, 'disk-'));
  expect(mount(disk)).toBe(true);
  const filler = join(disk, 'filler');
  let full = false;
  const at = (place: string) => {
    if (full || place !== where) return;
    full = true;
    fillDisk(filler);
  };
  const acted: string[] = [];
  const acting = (name: string) => ({
    ...{ name, description: `Does ${name}.`, parameters: { type: 'object' } as const, capability: 'c' },
    execute: async () => {
      acted.push(name);
      at(name);
      return `${name} done${'~'.repeat(10_000)}`;
    },
  });
  const tools = () => [
    defineTool({ ...acting('look'), access: 'read' }),
    defineTool({
      ...acting('book'),
      ...{ access: 'write', repeat: 'once' },
      ...(asks ? { reconcile: async () => acted.push('found') && 'found' } : {}),
    }),
  ];
  const path = join(disk, 'ledger.sqlite');
  const seat = {
    approve: 'ask' as const,
    ask: async () => {
      at('ask');
      return { decision: 'approved' as const, by: 'ana', reason: '' };
    },
    // Of a process that is gone, so that nobody waits for its lease.
    holder: `${hostname()}:4194304:1`,
  };
  const rigs: Rig[] = [];
  const open = async () => {
    const answers: Script = (request) => {
      at('model');
      return typeof script === 'function' ? script(request) : {};
    };
    const rig = await openRig({ script: answers, tools: tools(), store: sqliteStore({ path }) });
    rigs.push(rig);
    return rig;
  };
  try {
    const broken = await (await open()).run('Book.', seat);
    expect(broken).toMatchObject({ status: 'unknown', error: { code: 'ledger.disk-full' } });
    expect(acted).toEqual(before);
    await rigs[0]?.close();
    rmSync(filler);
    const rig = await open();
    expect(stateOf(await rig.store.events(broken.run), false)).toBe(state);
    const ended = await rig.resume(broken.run, seat);
    expect([ended.status, ended.answer?.split(' | ').at(-1)]).toEqual(['completed', told]);
    expect(acted).toEqual(after);
    const events = await rig.store.events(broken.run);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1));
  } finally {
    for (const rig of rigs) await rig.close();
    unmount(disk);
  }
});
