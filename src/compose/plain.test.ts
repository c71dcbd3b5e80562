import { expect, test } from 'vitest';
import { plainComposition } from './plain.ts';

test('a plain text is one layer, byte for byte', () => {
  expect(plainComposition('tester', 'Ä 😀\n')).toEqual({
    agent: 'tester',
    profile: 'default',
    digest: 'cf5656ad1c6402d4749ff54e36f08b7c6d9d4fc33fb14333b227725bccf32fb0',
    bytes: 8,
    characters: 4,
    tokens: 1,
    tokenMethod: 'chars/4',
    text: 'Ä 😀\n',
    stablePrefixBytes: 8,
    layers: [
      {
        id: 'contract',
        title: 'Operating contract',
        joinBefore: '',
        text: 'Ä 😀\n',
        bytes: 8,
        tokens: 1,
        fragments: [],
      },
    ],
    decisions: [],
  });
});

test('an empty text has no layer', () => {
  expect(plainComposition('tester', '')).toMatchObject({ bytes: 0, text: '', layers: [] });
});
