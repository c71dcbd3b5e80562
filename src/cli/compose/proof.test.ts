/** `writ lock`, `check`, `diff`, `space` and `import`, called as people call them. */
import { execFileSync } from 'node:child_process';
import { chmod, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { agentFolder, call, writeFiles } from '../call.cases.ts';

let cwd: string;
beforeEach(async () => {
  cwd = await agentFolder('join: blocks');
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

const env = { PATH: process.env.PATH };
const writ = (...argv: string[]) => call(argv, { cwd, env });
const json = async (...argv: string[]) => JSON.parse((await writ(...argv, '--json')).stdout);

function git(...args: string[]): string {
  return execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args], {
    cwd,
    env: { ...env, HOME: cwd },
    encoding: 'utf8',
  });
}

describe('lock and check', () => {
  test('without a lock nothing is pinned, and the next step names the agent as it was given', async () => {
    const { code, stdout } = await writ('check', './a');
    expect(code).toBe(1);
    expect(stdout).toContain('\n    writ lock ./a pins them\n');
    expect(stdout).toContain(': 0 pinned texts, 0 baselines\n');
    expect(await json('check', './a')).toMatchObject({ ok: false, pins: 0 });
  });

  test('a lock is written once, pins what compose prints, and then holds', async () => {
    expect(await writ('lock', 'a')).toEqual({
      code: 0,
      stdout: 'Pinned 2 texts of 1 situation in a/writ.lock.json.\n',
      stderr: '',
    });
    const lock = JSON.parse(await readFile(join(cwd, 'a/writ.lock.json'), 'utf8'));
    const { digest } = await json('compose', 'a', '--situation', 'lit');
    expect(lock.situations.lit.default.sha256).toBe(digest);
    expect((await writ('lock', 'a')).stdout).toBe('writ.lock.json already pins 2 texts of 1 situation.\n');
    expect(await json('lock', 'a')).toEqual(lock);
    expect(await writ('check', 'a')).toEqual({
      code: 0,
      stdout: 'ok, 0 warnings: 2 pinned texts, 0 baselines\n',
      stderr: '',
    });
    expect(await readdir(join(cwd, 'a'))).toEqual(['agent.yaml', 'instructions', 'writ.lock.json']);
  });

  test('a drift ends with 1, and shows its sentences where git has the pinned text, committed over or not', async () => {
    await writ('lock', 'a');
    await writeFiles(cwd, { 'a/instructions/base.md': 'You answer questions.\n' });
    const blind = await writ('check', 'a');
    expect(blind.code).toBe(1);
    expect(blind.stdout).toContain(
      "error text-drift: writ.lock.json: situation 'lit' under profile 'default' has drifted: changed: base",
    );
    expect(blind.stdout).toContain('the pinned text is in no revision at hand');
    await writeFiles(cwd, { 'a/instructions/base.md': 'You answer tests.\n' });
    git('init', '-q');
    git('add', '-A');
    git('commit', '-qm', 'one');
    await writeFiles(cwd, { 'a/instructions/base.md': 'You answer questions.\n' });
    for (const commit of [() => {}, () => git('commit', '-qam', 'two')]) {
      commit();
      const { findings, ok } = await json('check', 'a');
      expect(ok).toBe(false);
      expect(findings[0].more.slice(0, 4)).toEqual([
        '@@ line 1 before @@',
        '- You answer tests.',
        '@@ line 1 now @@',
        '+ You answer questions.',
      ]);
    }
  });

  test('without a lock, and with one that is no lock', async () => {
    expect(await writ('check', 'a')).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('error lock-missing'),
    });
    await writeFile(join(cwd, 'a/writ.lock.json'), '{}');
    expect(await writ('check', 'a')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^error proof\.bad-lock: .+\nnext: /),
    });
  });

  test('a situation that needs this machine is refused with 3, and nothing is written', async () => {
    const yaml = await readFile(join(cwd, 'a/agent.yaml'), 'utf8');
    await writeFile(
      join(cwd, 'a/agent.yaml'),
      yaml
        .replace(
          'lamp: { type: bool }',
          'lamp: { type: bool, probe: project-marker, options: { files: [x] } }',
        )
        .replace('lit: { lamp: true }', 'lit: { mode: headless }'),
    );
    const { code, stderr } = await writ('lock', 'a');
    expect({ code, stderr }).toEqual({
      code: 3,
      stderr: expect.stringContaining(
        'error proof.open-situation: A pinned text must be the same on every machine, and this depends on the one at hand: lit leaves lamp open (alone).\nnext: Set lamp in the situation lit of agent.yaml, or list it there under unknown.',
      ),
    });
    expect(await readdir(join(cwd, 'a'))).not.toContain('writ.lock.json');
  });

  test.skipIf(process.getuid?.() === 0)('a folder that cannot be written keeps what it had', async () => {
    await chmod(join(cwd, 'a'), 0o555);
    expect(await writ('lock', 'a')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('compose.unwritable'),
    });
    await chmod(join(cwd, 'a'), 0o755);
  });

  test('a lock that is a folder cannot be replaced, and no draft stays', async () => {
    await writeFiles(cwd, { 'a/writ.lock.json/x': '' });
    expect((await writ('lock', 'a')).code).toBe(2);
    expect(await readdir(join(cwd, 'a'))).toHaveLength(3);
  });

  test('the changelog is held against a file and a revision', async () => {
    await writ('lock', 'a');
    git('init', '-q');
    git('add', '-A');
    git('commit', '-qm', 'one');
    const diff = 'Nobody knew.\n\n```diff\n- You answer tests.\n+ You answer questions.\n```\n';
    await writeFiles(cwd, {
      'a/instructions/base.md': 'You answer questions.\n',
      'a/old.md': 'You answer tests.\n\nNobody is there.\n',
      'a/PROMPT_CHANGELOG.md': `## Since file:old.md\n\n${diff}\n## Since rev:HEAD\n\n${diff}`,
    });
    await writ('lock', 'a');
    expect(await writ('check', 'a')).toMatchObject({
      code: 0,
      stdout: 'ok, 0 warnings: 2 pinned texts, 2 baselines\n',
    });
    await writeFiles(cwd, {
      'a/PROMPT_CHANGELOG.md':
        '## Since file:gone.md\n## Since file:../x\n## Since rev:gone\n## Since file:old.md profile:none\n',
    });
    const { findings } = await json('check', 'a');
    expect(findings.map(({ rule, line }: { rule: string; line: number }) => `${rule} ${line}`)).toEqual(
      [1, 2, 3, 4].map((line) => `changelog-baseline ${line}`),
    );
  });

  test('a tool that is named and not offered, and a fragment of no profile', async () => {
    await writeFiles(cwd, {
      'a/instructions/base.md': 'You answer tests.\n\nAsk `sql_query`.\n',
      'a/instructions/spare.md': 'Spare.\n',
    });
    await writ('lock', 'a');
    const { code, stdout } = await writ('check', 'a');
    expect(code).toBe(1);
    expect(stdout).toContain(
      "error tool-not-offered: instructions/base.md:3: fragment 'base' names the tool 'sql_query', and the agent does not have it\n",
    );
    expect(stdout).toContain(
      "warning unused-fragment: instructions/spare.md: fragment 'spare' stands in no profile\n",
    );
    expect(stdout).toMatch(/1 error, 1 warning: 2 pinned texts, 0 baselines\n$/);
  });
});

