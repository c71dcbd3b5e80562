/** `writ compose`: the exact bytes, and every flag that decides them. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { agentFolder, call, writeFiles } from '../call.cases.ts';

let cwd: string;
beforeEach(async () => {
  cwd = await agentFolder();
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

const compose = (...flags: string[]) => call(['compose', 'a', ...flags], { cwd });

test('prints exactly the bytes: what it prints has the digest that it states', async () => {
  const { code, stdout, stderr } = await compose();
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: 'You answer tests.\n', stderr: '' });
  const json = JSON.parse((await compose('--json')).stdout);
  expect(json).toMatchObject({
    agent: 'tester',
    digest: createHash('sha256').update(stdout).digest('hex'),
    text: stdout,
  });
});

test.each([
  [['--fact', 'lamp=true'], 'You answer tests.\n\nNobody is there.\n'],
  [['--fact', 'lamp=false', '--fact', 'lamp=true'], 'You answer tests.\n\nNobody is there.\n'],
  [['--situation', 'lit'], 'You answer tests.\n\nNobody is there.\n'],
  [['--situation', 'lit', '--interactive'], 'You answer tests.\n'],
  [['--situation', 'lit', '--profile', 'short'], 'You answer tests.\n'],
  [['--situation', 'lit', '--unknown', 'lamp'], 'You answer tests.\n'],
  [['--situation', 'facts.yaml'], 'You answer tests.\n\nNobody is there.\n'],
])('%j', async (flags, text) => {
  await writeFiles(cwd, { 'facts.yaml': 'lamp: true\n' });
  expect(await compose(...flags)).toEqual({ code: 0, stdout: text, stderr: '' });
});

test('an agent that composes to nothing is said to, and the bytes are none', async () => {
  await writeFiles(cwd, {
    'a/instructions/base.md': '---\nwhen: mode == "interactive"\n---\nYou answer tests.\n',
  });
  expect(await compose()).toEqual({
    code: 0,
    stdout: '',
    stderr: "notice: Profile 'default' composes to no text here: its model would get no instructions.\n",
  });
  expect(await compose('--json')).toMatchObject({ code: 0, stderr: '' });
});

test('only writ run has a task: here two dashes end the options, as everywhere', async () => {
  expect(await call(['compose', '--', 'a'], { cwd })).toMatchObject({
    code: 0,
    stdout: 'You answer tests.\n',
  });
});

test('texts of the session are read from files and stand in their layers', async () => {
  await writeFiles(cwd, {
    'i.md': 'You are a lamp.\n',
    'g.md': 'No smoking.',
    'm.md': 'Red.',
    's.md': 'Now.',
  });
  const flags = ['--identity', 'i.md', '--governance', 'g.md', '--memory', 'm.md', '--session-text', 's.md'];
  const { layers } = JSON.parse((await compose(...flags, '--json')).stdout);
  expect(layers.map((layer: { id: string }) => layer.id)).toEqual([
    'identity',
    'contract',
    'governance',
    'memory',
    'session',
  ]);
});

test('--explain shows decisions instead of the text', async () => {
  const { stdout } = await compose('--explain', '--situation', 'lit');
  expect(stdout).toContain('lamp = true (situation lit)');
  expect(stdout).not.toContain('NOT USED');
  await writeFiles(cwd, { 'a/instructions/spare.md': 'Spare.\n' });
  expect((await compose('--explain')).stdout).toMatch(
    /\nNOT USED, in no profile\n {2}spare · instructions\/spare.md\n\nTOOLS\n {2}in {3}project_read · listed\n$/,
  );
  expect(await compose()).toEqual({ code: 0, stdout: 'You answer tests.\n', stderr: '' });
});

test.each([
  [['--fact', 'lamp'], 'cli.bad-value'],
  [['--fact', 'lamb=true'], 'compose.unknown-name'],
  [['--situation', 'dark'], 'compose.unknown-name'],
  [['--profile', 'shrt'], 'compose.unknown-name'],
  [['--workspace', 'nowhere'], 'cli.bad-value'],
  [['--memory', 'nowhere.md'], 'cli.unreadable'],
  [['--memory', 'a'], 'cli.unreadable'],
  [['--memory', ''], 'cli.bad-value'],
  [['--situation', 'nofile.yaml'], 'compose.unreadable'],
  [['--situation', './nofile'], 'compose.unreadable'],
  [['--situation', './a'], 'compose.unreadable'],
  [['--situation', 'a'], 'compose.unknown-name'],
  [['--situation', ''], 'compose.unknown-name'],
])('%j is bad input', async (flags, code) => {
  const { code: exit, stdout, stderr } = await compose(...flags);
  expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' });
  expect(stderr).toMatch(new RegExp(`^error ${code}: .+\nnext: `));
});

test('a situation may come through a pipe, as a text may', async () => {
  execFileSync('mkfifo', [`${cwd}/facts`, `${cwd}/rules`]);
  const written = Promise.all([
    writeFile(`${cwd}/facts`, 'lamp: true\n'),
    writeFile(`${cwd}/rules`, '\ufeff# No smoking.\n'),
  ]);
  const { code, stdout } = await compose('--situation', 'facts', '--governance', 'rules');
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^You answer tests\.\n\nNobody is there\.\n\n# Governance\n\n.+\n\n\\# No smoking\.\n$/,
  );
  await written;
});

test('a text that is no UTF-8 is refused', async () => {
  await writeFile(`${cwd}/latin.md`, Buffer.from([0x66, 0xfc, 0x72]));
  expect((await compose('--memory', 'latin.md')).stderr).toContain(
    'error cli.unreadable: --memory expected UTF-8',
  );
});
