/** The door: what is no request does not come in. */
import { expect, test } from 'vitest';
import { checkRequest } from './check-request.ts';
import { sampleDimensions, sampleRequest } from './conformance.cases.ts';

test('a request with every dimension is one, and so is an empty text', () => {
  expect(() => checkRequest({ ...sampleRequest, ...sampleDimensions, text: '' })).not.toThrow();
});

test.each([
  ['text', null],
  ['text', 7],
  ['text', ['a']],
  ['text', undefined],
  ['text', 'half a pair: \uD800'],
  ['task', ' \n'],
  ['intent', 'replaced'],
  ['fidelity', ''],
  ['model', '--version'],
  ['model', 'a b'],
  ['model', ''],
  ['resume', '-x'],
  ['home', 'relative'],
  ['baseUrl', 'file:///etc/passwd'],
  ['reasoningEffort', 'very'],
  ['outputTokensMax', 0],
  ['env', { 'A=B': 'x' }],
  ['skills', [{ name: '../x', description: '', text: '' }]],
  ['skills', [{ name: 'a..b', description: '', text: '' }]],
  ['skills', [{ name: '-x', description: '', text: '' }]],
  ['commands', [{ name: 'x', description: 'two\nlines', text: '' }]],
  ['mcpServers', { '': { command: 'x' } }],
  ['mcpServers', { x: { command: 'x', url: 'https://a.b' } }],
  ['agent', []],
  ['unknownField', true],
])('%s: %j is refused by its name', (field, value) => {
  expect(() => checkRequest({ ...sampleRequest, [field]: value })).toThrow(
    expect.objectContaining({
      code: 'deliver.bad-request',
      kind: 'input',
      details: { field: expect.stringMatching(field === 'unknownField' ? 'the request' : `^${field}`) },
    }),
  );
});
