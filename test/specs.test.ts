/** Specifications through whole runs: one for all attempts of a run, and none for its children. */
import { afterEach, expect, test } from 'vitest';
import { systemClock } from '../src/clock.ts';
import { memoryStore } from '../src/ledger/stores/memory.ts';
import { type Assertion, argumentTypes, openAssertions } from '../src/native/spec/catalogue.ts';
import { compileSpec } from '../src/native/spec/compile-spec.ts';
import { type GivenSpec, openRunSpec } from '../src/native/spec/run-spec.ts';
import { readSpec } from '../src/native/spec/spec.ts';
import { subagent } from '../src/native/tool/subagent.ts';
import { counted } from './plan.cases.ts';
import { openRig, type Rig } from './rig.ts';

const rigs: Rig[] = [];
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.close();
});

let looks = 0;
const lamp = (lit: () => boolean): Assertion => ({
  kind: 'lamp',
  version: 1,
  description: 'The lamp is lit.',
  policy: { sources: ['room'], trust: ['observed'], freshness: 'current', coherent: false },
  check: argumentTypes({}),
  async collect() {
    looks += 1;
    return { source: 'room', trust: 'observed', value: lit() };
  },
  judge: (_, value) => value === true,
});

function given(lit: () => boolean, version = 1, repairs?: number): GivenSpec {
  const catalogue = openAssertions([lamp(lit)]);
  const requirements = [{ id: 'lit', assertion: { kind: 'lamp', version: 1 } }];
  const source = readSpec({ schemaVersion: 1, subject: 'the room', requirements });
  const frozen = compileSpec(source, catalogue, { series: 'room', version });
  return { frozen, catalogue: () => catalogue, ...(repairs === undefined ? {} : { repairs }) };
}
async function open(options: Parameters<typeof openRig>[0]) {
  const rig = await openRig(options);
  rigs.push(rig);
  return rig;
}

test('a run that waited goes on under its own specification and under no other', async () => {
  const store = memoryStore({ clock: systemClock });
  const light = counted('light', 'write', () => 'done');
  const lit = () => light.acted.length > 0;
  const calls = [{ id: 'a', name: 'light', arguments: '{}' }];
  const parts = { store, tools: [light.tool] };
  const ask = async () => ({ decision: 'approved' as const, by: 'tester', reason: '' });
  const begin = async () => {
    const rig = await open({ ...parts, script: [{ text: 'It is lit.' }, { calls }], spec: given(lit) });
    return (await rig.run('Light it.', { approve: 'pause' })).run;
  };
  const other = await open({ ...parts, script: [], spec: given(lit, 2) });
  expect(await other.resume(await begin(), { approve: 'ask', ask })).toMatchObject({
    status: 'failed',
    error: { code: 'spec.altered' },
  });
  const run = await begin();
  looks = 0;
  const same = await open({ ...parts, script: [{ text: 'Now it is.' }], spec: given(lit) });
  expect(await same.resume(run, { approve: 'ask', ask })).toMatchObject({
    status: 'completed',
    spec: { attempts: 2, accepted: true },
  });
  expect(looks).toBe(1);
});

test('an answer that the record has as judged is not judged again', async () => {
  const spec = given(() => true);
  const results = [{ id: 'lit', severity: 'required', status: 'failed', reason: 'It was dark.' }] as const;
  const verdict = { turn: 3, spec: spec.frozen.fingerprint, attempt: 1, accepted: false, results };
  const place = { run: 'run_1', epoch: 1, at: 0, seq: 2 };
  const opened = openRunSpec(
    spec,
    { run: 'run_1', earlier: [{ ...place, type: 'spec-verdict', ...verdict }] },
    { clock: systemClock, signal: new AbortController().signal, note() {}, async record() {} },
  );
  looks = 0;
  expect(await opened.closing('It is lit.', 3)).toMatchObject({
    do: 'speak',
    text: expect.stringContaining('- lit: failed. It was dark.'),
  });
  expect(looks).toBe(0);
  expect(await opened.closing('Now it is.', 4)).toEqual({ do: 'complete', answer: 'Now it is.' });
});

test('its repairs draw from the one budget, and there may be none', async () => {
  const rig = await open({ script: [{ text: 'a' }, { text: 'b' }], spec: given(() => false) });
  const spent = await rig.run('Light it.', { limits: { modelCalls: 2 } });
  expect(spent).toMatchObject({
    error: { code: 'budget.exhausted' },
    spec: { attempts: 2, accepted: false },
  });
  const once = await open({ script: [{ text: 'a' }], spec: given(() => false, 1, 0) });
  expect(await once.run('Light it.')).toMatchObject({
    error: { code: 'spec.not-met', details: { attempts: 1 } },
  });
});

test('a child is not held against it', async () => {
  const calls = [{ id: 'a', name: 'subagent', arguments: '{"query":"Say a word."}' }];
  const script = [{ calls }, { text: 'Word.' }, { text: 'Done.' }];
  looks = 0;
  const rig = await open({ script, tools: [subagent()], spec: given(() => true) });
  expect(await rig.run('Light it.')).toMatchObject({ status: 'completed', answer: 'Done.' });
  expect(looks).toBe(1);
  expect(JSON.stringify(rig.provider.requests[1]?.json)).not.toContain('The lamp is lit.');
});
