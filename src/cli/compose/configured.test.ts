/** Configurations of the user and of the workspace: what they add, what beats what, and what a workspace may not say. */
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { agentFolder, call } from '../call.cases.ts';

/** The user's folder is `.config/writ` because HOME is the folder itself; the workspace is `w`. */
async function folderWith(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await agentFolder();
  await mkdir(join(folder, 'w'));
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  return folder;
}

async function composed(files: Readonly<Record<string, string>>, ...flags: string[]) {
  const cwd = await folderWith(files);
  const argv = ['compose', 'a', '--workspace', 'w', ...flags];
  return { cwd, ...(await call(argv, { cwd })) };
}

const user = '.config/writ/config.yaml';
const own = 'w/.writ/config.yaml';

describe('texts', () => {
  test('flag over workspace over user over the agent', async () => {
    const files = {
      [user]: 'identity: You are U.',
      [own]: 'identity: { file: who.md }',
      'w/.writ/who.md': 'You are W.',
    };
    expect((await composed({})).stdout).toBe('You answer tests.\n');
    expect((await composed({ [user]: files[user] ?? '' })).stdout).toMatch(/^You are U\.\n/);
    expect((await composed(files)).stdout).toMatch(/^You are W\.\n/);
    expect((await composed({ ...files, 'f.md': 'You are F.' }, '--identity', 'f.md')).stdout).toMatch(
      /^You are F\.\n/,
    );
  });

  test('a workspace adds governance and takes none away; every source is named', async () => {
    const { cwd, stdout } = await composed({
      [user]: 'governance: House.',
      [own]: 'governance: Here.\nmemory: Old.',
    });
    expect(stdout).toMatch(/House\.\n\nHere\.\n/);
    const explained = await call(['compose', 'a', '--workspace', 'w', '--explain'], { cwd });
    expect(explained.stdout).toContain(`  governance   ${join(cwd, user)} (deployment)\n`);
    expect(explained.stdout).toContain(`  governance   ${join(cwd, own)} (workspace)\n`);
    expect(explained.stdout).toContain(`  memory       ${join(cwd, own)} (workspace)\n`);
  });

  test.each(['../../secret.txt', 'link.txt', '/etc/hostname'])(
    '%s does not leave its folder',
    async (file) => {
      const cwd = await folderWith({ [own]: `memory: { file: ${file} }`, 'secret.txt': 'canary' });
      await symlink(join(cwd, 'secret.txt'), join(cwd, 'w/.writ/link.txt'));
      const { code, stdout, stderr } = await call(['compose', 'a', '--workspace', 'w'], { cwd });
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toContain('compose.unreadable');
    },
  );
});

describe('settings', () => {
  test.each(['baseUrl: https://example.org', 'keyEnv: OPENAI_API_KEY', 'wire: anthropic', 'prices: {}'])(
    'a workspace may not say %s',
    async (line) => {
      const { code, stderr } = await composed({ [own]: line });
      expect(code).toBe(2);
      expect(stderr).toMatch(/compose\.unknown-key[\s\S]*configuration of the user only/);
      expect((await composed({ [user]: line })).code).toBe(0);
    },
  );

  test('a misspelt key, and a run without a model', async () => {
    const { code, stderr } = await composed({ [user]: 'modle: x' });
    expect(code).toBe(2);
    expect(stderr).toContain("Write 'model'.");
    const cwd = await folderWith({});
    expect((await call(['run', 'a', '--', 'Hi'], { cwd })).stderr).toContain(
      'in a configuration or in agent.yaml',
    );
  });

  test('server, key and model of the user stand for a run', async () => {
    const cwd = await folderWith({
      [user]: 'model: local/m\nbaseUrl: http://127.0.0.1:9/v1\nkeyEnv: LOCAL_KEY\n',
    });
    const { code, stderr } = await call(['run', 'a', '--', 'Hi'], { cwd, env: {} });
    expect(code).not.toBe(0);
    expect(stderr).toContain('LOCAL_KEY');
  });
});

describe('capabilities', () => {
  const probed = { 'a/instructions/base.md': '---\nwhen: capability.project\n---\nRead files.\n' };

  test('a configuration takes away, a flag turns off and on, and neither beats the other', async () => {
    expect((await composed(probed)).stdout).toBe('Read files.\n');
    expect((await composed(probed, '--capability', 'project=off')).stdout).toBe('');
    const cut = { ...probed, [own]: 'unavailable: [project]' };
    expect((await composed(cut)).stdout).toBe('');
    const { code, stderr } = await composed(cut, '--capability', 'project=on');
    expect(code).toBe(3);
    expect(stderr).toContain('compose.capability-unavailable');
  });

  test('a flag that is none', async () => {
    expect((await composed({}, '--capability', 'project')).stderr).toContain('found "project"');
    expect((await composed({}, '--capability', 'project=maybe')).code).toBe(2);
    expect((await composed({}, '--capability', 'nothing=on')).stderr).toContain('compose.unknown-name');
  });
});

test('skills of the user, of the workspace and of the session, each named with its source', async () => {
  const skill = (name: string) => `---\nname: ${name}\ndescription: About ${name}.\n---\n`;
  const cwd = await folderWith({
    '.config/writ/skills/one/SKILL.md': skill('one'),
    'w/.writ/skills/two/SKILL.md': skill('two'),
    'three/SKILL.md': skill('three'),
  });
  const flags = ['compose', 'a', '--workspace', 'w', '--capability', 'skills=on', '--skill', 'three'];
  expect((await call(flags, { cwd })).stdout).toMatch(/- three: About three\.\n$/);
  await writeFile(
    join(cwd, 'a/agent.yaml'),
    'key: a\nprofiles: { default: [base] }\nfacts: { lamp: { type: bool } }\nskills: all\ncapabilities: [skills]\ntools: [skill_read]\n',
  );
  expect((await call(flags, { cwd })).stdout).toMatch(/- one: [^\n]*\n- three: [^\n]*\n- two: /);
  const { stdout } = await call([...flags, '--explain'], { cwd });
  expect(stdout).toMatch(
    /SKILLS\n {2}one · deployment · .*\n {2}three · session · .*\n {2}two · workspace · /,
  );
});

test('a run whose model could not read its skills is refused before anything is sent', async () => {
  const cwd = await folderWith({ 'three/SKILL.md': '---\nname: three\ndescription: About three.\n---\n' });
  const run = (...flags: string[]) => call(['run', 'a', '--skill', 'three', ...flags, '--', 'Hi'], { cwd });
  for (const flags of [[], ['--capability', 'skills=on']]) {
    const { code, stderr } = await run(...flags);
    expect(code).toBe(3);
    expect(stderr).toContain('Add skill_read to tools and skills to capabilities');
  }
});
