/** The house holds: import arrows, no cycles, files of a size to read in one sitting, each opening with its subject. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { arrowFaults } from './arrows.ts';

const sources = new Map(
  readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => [`src/${path}`, readFileSync(`src/${path}`, 'utf8')]),
);
const shipped = new Map([...sources].filter(([path]) => !/\.(test|cases)\.ts$/.test(path)));

describe('import arrows', () => {
  test('the tree has no wrong arrow and no cycle', () => {
    expect(arrowFaults(shipped)).toEqual([]);
  });

  test.each([
    ['src/compose/planted.ts', "import { x } from '../run/run.ts';", 'compose may not import run'],
    [
      'src/protocol/planted.ts',
      "import type { X } from '../ledger/store.ts';",
      'protocol may not import ledger',
    ],
    ['src/run/planted.ts', "const x = await import('../native/session.ts');", 'run may not import native'],
    ['src/deliver/planted.ts', "export { x } from '../native/session.ts';", 'deliver may not import native'],
    ['src/helpers/planted.ts', '', "'helpers' is not in the table"],
    ['src/compose/planted.ts', "import { readFileSync } from 'node:fs';", 'touches the disk'],
  ])('a planted %s is found', (path, source, fault) => {
    expect(arrowFaults(new Map([...shipped, [path, source]])).join('\n')).toContain(fault);
  });

  test('a planted cycle is found, even by type', () => {
    const planted = new Map([
      ...shipped,
      ['src/wire/a.ts', "import type { B } from './b.ts';"],
      ['src/wire/b.ts', "import type { A } from './a.ts';"],
    ]);
    expect(arrowFaults(planted)).toEqual(['cycle: src/wire/a.ts → src/wire/b.ts → src/wire/a.ts']);
  });
});

describe('files', () => {
  test('a source file can be read in one sitting', () => {
    const long = [...shipped].filter(([, text]) => text.split('\n').length > 400).map(([path]) => path);
    expect(long).toEqual([]);
  });

  test('a test file stays under 600 lines', () => {
    const long = [...sources].filter(([, text]) => text.split('\n').length > 600).map(([path]) => path);
    expect(long).toEqual([]);
  });

  test('a source file opens with one sentence that says what lives in it', () => {
    const silent = [...shipped].filter(([, text]) => !/^(#!.*\n)?\/\*\*/.test(text)).map(([path]) => path);
    expect(silent).toEqual([]);
  });
});
