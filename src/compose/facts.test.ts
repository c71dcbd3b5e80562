import { expect, test } from 'vitest';
import { capabilityFact, environmentFact, isFactValue, parseFactText } from './facts.ts';
import { namingMend, nearest } from './nearest.ts';

test.each([
  ['bool', 'true', true],
  ['bool', 'false', false],
  ['bool', 'yes', undefined],
  ['bool', '', undefined],
  ['int', '-12', -12],
  ['int', '0', 0],
  ['int', '010', undefined],
  ['int', '1.0', undefined],
  ['int', '9007199254740993', undefined],
  ['double', '1.5e3', 1500],
  ['double', '-0.5', -0.5],
  ['double', '1e999', undefined],
  ['double', 'NaN', undefined],
  ['double', '0x10', undefined],
  ['string', '1.10', '1.10'],
  ['string', '', ''],
  ['list', '', []],
  ['list', 'a, b', ['a', 'b']],
  ['list', '["a,b"]', ['a,b']],
  ['list', '[1]', undefined],
  ['list', '[', undefined],
] as const)('a flag gives a %s from %j', (type, text, value) => {
  expect(parseFactText(type, text)).toEqual(value);
});

test('a value is of its type alone', () => {
  expect(isFactValue('int', 1.5)).toBe(false);
  expect(isFactValue('double', Number.NaN)).toBe(false);
  expect(isFactValue('list', ['a', 1])).toBe(false);
  expect(isFactValue('string', null)).toBe(false);
});

test('names that conditions can hold', () => {
  expect(capabilityFact('web-search')).toBe('capability.web_search');
  expect(environmentFact('env.A_1')?.volatile).toBe(true);
  expect(environmentFact('env.A.B')).toBeUndefined();
  expect(environmentFact('home')).toBeUndefined();
});

test('the nearest name is a slip away, or none is near', () => {
  expect(nearest('profils', ['profiles', 'prices'])).toBe('profiles');
  expect(nearest('form', ['from'])).toBe('from');
  expect(nearest('x', ['y'])).toBeUndefined();
  expect(nearest('completely', ['other'])).toBeUndefined();
  expect(namingMend('x', ['aa', 'bb'])).toBe('Use one of: aa, bb.');
  expect(namingMend('x', [])).toBe('Leave it out: there are none.');
});
