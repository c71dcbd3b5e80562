/** Every error code is documented once, used somewhere, and nothing is documented that does not exist. */
import { readdirSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import type { ErrorTable } from '../src/errors.ts';

const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !/\.(test|cases)\.ts$/.test(path))
  .map((path) => ({ path: `src/${path}`, text: readFileSync(`src/${path}`, 'utf8') }));

/** All tables of the tree: every exported constant whose name ends in `Errors`. */
async function tables(): Promise<Map<string, ErrorTable[string]>> {
  const all = new Map<string, ErrorTable[string]>();
  for (const { path, text } of files) {
    for (const [, name = ''] of text.matchAll(/export const (\w+Errors) = \{/g)) {
      const module = (await import(pathToFileURL(path).href)) as Record<string, ErrorTable>;
      for (const [code, entry] of Object.entries(module[name] ?? {})) {
        expect(all.has(code), `${code} stands in two tables`).toBe(false);
        all.set(code, entry);
      }
    }
  }
  return all;
}

const documented = new Map(
  readFileSync('docs/errors.md', 'utf8')
    .split(/^### /m)
    .slice(1)
    .map((section) => [section.slice(0, section.indexOf('\n')).trim(), section] as const),
);

test('docs/errors.md has one section for each code, and none for a code that does not exist', async () => {
  const codes = [...(await tables()).keys()].sort();
  expect([...documented.keys()].sort()).toEqual(codes);
});

test('each section says what kind of error it is', async () => {
  const wrong = [...(await tables())].filter(
    ([code, { kind }]) => !documented.get(code)?.includes(`Kind: ${kind}`),
  );
  expect(wrong.map(([code]) => code)).toEqual([]);
});

test('each code is used somewhere beside its table', async () => {
  const unused = [...(await tables()).keys()].filter(
    (code) => files.reduce((sum, { text }) => sum + text.split(`'${code}'`).length - 1, 0) < 2,
  );
  expect(unused).toEqual([]);
});
