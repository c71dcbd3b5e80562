/** Required cases as data: each names the tests that show it, or says why it cannot arise here. */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

/** The end of a path, and a part of a test's name as it is written there. */
export type Shown = readonly [file: string, name: string];
export type Case = readonly [number: string, what: string, by: readonly Shown[] | string];

/** One test a case: what it names exists under its file, so no case loses its test unseen. */
export function describeCases(groups: Readonly<Record<string, readonly Case[]>>): void {
  describe.each(Object.entries(groups))('%s', (_group, cases) => {
    test.each(cases.map(([number, what, by]) => [number, what, by] as const))(
      '%s: %s',
      (_number, _what, by) => {
        if (typeof by === 'string') return expect(by).not.toBe('');
        expect(by.length).toBeGreaterThan(0);
        for (const [file, name] of by) {
          expect([file, existsSync(file)]).toEqual([file, true]);
          // Names are written with whatever quotes; a line may be broken before one, never within.
          expect([name, readFileSync(file, 'utf8').includes(name)]).toEqual([name, true]);
        }
      },
    );
  });
}
