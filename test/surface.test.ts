/** The visible surface in whole runs: what an agent lists is always shown, what it is offered beside that is chosen once. */
import { afterEach, describe, expect, test } from 'vitest';
import { systemClock } from '../src/clock.ts';
import type { Projection } from '../src/harness.ts';
import { memoryStore } from '../src/ledger/stores/memory.ts';
import { resolveModel } from '../src/native/model/providers.ts';
import { type NativeOptions, native } from '../src/native/native.ts';
import { defineTool } from '../src/native/tool/define-tool.ts';
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

const tool = (name: string, description: string, capability = 'mcp.desk') =>
  defineTool({
    name,
    description,
    capability,
    access: 'read',
    parameters: { type: 'object', properties: { id: { type: 'string' } } },
    execute: async () => name,
  });
const listed = [tool('sql_query', 'Runs a query.', 'sql'), tool('note', 'Writes a note.', 'notes')];
const things = 'invoice ticket calendar deployment recording parcel recipe'.split(' ');
const crowd = (size: number) =>
  Array.from({ length: size }, (_, i) => {
    const thing = `${things[i % things.length]}${i < things.length ? '' : `_${i}`}`;
    return tool(`desk__list_${thing}`, `Lists each ${thing.replace('_', ' number ')} of the desk.`);
  });
const names = ({ json }: { readonly json: { readonly tools?: readonly unknown[] } }) =>
  (json.tools ?? []).map((one) => (one as { function: { name: string } }).function.name);

const model = resolveModel('local/scripted-1', { env: {}, baseUrl: 'http://127.0.0.1:9/v1' });
async function projected(options: Omit<NativeOptions, 'model'>, task: string, held?: readonly string[]) {
  const capabilities = held ?? ['sql', 'notes', 'mcp.desk'];
  return native({ model, ...options }).project({ capabilities, task });
}
const surfaceOf = ({ surface }: Projection) => {
  if (surface === undefined) throw new Error('nothing was chosen');
  return surface;
};

describe('a projection', () => {
  test('of listed tools alone is what it always was, whatever the task says', async () => {
    const one = await projected({ tools: listed }, 'Do not use sql_query.');
    expect(one).toEqual({
      tools: ['sql_query', 'note'],
      text: model.tools(listed.map(({ schema }) => schema)),
    });
  });

  test('shows the whole offer where it fits, in its order, and says why', async () => {
    const offer = { tools: crowd(3) };
    const { tools, text, surface } = await projected({ tools: listed, offer }, 'Look.');
    expect(tools).toEqual([
      'sql_query',
      'note',
      'desk__list_invoice',
      'desk__list_ticket',
      'desk__list_calendar',
    ]);
    expect(text).toBe(model.tools([...listed, ...offer.tools].map(({ schema }) => schema)));
    expect(surface).toMatchObject({ mode: 'compiled', chosenBy: 'room', offered: 3, cut: [], hidden: [] });
    expect(surface?.decisions[0]).toEqual({
      tool: 'desk__list_invoice',
      shown: true,
      text: expect.stringContaining('all that is allowed is shown'),
    });
  });

  test('lets the task choose where not all fits, and keeps every listed tool', async () => {
    const offer = { tools: crowd(400), budgetTokens: 300 };
    const task = 'Without sql_query: list the parcel that is late.';
    const projection = await projected({ tools: listed, offer }, task);
    const surface = surfaceOf(projection);
    expect(projection.tools.slice(0, 3)).toEqual(['sql_query', 'note', 'desk__list_parcel']);
    expect(projection.tools.length).toBeLessThan(20);
    expect(surface).toMatchObject({ mode: 'compiled', chosenBy: 'task', budgetTokens: 300, offered: 400 });
    expect(surface.tokens).toBeLessThanOrEqual(300);
    const shown = surface.decisions.filter((one) => one.shown).map((one) => one.tool);
    expect(new Set(shown)).toEqual(new Set(projection.tools.slice(2)));
    const left = surface.decisions.filter((one) => !one.shown).map((one) => one.tool);
    expect([...shown, ...left, ...surface.cut, ...surface.hidden].sort()).toEqual(
      offer.tools.map(({ schema }) => schema.name).sort(),
    );
    expect(surface.decisions.find((one) => one.tool === 'desk__list_parcel')?.text).toMatch(
      /^'mcp_tool:desk\/desk__list_parcel' is active: .*'parcel'/,
    );
  });

  test('all_tools takes all that is allowed; a budget still holds', async () => {
    const tools = crowd(400);
    const all = await projected({ offer: { tools, mode: 'all_tools', budgetTokens: null } }, 'Look.');
    expect(all.tools).toHaveLength(400);
    const some = surfaceOf(
      await projected({ offer: { tools, mode: 'all_tools', budgetTokens: 300 } }, 'Look.'),
    );
    expect(some).toMatchObject({ mode: 'all_tools', chosenBy: 'room', hidden: [], cut: [] });
    expect(some.decisions.find((one) => !one.shown)?.text).toContain('is chosen and does not fit');
  });

  test('shows nothing that the session does not hold, and what the task excludes is out', async () => {
    const offer = { tools: [...crowd(2), tool('pay', 'Pays an invoice.', 'money')] };
    const surface = surfaceOf(await projected({ offer }, 'Pay the invoice. Do not use desk__list_ticket.'));
    expect(surface.decisions.map(({ tool: name, shown }) => [name, shown])).toEqual([
      ['desk__list_invoice', true],
      ['desk__list_ticket', false],
      ['pay', false],
    ]);
    expect(surface.decisions[2]?.text).toContain("it needs the capability 'money', which is not held");
  });

  test('equal inputs give equal bytes and fingerprints, and every input counts', async () => {
    const offer = { tools: crowd(400), budgetTokens: 300 };
    const base = await projected({ tools: listed, offer }, 'List the parcel.');
    expect(await projected({ tools: listed, offer }, 'List the parcel.')).toEqual(base);
    const turned = { ...offer, tools: [...offer.tools].reverse() };
    const other = await projected({ tools: listed, offer: turned }, 'List the parcel.');
    expect([...other.tools].sort()).toEqual([...base.tools].sort());
    expect(other.surface?.fingerprint).toBe(base.surface?.fingerprint);
    const different = await Promise.all([
      projected({ tools: listed, offer }, 'List the recipe.'),
      projected({ tools: listed.slice(1), offer }, 'List the parcel.'),
      projected({ tools: listed, offer: { ...offer, budgetTokens: 301 } }, 'List the parcel.'),
      projected({ tools: listed, offer: { ...offer, mode: 'all_tools' } }, 'List the parcel.'),
      projected({ tools: listed, offer: { ...offer, tools: crowd(399) } }, 'List the parcel.'),
      projected({ tools: listed, offer }, 'List the parcel.', ['sql', 'mcp.desk', 'other']),
    ]);
    const prints = [base, ...different].map((one) => one.surface?.fingerprint);
    expect(new Set(prints).size).toBe(prints.length);
  });

  test('a schema that is too large is left out and named; a long task is read at its beginning', async () => {
    const large = tool('desk__large', 'x'.repeat(33_000));
    const offer = { tools: [...crowd(400), large], budgetTokens: 300 };
    const task = `List the parcel. ${'😀'.repeat(20_000)}`;
    const projection = await projected({ offer }, task);
    expect(projection.tools).toContain('desk__list_parcel');
    expect(surfaceOf(projection)).toMatchObject({ oversized: ['desk__large'], offered: 401 });
    expect(projection.tools).not.toContain('desk__large');
  });

  test('a name that stands in both lists is a clash', async () => {
    await expect(
      projected({ tools: listed, offer: { tools: listed.slice(0, 1) } }, 'x'),
    ).rejects.toMatchObject({
      code: 'native.tool-name-clash',
    });
  });
});

