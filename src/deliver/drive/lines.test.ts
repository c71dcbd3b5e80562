/** Lines and diagnostics: whole whatever the pieces, and bounded whatever comes. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openDiagnostics, shortText } from './diagnostics.ts';
import { openLines } from './lines.ts';

test('however a text arrives, its lines are the same', () => {
  const text = fc
    .array(fc.constantFrom('a', 'é', '\n', '\r\n', '\u2028', '{"x":1}'))
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(text, fc.array(fc.nat(4)), (all, cuts) => {
      const lines = openLines();
      const found: string[] = [];
      let rest = all;
      for (const cut of cuts) {
        found.push(...lines.add(rest.slice(0, cut)));
        rest = rest.slice(cut);
      }
      found.push(...lines.add(rest), ...lines.end());
      const whole = all.split('\n').map((line) => line.replace(/\r$/, ''));
      if (all === '' || all.endsWith('\n')) whole.pop();
      expect(found).toEqual(whole);
    }),
  );
});

test('a line that is too long is left out whole, counted, and the next is read', () => {
  const lines = openLines(5);
  expect([...lines.add('123456'), ...lines.add('789\nabc\n12345\n'), ...lines.end()]).toEqual([
    'abc',
    '12345',
  ]);
  expect(lines.dropped()).toBe(1);
});

test('of a flood the beginning and the end are kept, and what is left out is counted', () => {
  const said = openDiagnostics();
  said.add('first ');
  for (let i = 0; i < 1000; i += 1) said.add('x'.repeat(1000));
  said.add('last');
  const text = said.text();
  expect(text.length).toBeLessThan(66_000);
  expect(text).toMatch(/^first x+\n\[\d+ characters left out\]\nx+last$/);
});

test('a message holds one line without what a terminal would obey', () => {
  expect(shortText('\u001b[31mred\u001b[0m\r\n\tand\u0007 blue\u202e')).toBe('red and blue');
});
