/** Which facts an agent may declare beside the built-in ones. */
import { describe, expect, test } from 'vitest';
import { agentYaml, folderWith, vocabulary } from '../testing.cases.ts';
import { loadAgent } from './agent.ts';

const declaring = (name: string) =>
  loadAgent(
    folderWith({ 'agent.yaml': agentYaml([], `facts: { ${name}: { type: bool, default: false } }\n`) }),
    vocabulary,
  );

describe('facts about resources', () => {
  test('an agent may name what a session has beside its workspace', async () => {
    const { facts } = await declaring('resource.repositories');
    expect(facts.get('resource.repositories')).toMatchObject({ builtIn: false, default: false });
    expect(facts.get('resource.workspace')).toMatchObject({ builtIn: true });
  });

  test.each(['resource', 'resource.workspace', 'resource.workspace.dbt', 'capability.mail', 'text.mine'])(
    '%s stays built in',
    async (name) => {
      await expect(declaring(name)).rejects.toMatchObject({
        code: 'compose.wrong-value',
        next: 'Give the fact another first part.',
      });
    },
  );
});