test('a session keeps its surface: over turns, a second task, another offer; a hidden tool cannot be called', async () => {
  const offer = { tools: crowd(400), budgetTokens: 300 };
  const call = (id: string, name: string) => ({ calls: [{ id, name, arguments: '{}' }] });
  const store = memoryStore({ clock: systemClock });
  const script = [
    call('call-1', 'desk__list_parcel'),
    call('call-2', 'desk__list_recipe'),
    { text: 'Done.' },
    { text: 'And again.' },
  ];
  const rig = await rigWith({ script, tools: listed, offer, store });
  const { session } = await rig.run('List the parcel.');
  await rig.run('Now list the recipe.', { session });
  const blocks = rig.provider.requests.map(({ json }) => JSON.stringify(json.tools));
  expect(new Set(blocks).size).toBe(1);
  const results = rig.events.flatMap((event) =>
    event.type === 'tool-result' ? [[event.tool, event.status]] : [],
  );
  expect(results).toEqual([
    ['desk__list_parcel', 'ok'],
    ['desk__list_recipe', 'rejected'],
  ]);
  const again = await rigWith({
    script: [{ text: 'Once more.' }],
    tools: listed,
    offer: { tools: crowd(50), mode: 'all_tools' },
    store,
  });
  await again.run('List the recipe.', { session });
  expect(JSON.stringify(again.provider.requests[0]?.json.tools)).toBe(blocks[0]);
  const notices = rig.events.flatMap((event) => (event.type === 'notice' ? [[event.code, event.text]] : []));
  expect(notices).toEqual([
    [
      'native.surface-chosen',
      expect.stringMatching(/^The session shows \d+ of 400 tools .* its first task\./),
    ],
  ]);
  const record = await store.session(session);
  const stored = JSON.parse(Buffer.from((await store.blob(record?.projection ?? '')) ?? '').toString());
  expect(stored.surface.fingerprint).toMatch(/^[0-9a-f]{64}$/);
  expect(names(rig.provider.requests[0] as never)).toEqual(stored.tools);
});
