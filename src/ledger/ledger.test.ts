import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sha256 } from '../digest.ts';
import type { EventBody, EventType } from '../protocol/events.ts';
import { eventTexts } from '../protocol/free-text.ts';
import type { SessionRecord } from '../protocol/record.ts';
import { noUsage } from '../protocol/usage.ts';
import { hiddenKey } from './clean-record.ts';
import { thisHolder } from './holder.ts';
import { openLedger } from './ledger.ts';
import { begin, notice, runRecord, sessionRecord, storeCases } from './store.cases.ts';
import { memoryStore } from './stores/memory.ts';
import { sqliteStore } from './stores/sqlite.ts';

const secret = 'canary-7f3a"\\/é';
const secrets = [{ name: 'TOKEN', value: secret }];
storeCases('ledger', (clock) => openLedger({ store: memoryStore({ clock }), secrets }));

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'writ-secrets-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('a blob keeps the digest of the bytes as they were', async () => {
  const ledger = openLedger({ store: memoryStore(), secrets });
  const lease = await begin(ledger);
  const sent = `Authorization: Bearer ${secrets[0]?.value}`;
  const [stored] = await ledger.append(lease, [notice(sent)], {
    blobs: [{ digest: sha256(sent), bytes: sent }],
  });
  expect(stored).toMatchObject({ text: 'Authorization: Bearer [secret TOKEN]' });
  expect(Buffer.from((await ledger.blob(sha256(sent))) ?? []).toString()).toBe(
    'Authorization: Bearer [secret TOKEN]',
  );
  expect(ledger.redact(sent)).toBe('Authorization: Bearer [secret TOKEN]');
  await ledger.close();
});

test('a blob in which a secret was replaced is marked, others are not', async () => {
  const seen: unknown[] = [];
  const store = memoryStore();
  const ledger = openLedger({
    store: {
      ...store,
      append(lease, events, options) {
        seen.push(options);
        return store.append(lease, events, options);
      },
    },
    secrets,
  });
  const lease = await begin(ledger);
  const clean = { digest: sha256('clean'), bytes: 'clean' };
  const dirty = { digest: sha256('dirty'), bytes: secrets[0]?.value ?? '' };
  await ledger.append(lease, [], { blobs: [clean, dirty], power: true });
  await ledger.append(lease, []);
  expect(seen).toEqual([
    { blobs: [clean, { digest: dirty.digest, bytes: '[secret TOKEN]', redacted: true }], power: true },
    {},
  ]);
});

