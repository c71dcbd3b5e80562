/** What a way carries on each platform, at its very limit. */
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { argumentFault, firstWay, holdLimits, usedControl } from './transport.ts';

const plan = (argv: readonly string[], env: Record<string, string> = {}) => ({ harness: 'x', argv, env });

test('one argument on Linux holds 131071 bytes, which the system itself agrees with', () => {
  const most = 'x'.repeat(131_071);
  expect(argumentFault(most, 'linux')).toBe(null);
  expect(argumentFault(`${most}x`, 'linux')).toEqual({
    kind: 'size',
    why: '131072 bytes, and one argument holds at most 131071',
  });
  // Counted in bytes, not in characters.
  expect(argumentFault('é'.repeat(65_536), 'linux')).toMatchObject({ kind: 'size' });
  if (process.platform !== 'linux') return;
  execFileSync('/bin/true', [most]);
  expect(() => execFileSync('/bin/true', [`${most}x`])).toThrow(/E2BIG/);
});

test('a command line on Windows holds 8191 characters, none of which the shell changes', () => {
  expect(argumentFault('x'.repeat(8_191), 'win32')).toBe(null);
  expect(argumentFault('x'.repeat(8_192), 'win32')).toMatchObject({ kind: 'size' });
  for (const text of ['a\nb', '%PATH%', 'a"b', 'a&b', '!x!', 'a^b'])
    expect(argumentFault(text, 'win32')).toMatchObject({ kind: 'content' });
  expect(argumentFault('a\nb%', 'linux')).toBe(null);
  expect(() => holdLimits(plan(Array.from({ length: 20 }, () => 'x'.repeat(500))), 'win32')).toThrow(
    /10060 characters.*8191/,
  );
});

test('a NUL ends an argument and a variable everywhere', () => {
  for (const platform of ['linux', 'darwin', 'win32'] as const) {
    expect(argumentFault('a\0b', platform)).toMatchObject({ kind: 'content' });
    expect(() => holdLimits(plan([], { A: 'x\0' }), platform)).toThrow(/A: it holds a NUL/);
  }
});

test('arguments and variables share one limit; a variable is named without its value', () => {
  const many = Array.from({ length: 20 }, () => 'x'.repeat(100_000));
  expect(() => holdLimits(plan(many), 'linux')).toThrow(/2000180 bytes.*1966080/);
  expect(() => holdLimits(plan(many.slice(0, 10)), 'darwin')).toThrow(/1000090 bytes.*917504/);
  expect(() => holdLimits(plan(many.slice(0, 10)), 'linux')).not.toThrow();
  const error = captured(() => holdLimits(plan([], { SECRET: 'hush'.repeat(40_000) }), 'linux'));
  expect(error).toMatchObject({ code: 'deliver.too-large' });
  expect(String(error)).toMatch(/SECRET/);
  expect(String(error)).not.toMatch(/hush/);
});

test('the first way that carries the text is taken; else the refusal names each and why', () => {
  const no = (why: string, kind: 'size' | 'content') => () => ({ kind, why });
  const file = { control: 'file', transport: 'file' } as const;
  const flag = { control: '--flag', transport: 'argv', fault: no('it is too long', 'size') } as const;
  const pipe = { control: 'stdin', transport: 'stdin', fault: no('it is cut', 'content') } as const;
  expect(firstWay('x', 'text', 'a', [flag, file])).toBe(file);
  expect(captured(() => firstWay('x', 'text', 'a', [flag]))).toMatchObject({ code: 'deliver.too-large' });
  expect(captured(() => firstWay('x', 'task', 'a', [flag, pipe]))).toMatchObject({
    code: 'deliver.not-transportable',
    message: expect.stringContaining('--flag: it is too long; stdin: it is cut'),
    details: { harness: 'x', field: 'task' },
  });
});

test('a control is noted with the size and digest of its text, never the text', () => {
  expect(usedControl('append', { control: 'c', transport: 'file' }, 'é')).toEqual({
    wish: 'append',
    control: 'c',
    transport: 'file',
    bytes: 2,
    sha256: '4a99557e4033c3539de2eb65472017cad5f9557f7a0625a09f1c3f6e2ba69c4c',
  });
  expect(usedControl('model', { control: 'c', transport: 'argv' }, null)).toMatchObject({ bytes: null });
});

function captured(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  return undefined;
}