describe('diff', () => {
  test('against a file, a situation and a revision', async () => {
    await writeFiles(cwd, { 'old.md': 'You answered tests.\r\n' });
    expect((await writ('diff', 'a', '--against', 'file:old.md')).stdout).toBe(
      '@@ line 1 before @@\n- You answered tests.\n@@ line 1 now @@\n+ You answer tests.\n\n1 removed, 1 added, 0 moved, 0 kept\n',
    );
    expect((await writ('diff', 'a', '--against', 'situation:lit')).stdout).toContain('- Nobody is there.\n');
    git('init', '-q');
    git('add', '-A');
    git('commit', '-qm', 'one');
    expect((await writ('diff', 'a', '--against', 'rev:HEAD')).stdout).toBe('The texts are the same bytes.\n');
    await writeFiles(cwd, { 'a/instructions/base.md': 'You answer.\n' });
    const found = await json('diff', 'a', '--against', 'rev:HEAD', '--cache');
    expect(found).toMatchObject({
      against: 'rev:HEAD',
      identical: false,
      only: null,
      removed: [{ text: 'You answer tests.' }],
      added: [{ text: 'You answer.', line: 1 }],
      kept: 0,
      cache: { firstDifference: { byte: 10, before: { fragment: 'base' }, after: { fragment: 'base' } } },
    });
    expect((await writ('diff', 'a', '--against', 'rev:HEAD', '--cache')).stdout).toContain(
      'cache: first difference at byte 10: base before, base now',
    );
  });

  test('line endings only', async () => {
    await writeFiles(cwd, { 'old.md': 'You answer tests.\r\n' });
    expect((await writ('diff', 'a', '--against', 'file:old.md')).stdout).toBe(
      'No sentence differs: line endings only.\n',
    );
  });

  test.each([
    [[], 'cli.missing-argument', 2],
    [['--against', 'old.md'], 'cli.bad-value', 2],
    [['--against', 'file:'], 'cli.bad-value', 2],
    [['--against', 'tag:x'], 'cli.bad-value', 2],
    [['--against', 'file:gone.md'], 'cli.unreadable', 2],
    [['--against', 'situation:gone'], 'compose.unknown-name', 2],
    [['--against', 'rev:HEAD'], 'proof.no-git', 1],
  ])('%j ends with %s', async (flags, error, code) => {
    const called = await writ('diff', 'a', ...flags);
    expect(called).toMatchObject({
      code,
      stdout: '',
      stderr: expect.stringMatching(new RegExp(`^error ${error}: .+\nnext: `)),
    });
  });
});

