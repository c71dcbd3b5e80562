import { describe, expect, test } from 'vitest';
import type { Agent } from './agent.ts';
import { compose } from './compose.ts';
import type { Fact, Probe } from './facts.ts';
import { loadAgent } from './load/agent.ts';
import { projectMarker } from './probes/project-marker.ts';
import { type SituationInput, settle } from './settle.ts';
import { folderWith, vocabulary } from './testing.cases.ts';

const yaml = `key: demo
profiles: { default: [guard, told], plain: [told], both: [guard, branch] }
facts:
  workspace.dbt: { type: bool, probe: project-marker, options: { files: [m.yml] } }
  level: { type: int, default: 3 }
  region: { type: string }
  tags: { type: list }
situations:
  plain: { mode: headless, workspace.dbt: false, level: 5 }
capabilities: [sql]
`;
const files = {
  'agent.yaml': yaml,
  'instructions/guard.md': '---\nwhen: mode == "headless" && workspace.dbt == false\n---\nG\n',
  'instructions/told.md': 'T\n',
  'instructions/branch.md':
    '---\ntemplate: true\n---\n{% when level == 3 %}{{ git.branch | "none" }}{% else %}{{ env.TEAM }}{% end %}\n',
};

/** A probe that counts its runs and answers what it is told. */
function scripted(fact: Fact | (() => never)): Probe & { runs: unknown[] } {
  const runs: unknown[] = [];
  return {
    name: 'project-marker',
    runs,
    run: async (options, { workspace, env }) => {
      runs.push({ options, workspace, env });
      return typeof fact === 'function' ? fact() : fact;
    },
  };
}

const yes: Fact = { known: true, value: true, source: 'probe project-marker' };
const agentOf = (): Promise<Agent> => loadAgent(folderWith(files), vocabulary);

async function factsOf(input: SituationInput, probe = scripted(yes)) {
  const { facts } = await settle(await agentOf(), input, [probe]);
  return Object.fromEntries(facts);
}

describe('facts of a situation', () => {
  test('are all there, each with its source', async () => {
    const workspace = folderWith({});
    const facts = await factsOf({ profile: 'both', workspace, env: { TEAM: 'blue' }, facts: { level: '4' } });
    expect(facts).toEqual({
      'agent.key': { known: true, value: 'demo', source: 'built-in' },
      'capability.project': { known: true, value: false, source: 'built-in' },
      'capability.sql': { known: true, value: true, source: 'built-in' },
      'env.TEAM': { known: true, value: 'blue', source: 'environment' },
      'git.branch': { known: false, reason: 'not looked up: nothing depends on it', source: 'git' },
      'git.repository': { known: false, reason: 'not looked up: nothing depends on it', source: 'git' },
      level: { known: true, value: 4, source: 'flag' },
      mode: { known: true, value: 'headless', source: 'built-in' },
      region: { known: false, reason: 'nothing gave it a value', source: 'agent.yaml' },
      'resource.workspace': { known: true, value: true, source: 'built-in' },
      tags: { known: false, reason: 'nothing gave it a value', source: 'agent.yaml' },
      'text.stock': { known: true, value: true, source: 'built-in' },
      'workspace.dbt': yes,
    });
  });

  test('an unset variable is known to be absent, an inherited property no variable', async () => {
    const facts = await factsOf({ profile: 'both', env: {} });
    expect(facts['env.TEAM']).toEqual({ known: true, value: null, source: 'environment (unset)' });
    const agent = await loadAgent(
      folderWith({ ...files, 'instructions/told.md': '---\nwhen: env.toString == ""\n---\nT\n' }),
      vocabulary,
    );
    const { decisions } = compose(agent, await settle(agent, { profile: 'plain', env: {} }, []));
    expect(decisions[0]?.facts).toEqual([
      { name: 'env.toString', known: true, value: null, source: 'environment (unset)' },
    ]);
  });

  test('a flag beats a situation, a situation the built-in, and unknown all of them', async () => {
    const input: SituationInput = { situation: 'plain', mode: 'interactive' };
    expect(await factsOf({ ...input, facts: { mode: 'interactive' } })).toMatchObject({
      mode: { value: 'interactive', source: 'flag' },
      level: { value: 5, source: 'situation plain' },
    });
    expect(await factsOf({ ...input, unknown: ['workspace.dbt', 'mode'] })).toMatchObject({
      mode: { known: false, reason: 'made unknown by the caller', source: 'flag' },
      'workspace.dbt': { known: false, source: 'flag' },
    });
    expect(await factsOf({ situation: new Map([['mode', 'interactive']]) })).toMatchObject({
      mode: { value: 'interactive', source: 'situation file' },
    });
    expect(await factsOf({ customised: true, mode: 'interactive' })).toMatchObject({
      mode: { value: 'interactive', source: 'built-in' },
      'text.stock': { value: false },
      'resource.workspace': { value: false },
    });
    expect(await factsOf({ facts: { 'env.OTHER': 'x', tags: 'a,b' } })).toMatchObject({
      'env.OTHER': { value: 'x', source: 'flag' },
      tags: { value: ['a', 'b'] },
    });
  });

  test.each([
    [{ facts: { levl: '3' } }, 'compose.unknown-name', "Write 'level'."],
    [{ facts: { level: 'three' } }, 'compose.fact-value', 'Give a value of that form.'],
    [{ facts: { mode: 'batch' } }, 'compose.fact-value', 'Give a value of that form.'],
    [{ facts: { 'agent.key': 'x' } }, 'compose.fact-value', 'Change the key in agent.yaml.'],
    [{ facts: { level: '3' }, unknown: ['level'] }, 'compose.fact-value', 'Take one of the two flags away.'],
    [{ unknown: ['levl'] }, 'compose.unknown-name', "Write 'level'."],
    [{ situation: 'plan' }, 'compose.unknown-name', "Write 'plain'."],
    [{ profile: 'defalt' }, 'compose.unknown-name', "Write 'default'."],
    [{ texts: { session: 'a\ud800' } }, 'compose.bad-text', 'Give the text as valid UTF-8.'],
  ] as [SituationInput, string, string][])('%j is refused', async (input, code, next) => {
    await expect(factsOf(input)).rejects.toMatchObject({ code, kind: 'input', next });
  });
});