describe('what a record is read by', () => {
  const types = Object.keys(eventTexts) as EventType[];
  // Keys of local servers are often plain words.
  const words = [
    'effect',
    'finish',
    'dispatch',
    'observe',
    'session',
    'message',
    'notice',
    'status',
    'unknown',
  ];
  const plain = openLedger({
    store: memoryStore(),
    secrets: [...words, ...types].map((value) => ({ name: 'LAB_KEY', value })),
  });

  test('stays as it is, even where a key is one of its words', async () => {
    const lease = await begin(plain);
    const events: EventBody[] = [
      ...types.map((type) => ({ type }) as EventBody),
      { type: 'run-pause', ticket: 'ticket_session', error: null },
      {
        type: 'model-fault',
        turn: 1,
        attempt: 1,
        error: { code: 'model.unknown', kind: 'unknown', message: 'finish', details: { status: 'finish' } },
        httpStatus: null,
        response: null,
        dispatched: 'unknown',
        usage: noUsage,
        retryInMs: null,
      },
    ];
    const stored = await plain.append(lease, events);
    expect(stored.slice(0, types.length).map(({ type }) => type)).toEqual(types);
    expect(stored.slice(types.length)).toMatchObject([
      { ticket: 'ticket_session' },
      {
        error: {
          code: 'model.unknown',
          kind: 'unknown',
          message: '[secret LAB_KEY]',
          details: { status: '[secret LAB_KEY]' },
        },
        dispatched: 'unknown',
      },
    ]);
    expect(await plain.session('session_a')).toEqual(sessionRecord('session_a'));
  });

  test.each(types)('%s: each member is kept, cleaned, refused or told by its digest', async (type) => {
    const canary = 'canary-7f3a-9c1e-55d0';
    const ledger = openLedger({ store: memoryStore(), secrets: [{ name: 'KEY', value: canary }] });
    const lease = await begin(ledger);
    const store = async (member: string) => {
      const [stored] = await ledger.append(lease, [{ type, [member]: canary } as unknown as EventBody]);
      return Reflect.get(stored ?? {}, member);
    };
    const kinds: Readonly<Record<string, unknown>> = eventTexts[type];
    for (const [member, kind] of Object.entries(kinds)) {
      if (kind === 'given')
        await expect(store(member)).rejects.toMatchObject({
          code: 'ledger.secret-in-record',
          details: { member },
        });
      else if (kind === 'own') expect(await store(member)).toBe(canary);
      else if (kind === 'key') expect(await store(member)).toBe(hiddenKey(canary));
      else expect(await store(member)).toBe('[secret KEY]');
    }
    expect(await store('newcomer')).toBe('[secret KEY]');
  });

  test.each<[string, Partial<SessionRecord>]>([
    ['agent', { agent: secret }],
    ['model', { model: `local/${secret}` }],
    ['capabilities', { capabilities: [secret] }],
    ['origin', { origin: { tools: [{ options: { [`x-${secret}`]: 1 } }] } }],
    ['origin', { origin: { baseUrl: `https://models.example/${secret}/v1` } }],
  ])('a secret in %s of a session is refused, without repeating it', async (member, fields) => {
    const ledger = openLedger({ store: memoryStore(), secrets });
    const refused = await ledger
      .createSession(sessionRecord('s', fields), [])
      .catch((error: unknown) => error);
    expect(refused).toMatchObject({
      code: 'ledger.secret-in-record',
      kind: 'input',
      details: { member, secret: 'TOKEN' },
    });
    expect(JSON.stringify(refused)).not.toContain('canary');
    expect(await ledger.session('s')).toBeUndefined();
  });
});

test('law: a known secret never reaches the file or its journal, in whatever record it stands', async () => {
  let count = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('plain', 'json', 'json in json', 'percent', 'bytes', 'name'),
      fc.string({ maxLength: 20 }),
      fc.string({ maxLength: 20 }),
      async (form, before, after) => {
        const canary = 'canary-7f3a-9c1e-55d0';
        const at = mkdtempSync(join(folder, 'law-'));
        const ledger = openLedger({
          store: sqliteStore({ path: join(at, 'ledger.sqlite') }),
          secrets: [{ name: 'CANARY', value: canary }],
        });
        const around = `${before}${canary}${after}`;
        const texts: Readonly<Record<string, string>> = {
          json: JSON.stringify(around),
          'json in json': JSON.stringify(JSON.stringify([around])),
          percent: encodeURIComponent(canary),
        };
        const text = texts[form] ?? around;
        const event = {
          ...notice(text),
          ...(form === 'name' ? { [around]: [{ deep: around }] } : {}),
        } as EventBody;
        const bytes = form === 'bytes' ? Buffer.concat([Buffer.from([0xff, 0]), Buffer.from(text)]) : text;
        const session = `session_${++count}`;
        await expect(
          ledger.createSession(sessionRecord(session, { origin: { around } }), []),
        ).rejects.toThrow(expect.objectContaining({ code: 'ledger.secret-in-record' }));
        await ledger.createSession(sessionRecord(session), [{ digest: sha256('s'), bytes }]);
        await ledger.createRun(runRecord('run_a', session));
        const lease = await ledger.acquire('run_a', thisHolder(), 1000);
        await ledger.append(lease, [event], { blobs: [{ digest: sha256(bytes), bytes }] });
        const open = readdirSync(at).map((name) => readFileSync(join(at, name), 'latin1'));
        await ledger.close();
        const closed = readdirSync(at).map((name) => readFileSync(join(at, name), 'latin1'));
        expect([...open, ...closed].filter((stored) => stored.includes(canary))).toEqual([]);
      },
    ),
    { numRuns: 40 },
  );
});