describe('space', () => {
  test('for people and as JSON', async () => {
    await writ('lock', 'a');
    expect((await writ('space', 'a')).stdout).toContain(
      'agent tester, profile default: 2 distinct prompts, 18 to 36 bytes',
    );
    const { prompts, groups, notLocked } = await json('space', 'a');
    expect(prompts).toMatchObject([
      { bytes: 36, locked: true, example: { lamp: true, mode: 'headless' } },
      { bytes: 18, locked: false, example: { lamp: true, mode: 'interactive' } },
    ]);
    expect(groups[0].facts).toEqual([
      { name: 'lamp', values: [true, false, null] },
      { name: 'mode', values: ['headless', 'interactive'] },
    ]);
    expect({ notLocked, text: prompts[0].text }).toEqual({ notLocked: 1, text: undefined });
    expect((await json('space', 'a', '--render')).prompts[1].text).toBe('You answer tests.\n');
    expect((await writ('space', 'a', '--profile', 'short')).stdout).toContain('1 distinct prompt, 18 bytes');
  });

  test('a profile that is not there', async () => {
    expect(await writ('space', 'a', '--profile', 'shrt')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("next: Write 'short'."),
    });
  });
});

describe('import', () => {
  test('a prompt becomes an agent that composes to its bytes', async () => {
    const prompt = '\ufeff# One\r\n{{ a }}\n## Two\n\n---\nThree';
    await writeFiles(cwd, { 'p.md': prompt });
    const made = await writ('import', 'p.md', 'new/b');
    expect(made.stdout).toMatch(
      /^Made new\/b with 2 fragments; it composes to the \d+ bytes of p\.md\.\nsha256 [0-9a-f]{64}\n\nNext: writ lock new\/b\n$/,
    );
    expect((await writ('compose', 'new/b')).stdout).toBe(prompt);
    expect((await writ('lock', 'new/b')).code).toBe(0);
    expect((await writ('check', 'new/b')).code).toBe(0);
    expect(await json('import', 'p.md', 'c', '--key', 'k')).toMatchObject({
      key: 'k',
      bytes: Buffer.byteLength(prompt),
    });
  });

  test('the budget is the one that init begins with', async () => {
    await writeFiles(cwd, { 'p.md': '# P\n' });
    await writ('import', 'p.md', 'b');
    await writ('init', 'i');
    const budgetOf = async (agent: string) =>
      /^budget: .+$/m.exec(await readFile(join(cwd, agent, 'agent.yaml'), 'utf8'))?.[0];
    expect(await budgetOf('b')).toBe('budget: { turns: 12, modelCalls: 16 }');
    expect(await budgetOf('b')).toBe(await budgetOf('i'));
  });

  test('one split by its marks', async () => {
    await writeFiles(cwd, { 'marked.md': 'Hi.\n<!-- fragment: b -->\nYou.' });
    expect((await json('import', 'marked.md', 'm', '--by', 'marks')).files).toEqual([
      'agent.yaml',
      'instructions/start.md',
      'instructions/b.md',
      '.writ/.gitignore',
    ]);
  });

  test.each([
    [['gone.md', 'x'], 'cli.unreadable', 2],
    [['latin.md', 'x'], 'cli.unreadable', 2],
    [['empty.md', 'x'], 'cli.bad-value', 2],
    [['blank.md', 'x'], 'cli.bad-value', 2],
    [['p.md', 'a'], 'cli.folder-not-empty', 3],
    [['p.md', 'x', '--by', 'lines'], 'cli.bad-value', 2],
    [['p.md', 'x', '--by', 'marks'], 'proof.bad-mark', 2],
    [['p.md', 'x', '--key', 'a b'], 'cli.bad-value', 2],
  ])('%j is refused, and nothing is left', async (argv, error, code) => {
    await writeFiles(cwd, { 'p.md': '# P\n', 'empty.md': '', 'blank.md': ' \n' });
    await writeFile(join(cwd, 'latin.md'), Buffer.from([0xe9]));
    const before = await readdir(cwd, { recursive: true });
    expect(await writ('import', ...argv)).toMatchObject({
      code,
      stderr: expect.stringContaining(`error ${error}: `),
    });
    expect(await readdir(cwd, { recursive: true })).toEqual(before);
  });
});

test.each(['lock', 'check', 'diff', 'space', 'import'])(
  'writ %s explains itself with examples',
  async (name) => {
    const { code, stdout } = await writ(name, '--help');
    expect(code).toBe(0);
    expect(stdout).toContain(`Examples:\n  writ ${name} `);
  },
);
