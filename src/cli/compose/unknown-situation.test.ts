/** Situations that say what nobody knows, in `writ diff`, `lock`, `check` and `space`, though a probe could answer here. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { agentFolder, call, writeFiles } from '../call.cases.ts';

let cwd: string;
beforeEach(async () => {
  cwd = await agentFolder();
  await writeFiles(cwd, {
    'a/agent.yaml': [
      'key: tester',
      'join: blocks',
      'profiles: { default: [base, guard, lit] }',
      'facts: { lamp: { type: bool, probe: project-marker, options: { files: [lamp.yml] } } }',
      'situations:',
      '  on: { lamp: true }',
      '  off: { lamp: false }',
      '  blind: { unknown: [lamp] }',
    ].join('\n'),
    'a/instructions/guard.md': '---\nwhen: lamp\n---\nMind the lamp.\n',
    'a/instructions/lit.md': '---\nwhen: lamp\nunknown: drop\n---\nThe lamp is lit.\n',
    // The probe would find it: who does not know must not be told.
    'lamp.yml': '',
  });
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

const writ = (...argv: string[]) => call(argv, { cwd, env: {} });
const json = async (...argv: string[]) => JSON.parse((await writ(...argv, '--json')).stdout);

test('a difference to a situation is one to what composes where its fact is unknown', async () => {
  expect((await writ('compose', 'a')).stdout).toBe(
    'You answer tests.\n\nMind the lamp.\n\nThe lamp is lit.\n',
  );
  expect((await writ('compose', 'a', '--situation', 'blind')).stdout).toBe(
    'You answer tests.\n\nMind the lamp.\n',
  );
  expect(await json('diff', 'a', '--against', 'situation:blind')).toMatchObject({
    against: 'situation:blind',
    removed: [],
    added: [{ text: 'The lamp is lit.' }],
  });
  expect(await json('diff', 'a', '--situation', 'blind', '--against', 'situation:off')).toMatchObject({
    removed: [],
    added: [{ text: 'Mind the lamp.' }],
  });
});

test('the explanation names the situation that leaves the fact unknown', async () => {
  const { decisions } = await json('compose', 'a', '--situation', 'blind');
  const facts = [
    { name: 'lamp', known: false, reason: 'the situation leaves it unknown', source: 'situation blind' },
  ];
  expect(decisions.slice(1)).toEqual([
    { fragment: 'guard', included: true, value: 'unknown', when: 'lamp', facts },
    { fragment: 'lit', included: false, value: 'unknown', when: 'lamp', facts },
  ]);
});

test('a lock pins it, a check holds it, and the space counts its prompt as locked', async () => {
  expect((await writ('lock', 'a')).stdout).toBe('Pinned 3 texts of 3 situations in a/writ.lock.json.\n');
  const { digest } = await json('compose', 'a', '--situation', 'blind');
  const lock = JSON.parse(await readFile(join(cwd, 'a/writ.lock.json'), 'utf8'));
  expect(lock.situations.blind.default.sha256).toBe(digest);
  expect((await writ('check', 'a')).code).toBe(0);
  const { prompts, notLocked } = await json('space', 'a');
  expect(notLocked).toBe(0);
  expect(prompts.map((one: { example: unknown; locked: boolean }) => [one.example, one.locked])).toEqual([
    [{ lamp: true }, true],
    [{ lamp: false }, true],
    [{ lamp: null }, true],
  ]);
  await writeFile(
    join(cwd, 'a/instructions/lit.md'),
    '---\nwhen: lamp\nunknown: keep\n---\nThe lamp is lit.\n',
  );
  const { findings } = await json('check', 'a');
  expect(findings.map((one: { message: string }) => one.message).join('\n')).toContain("situation 'blind'");
});

test('a fact that is both given and unknown, and one that there is not, are refused where they stand', async () => {
  const yaml = await readFile(join(cwd, 'a/agent.yaml'), 'utf8');
  for (const [wrong, said] of [
    ['blind: { lamp: true, unknown: [lamp] }', 'has a value in this situation and is unknown in it'],
    ['blind: { unknown: [lamb] }', "'lamb'"],
  ] as const) {
    await writeFile(join(cwd, 'a/agent.yaml'), yaml.replace('blind: { unknown: [lamp] }', wrong));
    const { code, stderr } = await writ('diff', 'a', '--against', 'situation:blind');
    expect(code).toBe(2);
    expect(stderr).toContain(said);
    expect(stderr).toMatch(/agent\.yaml:8:\d+/);
  }
});