describe('probes', () => {
  test('run where they decide, with their options, once', async () => {
    const probe = scripted(yes);
    const agent = await agentOf();
    const situation = await settle(agent, { workspace: '/w', env: { A: '1' } }, [probe]);
    expect(probe.runs).toEqual([{ options: { files: ['m.yml'] }, workspace: '/w', env: { A: '1' } }]);
    compose(agent, situation);
    compose(agent, situation);
    expect(probe.runs).toHaveLength(1);
  });

  test.each([
    ['the mode has decided', { mode: 'interactive' }],
    ['no fragment of the profile asks', { profile: 'plain' }],
    ['a flag gives the fact', { facts: { 'workspace.dbt': 'false' } }],
    ['a situation gives the fact', { situation: 'plain' }],
    ['the fact is made unknown', { unknown: ['workspace.dbt'] }],
  ] as [string, SituationInput][])('do not run where %s', async (_, input) => {
    const probe = scripted(yes);
    await factsOf(input, probe);
    expect(probe.runs).toEqual([]);
  });

  test('run for a template only in the branch that is taken', async () => {
    const workspace = folderWith({ '.git/HEAD': 'ref: refs/heads/main\n' });
    expect((await factsOf({ profile: 'both', workspace }))['git.branch']).toEqual({
      known: true,
      value: 'main',
      source: 'git',
    });
    expect((await factsOf({ profile: 'both' }))['git.branch']).toMatchObject({
      reason: 'no workspace was given',
    });
  });

  test('do not run for the template of a fragment that is out or replaced', async () => {
    const lookedUp = async (header: string, input: SituationInput) => {
      const template = `---\ntemplate: true\n${header}\n---\n{{ workspace.dbt | "?" }}\n`;
      const agent = await loadAgent(folderWith({ ...files, 'instructions/told.md': template }), vocabulary);
      const probe = scripted(yes);
      await settle(agent, { ...input, profile: 'plain' }, [probe]);
      return probe.runs.length;
    };
    expect(await lookedUp('when: mode == "x"', {})).toBe(0);
    expect(await lookedUp('layer: identity', { texts: { identity: 'I' } })).toBe(0);
    const asked = 'layer: identity\nwhen: workspace.dbt';
    expect(await lookedUp(asked, { texts: { identity: 'I' } })).toBe(0);
    expect(await lookedUp(asked, {})).toBe(1);
    expect(await lookedUp('layer: identity', { texts: { identity: ' ' } })).toBe(1);
  });

  test('with options they cannot use stop the work', async () => {
    const bad = yaml.replace('files: [m.yml]', 'file: m.yml');
    const agent = await loadAgent(folderWith({ ...files, 'agent.yaml': bad }), vocabulary);
    await expect(settle(agent, {}, [projectMarker])).rejects.toMatchObject({ code: 'compose.probe-options' });
  });

  test('that fail, answer another type or are not there leave the fact unknown, with the reason', async () => {
    const fail = () => {
      throw new Error('disk on fire');
    };
    const reasonOf = async (probe: Probe) => (await factsOf({}, probe as never))['workspace.dbt'];
    expect(await reasonOf(scripted(fail))).toMatchObject({ known: false, reason: 'disk on fire' });
    expect(await reasonOf(scripted({ known: true, value: 'x', source: 's' }))).toMatchObject({
      reason: 'the probe did not answer true or false',
    });
    expect(await reasonOf(scripted({ known: true, value: null, source: 's' }))).toMatchObject({
      known: false,
    });
    expect(await reasonOf({ ...scripted(yes), name: 'other' })).toMatchObject({
      reason: 'the probe is not available here',
    });
    expect(await reasonOf(scripted({ known: false, reason: 'locked', source: 's' }))).toEqual({
      known: false,
      reason: 'locked',
      source: 's',
    });
  });

  test('are not started after an abort', async () => {
    const probe = scripted(yes);
    await expect(factsOf({ signal: AbortSignal.abort(new Error('stop')) }, probe)).rejects.toThrow('stop');
    expect(probe.runs).toEqual([]);
  });

  test('that reject because of the abort stop the work', async () => {
    const controller = new AbortController();
    const probe = scripted(() => {
      controller.abort(new Error('stop'));
      throw new Error('aborted within');
    });
    await expect(factsOf({ signal: controller.signal }, probe)).rejects.toThrow('aborted within');
  });
});
