/** MCP tools in whole runs: the surface a session began with is kept, and what cannot be known is told as unknown. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { systemClock } from '../src/clock.ts';
import { memoryStore } from '../src/ledger/stores/memory.ts';
import { driven, newFolder, open } from '../src/native/mcp/mcp.cases.ts';
import { openRig, type Rig } from './rig.ts';

const rigs: Rig[] = [];
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.close();
});

async function rigWith(options: Parameters<typeof openRig>[0]): Promise<Rig> {
  const rig = await openRig(options);
  rigs.push(rig);
  return rig;
}

let calls = 0;
const call = (name: string, args = '{}') => {
  calls += 1;
  return { calls: [{ id: `call-${calls}`, name, arguments: args }] };
};
const results = (rig: Rig) =>
  rig.events.flatMap((event) =>
    event.type === 'tool-result' ? [[event.tool, event.status, event.code]] : [],
  );
const notices = (rig: Rig) =>
  rig.events.flatMap((event) => (event.type === 'notice' ? [[event.code, event.text]] : []));
const approved = {
  approve: 'ask',
  ask: async () => ({ decision: 'approved' as const, by: 'test', reason: '' }),
} as const;
const changed = (name: string) => [
  'native.tool-changed',
  `The server changed or withdrew the tool '${name}' since the session began. The session keeps showing it, and calls of it are refused.`,
];

test('a server that changes its tools in mid-run: the model sees the same bytes, changed tools are unavailable', async () => {
  const { tools } = await open({ s: driven([], { reads: ['look', 'environment'] }) });
  const look = tools.find(({ schema }) => schema.name === 's__look');
  const before = look?.definition?.();
  const afterTheChange = async () => {
    await expect.poll(() => look?.definition?.()).not.toBe(before);
    return call('s__look');
  };
  const script = [
    call('s__look'),
    call('s__change'),
    afterTheChange,
    call('s__environment'),
    { text: 'Done.' },
  ];
  const rig = await rigWith({ script, tools });
  expect(await rig.run('Look.', approved)).toMatchObject({ status: 'completed' });
  expect(results(rig)).toEqual([
    ['s__look', 'ok', null],
    ['s__change', 'ok', null],
    ['s__look', 'rejected', 'tool.unavailable'],
    ['s__environment', 'rejected', 'tool.unavailable'],
  ]);
  expect(notices(rig)).toEqual([changed('s__environment'), changed('s__look')]);
  const blocks = rig.provider.requests.map(({ json }) => JSON.stringify(json.tools));
  expect(new Set(blocks).size).toBe(1);
});

test('a session that goes on with a changed server keeps its surface and refuses what changed', async () => {
  const flag = join(await newFolder(), 'flag');
  const server = { s: driven([], { env: ['OTHER'], reads: ['look'] }) };
  const store = memoryStore({ clock: systemClock });
  const first = await rigWith({
    script: [{ text: 'One.' }],
    store,
    tools: (await open(server, { env: { OTHER: flag } })).tools,
  });
  const { session } = await first.run('Begin.');
  await writeFile(flag, '');
  const script = [call('s__look'), { text: 'Two.' }];
  const second = await rigWith({
    script,
    store,
    tools: (await open(server, { env: { OTHER: flag } })).tools,
  });
  expect(await second.run('Go on.', { session })).toMatchObject({ status: 'completed' });
  expect(results(second)).toEqual([['s__look', 'rejected', 'tool.unavailable']]);
  expect(notices(second)).toContainEqual(changed('s__look'));
  const shown = ({ provider }: Rig) => JSON.stringify(provider.requests[0]?.json.tools);
  expect(shown(second)).toBe(shown(first));
});

test('a server that ends while it carries a write out leaves its outcome unknown; of a read it is a failure', async () => {
  const { tools } = await open({ s: driven() });
  const script = [call('s__crash'), call('s__crash', '{ }'), call('s__look'), { text: 'Done.' }];
  const rig = await rigWith({ script, tools });
  await rig.run('Try.', approved);
  expect(results(rig)).toEqual([
    ['s__crash', 'unknown', 'tool.outcome-unknown'],
    // It waits while nobody knows what became of the first.
    ['s__crash', 'not-run', 'tool.not-dispatched'],
    ['s__look', 'ok', null],
  ]);
});

test('a write waits for a person, and arguments that do not fit are refused before anybody is asked', async () => {
  const { tools } = await open({ s: driven() });
  const script = [call('s__write', '{"line":7}'), call('s__write', '{"line":"x"}')];
  const rig = await rigWith({ script, tools });
  expect(await rig.run('Write.')).toMatchObject({
    status: 'refused',
    error: { code: 'native.approval-missing' },
  });
  expect(results(rig).map(([, status]) => status)).toEqual(['rejected', 'not-run']);
});
