/** Layers written into one text: what each holds, what stands between them, and where the stable prefix ends. */
import { expect, test } from 'vitest';
import { LayerWriter } from './layer-writer.ts';

function written(write: (writer: LayerWriter) => void) {
  const writer = new LayerWriter();
  write(writer);
  const { text, layers, stablePrefixBytes } = writer.finish();
  expect(layers.map(({ joinBefore, text: own }) => joinBefore + own).join('')).toBe(text);
  return {
    layers: layers.map(({ id, joinBefore, text: own, fragments }) => [id, joinBefore, own, fragments]),
    stablePrefixBytes,
  };
}

test('nothing written is no layer', () => {
  expect(
    written((writer) => {
      writer.write('identity', '');
      writer.end('identity', '\n', ['a']);
    }),
  ).toEqual({ layers: [], stablePrefixBytes: 0 });
});

test('what stands between texts does not open a layer, and belongs to it', () => {
  expect(
    written((writer) => {
      writer.write('identity', 'é', '\n\n');
      writer.write('identity', 'b', '\n\n');
      writer.end('identity', '\n', ['a', 'b']);
      writer.write('contract', 'c');
    }),
  ).toEqual({
    layers: [
      ['identity', '', 'é\n\nb\n', ['a', 'b']],
      ['contract', '\n', 'c', []],
    ],
    stablePrefixBytes: 8,
  });
});

test('a blank line is seen over texts of one newline', () => {
  expect(
    written((writer) => {
      writer.write('identity', 'a');
      writer.write('identity', '\n');
      writer.write('identity', '\n');
      writer.write('contract', 'b');
    }).layers.map(([, joinBefore]) => joinBefore),
  ).toEqual(['', '']);
});

test('the stable prefix ends where it was closed first, in bytes', () => {
  expect(
    written((writer) => {
      writer.write('identity', 'é');
      writer.closeStable();
      writer.write('contract', 'b');
      writer.closeStable();
    }).stablePrefixBytes,
  ).toBe(2);
});
