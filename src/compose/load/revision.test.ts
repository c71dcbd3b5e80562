/** Agents at a git revision: real repositories, read without touching the work tree and without executing anything. */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agentYaml, folderWith, vocabulary } from '../testing.cases.ts';
import { lastChange, loadRevision } from './revision.ts';

const env = { PATH: process.env.PATH, HOME: tmpdir() };

function repository(files: Readonly<Record<string, string>>) {
  const root = folderWith(files);
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args], {
      cwd: root,
      env: { ...env, GIT_CONFIG_NOSYSTEM: '1' },
      encoding: 'utf8',
    });
  git('init', '-q', '-b', 'main');
  git('add', '-A');
  git('commit', '-qm', 'first');
  return { root, agent: join(root, 'agents/a'), git };
}

const files = {
  'agents/a/agent.yaml': agentYaml(['base'], 'skills: [read]\n'),
  'agents/a/instructions/base.md': 'First é.\r\n',
  'agents/a/skills/read/SKILL.md': '---\nname: read\ndescription: Reads.\n---\nRead.\n',
  'agents/a/tools/own.mjs': 'throw new Error("executed");\n',
};

test('an agent is read as it was, and the work tree and index stay as they are', async () => {
  const { agent, git } = repository(files);
  writeFileSync(join(agent, 'instructions/base.md'), 'Second.\n');
  git('add', '-A');
  rmSync(join(agent, 'agent.yaml'));
  const status = git('status', '--porcelain');
  const before = readdirSync(tmpdir()).filter((name) => name.startsWith('writ-revision-'));
  const { agent: then, commit } = await loadRevision(agent, 'HEAD', vocabulary, env);
  expect({ commit, folder: then.folder, body: then.fragments.get('base')?.body }).toEqual({
    commit: git('rev-parse', 'HEAD').trim(),
    folder: agent,
    body: 'First é.\r\n',
  });
  expect(git('status', '--porcelain')).toBe(status);
  expect(readdirSync(tmpdir()).filter((name) => name.startsWith('writ-revision-'))).toEqual(before);
});

test('tags, branches and shortened ids name a revision; the lock has its last change', async () => {
  const { agent, git } = repository(files);
  git('tag', 'v1');
  writeFileSync(join(agent, 'writ.lock.json'), '{}');
  git('add', '-A');
  git('commit', '-qm', 'lock');
  for (const name of ['v1', 'HEAD~1', 'main~1'])
    expect((await loadRevision(agent, name, vocabulary, env)).commit).toBe(git('rev-parse', 'v1').trim());
  expect(await lastChange(agent, 'writ.lock.json', env)).toBe(git('rev-parse', 'HEAD').trim());
  expect(await lastChange(agent, 'none', env)).toBeUndefined();
});

test('a link and a submodule of the revision are not followed', async () => {
  const { root, agent, git } = repository(files);
  rmSync(join(agent, 'instructions/base.md'));
  symlinkSync('/etc/hostname', join(agent, 'instructions/base.md'));
  git('add', '-A');
  git('commit', '-qm', 'link');
  expect(existsSync(root)).toBe(true);
  await expect(loadRevision(agent, 'HEAD', vocabulary, env)).rejects.toMatchObject({
    code: 'proof.bad-revision',
  });
});

test('nothing that the repository names is executed', async () => {
  const { root, agent, git } = repository({ ...files, '.gitattributes': '*.md diff=evil filter=evil\n' });
  const witness = join(root, 'executed');
  const script = join(root, 'evil.sh');
  writeFileSync(script, `#!/bin/sh\ntouch '${witness}'\n`);
  chmodSync(script, 0o755);
  for (const key of [
    'core.fsmonitor',
    'core.pager',
    'diff.external',
    'diff.evil.textconv',
    'filter.evil.smudge',
    'filter.evil.clean',
    'gpg.program',
    'core.sshCommand',
    'pager.log',
    'pager.rev-parse',
  ])
    git('config', key, script);
  git('config', 'log.showSignature', 'true');
  git('config', 'remote.origin.url', `ext::${script}`);
  git('config', 'protocol.ext.allow', 'always');
  git('config', 'remote.origin.promisor', 'true');
  git('config', 'core.repositoryformatversion', '1');
  git('config', 'extensions.partialClone', 'origin');
  mkdirSync(join(root, '.git/hooks'), { recursive: true });
  for (const hook of ['post-index-change', 'reference-transaction', 'post-checkout', 'fsmonitor-watchman'])
    symlinkSync(script, join(root, '.git/hooks', hook));
  await loadRevision(agent, 'HEAD', vocabulary, env);
  await lastChange(agent, 'agent.yaml', env);
  // A blob that a partial clone lacks would be fetched through the address above.
  const blob = git('rev-parse', 'HEAD:agents/a/instructions/base.md').trim();
  rmSync(join(root, '.git/objects', blob.slice(0, 2), blob.slice(2)));
  await expect(loadRevision(agent, 'HEAD', vocabulary, env)).rejects.toMatchObject({
    code: expect.stringMatching(/^proof\./),
  });
  expect(existsSync(witness)).toBe(false);
});

test.each([
  ['no-such', 'proof.no-revision'],
  ['--upload-pack=x', 'proof.no-revision'],
  ['HEAD:agents', 'proof.no-revision'],
  ['', 'proof.no-revision'],
])('the revision %j does not exist', async (name, code) => {
  const { agent } = repository(files);
  await expect(loadRevision(agent, name, vocabulary, env)).rejects.toMatchObject({ code, kind: 'input' });
});

test('an agent that was not there yet, or was broken, is told apart', async () => {
  const { root, agent, git } = repository({
    'agents/a/agent.yaml': 'key: a\nprofiles: { default: [gone] }\n',
  });
  const broken = loadRevision(agent, 'HEAD', vocabulary, env);
  await expect(broken).rejects.toMatchObject({
    code: 'proof.bad-revision',
    message: expect.stringContaining('The agent at HEAD cannot be read: HEAD:agent.yaml:2'),
  });
  mkdirSync(join(root, 'b'));
  git('status');
  await expect(loadRevision(join(root, 'b'), 'HEAD', vocabulary, env)).rejects.toMatchObject({
    code: 'proof.no-revision',
  });
});

test('no repository and no git are failures with a next step', async () => {
  const folder = folderWith({ 'agent.yaml': agentYaml([]) });
  await expect(loadRevision(folder, 'HEAD', vocabulary, env)).rejects.toMatchObject({
    code: 'proof.no-git',
    kind: 'failed',
  });
  await expect(loadRevision(folder, 'HEAD', vocabulary, { PATH: folder })).rejects.toMatchObject({
    code: 'proof.no-git',
    next: 'Install git, or compare with file:FILE.',
  });
});
