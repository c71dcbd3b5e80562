import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sha256 } from '../digest.ts';
import type { EventBody } from '../protocol/events.ts';
import { thisHolder } from './holder.ts';
import { openLedger } from './ledger.ts';
import { begin, notice, runRecord, sessionRecord, storeCases } from './store.cases.ts';
import { memoryStore } from './stores/memory.ts';
import { sqliteStore } from './stores/sqlite.ts';

const secrets = [{ name: 'TOKEN', value: 'canary-7f3a"\\/é' }];
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
        await ledger.createSession(sessionRecord(session, { origin: { around } }), [
          { digest: sha256('s'), bytes },
        ]);
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
