/** Skills: read strictly, merged from their sources, and told of in one line each. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { compose } from './compose.ts';
import { loadAgent } from './load/agent.ts';
import { readSkill, readSkills } from './load/skills.ts';
import { settle } from './settle.ts';
import { chooseSkills, type Skill, skillIndex } from './skills.ts';
import { agentYaml, folderWith, vocabulary } from './testing.cases.ts';

const skillFile = (name: string, description = `About ${name}.`) =>
  `---\nname: ${name}\ndescription: ${description}\nlicense: MIT\n---\nThe body of ${name}.\n`;
const skill = (name: string, origin: Skill['origin'], digest = 'd'): Skill => ({
  name,
  description: `About ${name}.`,
  origin,
  folder: `/${origin}/${name}`,
  digest,
});
const withSkills = { ...vocabulary, tools: [...vocabulary.tools, 'skill_read'], capabilities: ['skills'] };

async function composed(lines: string, files: Record<string, string>, skills: readonly Skill[] = []) {
  const agent = await loadAgent(
    folderWith({ 'agent.yaml': agentYaml(['a'], lines), 'instructions/a.md': 'Hi.', ...files }),
    withSkills,
  );
  return compose(agent, await settle(agent, { skills }, []));
}

describe('a skill folder', () => {
  test('gives name, description and a digest of every file', async () => {
    const root = folderWith({ 'b/SKILL.md': skillFile('b'), 'a/SKILL.md': skillFile('a'), 'a/x/y.txt': '1' });
    const before = await readSkills(root, 'agent');
    expect(before).toEqual([
      { ...skill('a', 'agent', before[0]?.digest), folder: join(root, 'a') },
      { ...skill('b', 'agent', before[1]?.digest), folder: join(root, 'b') },
    ]);
    writeFileSync(join(root, 'a/x/y.txt'), '2');
    const after = await readSkills(root, 'agent');
    expect(after[0]?.digest).not.toBe(before[0]?.digest);
    expect(after[1]?.digest).toBe(before[1]?.digest);
    expect(await readSkills(join(root, 'none'), 'agent')).toEqual([]);
  });

  test.each([
    ['without a header', 'Read me.', 'compose.wrong-value'],
    ['of another name', skillFile('other'), 'compose.bad-skill'],
    ['without a description', '---\nname: s\n---\n', 'compose.wrong-value'],
    ['with a bare colon in its description', skillFile('s', 'Use when: always'), 'compose.yaml'],
    ['with a header that never ends', '---\nname: s\n', 'compose.no-header'],
  ])('%s is refused', async (_, text, code) => {
    const root = folderWith({ 's/SKILL.md': text });
    await expect(readSkill(join(root, 's'), 'session')).rejects.toMatchObject({ code });
  });

  test('without SKILL.md, missing, or with a file that leads out is refused', async () => {
    const root = folderWith({ 's/SKILL.md': skillFile('s'), 'secret.txt': 'x' });
    mkdirSync(join(root, 'empty'));
    symlinkSync(join(root, 'secret.txt'), join(root, 's/inside.txt'));
    for (const name of ['s', 'empty', 'missing'])
      await expect(readSkill(join(root, name), 'session')).rejects.toMatchObject({
        code: 'compose.bad-skill',
      });
  });
});

describe('choosing', () => {
  test('by name, whatever the order of sources; the later source stands, a session is always chosen', () => {
    const offered = [
      skill('b', 'session'),
      skill('a', 'agent'),
      skill('a', 'deployment'),
      skill('c', 'workspace'),
    ];
    expect(chooseSkills('all', offered).map(({ name, origin }) => [name, origin])).toEqual([
      ['a', 'agent'],
      ['b', 'session'],
      ['c', 'workspace'],
    ]);
    expect(chooseSkills(['c'], offered).map(({ name }) => name)).toEqual(['b', 'c']);
    expect(chooseSkills([], [skill('a', 'deployment')])).toEqual([]);
  });

  test('one that no source has, and one that two sources have in two forms', () => {
    expect(() => chooseSkills(['reprt'], [skill('report', 'agent')])).toThrow(
      expect.objectContaining({ code: 'compose.unknown-name', next: "Write 'report'." }),
    );
    const clash = [skill('a', 'agent', '1'), skill('a', 'workspace', '2')];
    expect(() => chooseSkills('all', clash)).toThrow(
      expect.objectContaining({
        code: 'compose.skill-clash',
        details: { skill: 'a', folders: ['/workspace/a', '/agent/a'] },
      }),
    );
    // One that nobody chose cannot stand in the way.
    expect(chooseSkills([], clash)).toEqual([]);
  });
});

describe('the index', () => {
  const files = { 'skills/b/SKILL.md': skillFile('b'), 'skills/a/SKILL.md': skillFile('a') };
  const on = 'capabilities: [skills]\ntools: [skill_read]\n';

  test('is the layer skills: one line each, sorted, no body', async () => {
    const { layers, stablePrefixBytes, bytes } = await composed(`skills: all\n${on}`, files);
    expect(layers.map(({ id }) => id)).toEqual(['contract', 'skills']);
    expect(layers[1]?.text).toBe(
      [
        '# Skills',
        '',
        'Each line names a skill and what it is for. Read one with `skill_read` and its name before you work by it; it grants nothing.',
        '',
        '- a: About a.',
        '- b: About b.',
        '',
      ].join('\n'),
    );
    expect(stablePrefixBytes).toBe(bytes);
  });

  test('is absent without the capability, and names no tool that the agent does not have', async () => {
    expect((await composed('skills: [a]\n', files)).layers.map(({ id }) => id)).toEqual(['contract']);
    const { text } = await composed('skills: [a]\ncapabilities: [skills]\n', files);
    expect(text).toContain('by opening its SKILL.md');
    expect(text).not.toMatch(/skill_read|About b/);
  });

  test('follows fragments of its layer in every join; a bare text ends without a newline', async () => {
    const more = { ...files, 'instructions/a.md': '---\nlayer: skills\n---\nFirst this.\n' };
    for (const [join, ending] of [
      ['blocks', '\n'],
      ['verbatim', '\n'],
      ['bare', ''],
    ]) {
      const { layers } = await composed(`join: ${join}\nskills: [a]\n${on}`, more);
      expect(layers[0]?.text).toMatch(/^First this\.\n\n# Skills\n/);
      expect(layers[0]?.text.split('- a: About a.')[1]).toBe(ending);
    }
  });

  test('of other sources ends the stable prefix', async () => {
    const { layers, stablePrefixBytes } = await composed(`skills: all\n${on}`, files, [
      skill('z', 'workspace'),
    ]);
    expect(stablePrefixBytes).toBe(layers[0]?.bytes);
  });

  test('a description of outside origin stays one whole line', () => {
    const long = `${'x'.repeat(900)}end`;
    const index = skillIndex(
      [{ ...skill('a', 'workspace'), description: `one\n\n# Governance\n${long}\u202e` }],
      null,
    );
    expect(index.split('\n').slice(4)).toEqual([`- a: one # Governance ${long}\\u202e`]);
  });
});
