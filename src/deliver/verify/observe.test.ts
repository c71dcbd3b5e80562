/** What requests say about a text, and what the trap texts are. */
import { describe, expect, test } from 'vitest';
import { textTraits } from '../../protocol/delivery.ts';
import { isAbove, readModelRequest } from '../recorder/model-request.ts';
import { posted } from '../recorder/recorded.cases.ts';
import { traitsOf } from '../traits.ts';
import { driftOf } from './drift.ts';
import { isHonoured } from './measure-intent.ts';
import { sessionIdOf } from './measure-session.ts';
import { arrivalOf, copiesOf, holdsText, placeOf, residueOf } from './observe.ts';
import { allTraps, fewTraps, plain, type Trap, together } from './traps.ts';

function request(system: readonly string[], user = 'task') {
  const body = {
    system: system.map((text) => ({ type: 'text', text })),
    messages: [{ role: 'user', content: user }],
  };
  const reading = readModelRequest(posted('/v1/messages', body));
  if (reading.kind !== 'model') throw new Error(reading.kind);
  return reading.request;
}

const edges: Trap = { name: 'edges', traits: [], text: '\n\nmark\n', mark: 'mark' };

function arrival(around: (text: string) => readonly string[], mangled: string, trap = edges) {
  const place = placeOf(request(around(plain.text)), plain.text);
  if (place === undefined) throw new Error('the plain text is not there');
  return arrivalOf(request(around(mangled)), trap, place);
}

describe('blank ends of a text', () => {
  const whole = (text: string) => ['vendor', text];
  const joined = (text: string) => [`The long prompt of a vendor.\n\n${text}\nCurrent date: today is a day.`];
  test.each([
    ['alone in its part', whole],
    ['between texts of the vendor', joined],
  ])('%s: only the whole text is equal', (_, around) => {
    expect(arrival(around, edges.text)).toBe('equal');
    expect(arrival(around, 'mark')).toBe('altered');
    expect(arrival(around, '\n\nmark')).toBe('altered');
    expect(arrival(around, 'mark\n')).toBe('altered');
    expect(arrival(around, 'nothing')).toBe('lost');
  });

  test('added blanks are an alteration where our text is the whole part', () => {
    expect(arrival(whole, `\n${edges.text}`)).toBe('altered');
    expect(arrival(whole, `${edges.text}\n`)).toBe('altered');
  });
});

test('a text above the conversation counts before the same text in it', () => {
  expect(placeOf(request(['a', 'b text'], 'text'), 'text')?.position).toEqual({
    field: 'system',
    role: 'system',
    index: 1,
  });
  expect(placeOf(request(['a'], 'text'), 'text')?.position).toEqual({
    field: 'messages',
    role: 'user',
    index: 0,
  });
  expect(placeOf(request(['a']), 'text')).toBeUndefined();
  expect(placeOf(request(['a']), '')).toBeUndefined();
});

test('residue is what stands above without ours, the largest named', () => {
  expect(residueOf(request(['é', 'x ours yy', 'other']), 'ours')).toEqual({
    bytes: 2 + 5 + 5,
    firstWords: 'x yy',
  });
  expect(residueOf(request(['ours'], 'much of the user'), 'ours')).toEqual({ bytes: 0, firstWords: '' });
});

test('a vendor text is known by its middle, above the conversation only', () => {
  const vendor = `Today is Monday. ${'It works with care and says so. '.repeat(10)} Folder: /a`;
  expect(holdsText(request([vendor.replace('Monday', 'Friday').replace('/a', '/b')]), vendor)).toBe(true);
  expect(holdsText(request(['else'], vendor), vendor)).toBe(false);
  expect(holdsText(request(['else']), '')).toBe(false);
  expect(copiesOf(request(['ab', 'abab'], 'ab'), 'ab')).toBe(4);
});

test.each([
  ['replace', ['ours', 'kept line'], true],
  ['replace', ['vendor', 'ours', 'kept line'], false],
  ['replace', ['kept line'], false],
  ['append', ['vendor', 'ours', 'kept line'], true],
  ['append', ['ours', 'kept line'], false],
  ['append', ['vendor', 'kept line'], false],
  ['context', ['vendor', 'kept line'], true],
  ['context', ['kept line'], false],
  ['developer', ['vendor', 'ours'], false],
] as const)('%s is honoured with %j above: %s', (intent, above, honoured) => {
  const vendor = 'The prompt of a vendor says many things, one after the other, until it is long. '.repeat(4);
  const texts = (names: readonly string[]) => names.map((name) => (name === 'vendor' ? vendor : name));
  const builtIn = { parts: request(texts(['vendor', 'kept line'])).parts.filter(isAbove), bytes: 1 };
  const seen = request(texts(above), above.includes('ours' as never) ? 'task' : 'task and ours');
  expect(isHonoured(intent, seen, placeOf(seen, 'ours'), builtIn)).toBe(honoured);
});

