/** `skill_read`: files of chosen skills, and nothing beside them. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { systemClock } from '../../clock.ts';
import { skillRead } from './skill-read.ts';

const root = mkdtempSync(join(tmpdir(), 'writ-skill-'));
mkdirSync(join(root, 'report/forms'), { recursive: true });
writeFileSync(join(root, 'report/SKILL.md'), '---\nname: report\n---\nOne.\nTwo.\n');
writeFileSync(join(root, 'report/forms/a.txt'), 'form a');
writeFileSync(join(root, 'beside.txt'), 'beside');
afterAll(() => rmSync(root, { recursive: true }));

const tool = skillRead({}, { report: join(root, 'report') });
const call = (args: object) =>
  tool.execute(args, {
    signal: new AbortController().signal,
    clock: systemClock,
    idempotencyKey: '',
    context: () => {
      throw new Error('no context is asked for');
    },
  });

test('reads SKILL.md, a range of it, another file, and the names', async () => {
  expect(await call({ name: 'report' })).toMatchObject({
    status: 'succeeded',
    value: { path: 'SKILL.md', content: '---\nname: report\n---\nOne.\nTwo.\n', lines: 5, truncated: false },
  });
  expect(await call({ name: 'report', start_line: 5 })).toMatchObject({ value: { content: 'Two.\n' } });
  expect(await call({ name: 'report', path: 'forms/a.txt' })).toMatchObject({ value: { content: 'form a' } });
  expect(await call({ name: 'report', path: '.' })).toMatchObject({
    value: { names: ['SKILL.md', 'forms/'] },
  });
});

test.each([
  ['a skill that was not chosen', { name: 'other' }, 'tool.not-found'],
  ['a file beside the skill', { name: 'report', path: '../beside.txt' }, 'tool.path-refused'],
  ['a file that is not there', { name: 'report', path: 'none.md' }, 'tool.not-found'],
])('%s is a failure that the model can read', async (_, args, code) => {
  expect(await call(args)).toMatchObject({ status: 'failed', code });
});

test('a folder that is gone is an error when the tool is made', () => {
  expect(() => skillRead({}, { report: join(root, 'gone') })).toThrow(
    expect.objectContaining({ code: 'tool.bad-option' }),
  );
});
