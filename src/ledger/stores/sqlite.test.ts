import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { storeCases } from '../store.cases.ts';
import { sqliteStore } from './sqlite.ts';

const folder = mkdtempSync(join(tmpdir(), 'writ-ledger-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let count = 0;
storeCases('sqlite', (clock) => sqliteStore({ path: join(folder, `${++count}`, 'ledger.sqlite'), clock }));