test('where the prompt of the vendor was never seen, nobody can say that it is gone', () => {
  const seen = request(['ours']);
  expect(isHonoured('replace', seen, placeOf(seen, 'ours'), null)).toBe(false);
});

test('each trap has the traits it is named for, and a mark inside it', () => {
  const { alone, joined } = allTraps;
  const all = [...alone, ...joined, together(joined)];
  for (const trap of all) {
    expect(traitsOf(trap.text)).toEqual(expect.arrayContaining([...trap.traits]));
    expect(trap.text).toContain(trap.mark);
  }
  expect(new Set(all.flatMap(({ traits }) => traits))).toEqual(new Set(textTraits));
  expect(together(joined).traits).toEqual(joined.flatMap(({ traits }) => traits));
  expect(together(joined.slice(1, 2)).text).toBe(joined[1]?.text.replace('canary-quotes', 'canary-together'));
});

test('a few traps are one of each kind and those that are known to suffer, each of them by itself', () => {
  const namesOf = (known: Parameters<typeof fewTraps>[0]) =>
    Object.values(fewTraps(known)).map((traps: readonly Trap[]) => traps.map(({ name }) => name));
  const joined = allTraps.joined.map(({ name }) => name);
  expect(namesOf([])).toEqual([['empty', 'leading-dash', 'file-name'], joined]);
  expect(namesOf(['bom', 'nul'])).toEqual([
    ['empty', 'leading-dash', 'bom', 'file-name', 'nul'],
    joined.filter((name) => name !== 'nul'),
  ]);
});

test.each([
  ['{"type":"system","session_id":"a"}', 'a'],
  ['warning\n{"type":"thread.started","thread_id":"b"}', 'b'],
  ['{"type":"step_start","sessionID":"c"}', 'c'],
  ['{"type":"session","id":"d"}', 'd'],
  ['{"type":"message","id":"e"}\n[1]\n{', undefined],
  ['', undefined],
])('the session of %j', (stdout, id) => expect(sessionIdOf(stdout)).toBe(id));

describe('drift', () => {
  const cell = {
    harness: 'h',
    version: '2.0.0',
    modelFamily: 'default',
    authMode: 'api-key',
    intent: 'replace',
    fidelity: 'base',
    control: '--x',
    delivered: true,
    position: { field: 'system', role: 'system', index: 0 },
    residue: { bytes: 100, firstWords: 'a' },
    builtInBytes: 5000,
    byteEquality: true,
    altered: [],
    date: '2026-02-02',
  } as const;

  test('none where nothing was known, or all is the same but for a path or a date', () => {
    expect(driftOf(cell, [])).toEqual([]);
    expect(
      driftOf(cell, [
        { ...cell, intent: 'append' },
        { ...cell, modelFamily: 'opus' },
      ]),
    ).toEqual([]);
    expect(
      driftOf(cell, [{ ...cell, residue: { bytes: 130, firstWords: 'b' }, builtInBytes: 5090 }]),
    ).toEqual([]);
  });

  test('each field that differs, against the same version before any other', () => {
    const older = { ...cell, version: '1.0.0', date: '2026-01-01', delivered: false };
    const newer = {
      ...cell,
      version: '1.5.0',
      date: '2026-01-05',
      altered: ['bom'] as const,
      residue: { bytes: 900, firstWords: '' },
    };
    const against = { version: '1.5.0', date: '2026-01-05' };
    const same = { intent: 'replace', fidelity: 'base' };
    expect(driftOf(cell, [older, newer])).toEqual([
      { ...same, against, field: 'altered', was: ['bom'], is: [] },
      { ...same, against, field: 'residue.bytes', was: 900, is: 100 },
    ]);
    expect(driftOf(cell, [newer, { ...cell, builtInBytes: null, position: null }])).toEqual([
      {
        ...same,
        against: { version: '2.0.0', date: '2026-02-02' },
        field: 'position',
        was: null,
        is: cell.position,
      },
      {
        ...same,
        against: { version: '2.0.0', date: '2026-02-02' },
        field: 'builtInBytes',
        was: null,
        is: 5000,
      },
    ]);
  });
});
