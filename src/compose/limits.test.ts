/** Limits of layers and of given texts: at the limit all is well, one over it nothing is composed. */
import { describe, expect, test } from 'vitest';
import { compose } from './compose.ts';
import { textBytesMax } from './limits.ts';
import { loadAgent } from './load/agent.ts';
import { settle } from './settle.ts';
import type { SessionTexts } from './situation.ts';
import { agentYaml, folderWith, vocabulary } from './testing.cases.ts';

async function composed(lines: string, body: string, texts: SessionTexts = {}) {
  const agent = await loadAgent(
    folderWith({ 'agent.yaml': agentYaml(['a'], lines), 'instructions/a.md': body }),
    vocabulary,
  );
  return compose(agent, await settle(agent, { texts }, []));
}

describe('tokens of a layer', () => {
  test('at the limit it is composed, over it refused with layer, size, limit and method', async () => {
    // Sixteen characters with the line end: four tokens.
    expect((await composed('limits: { contract: 4 }', 'fifteen letters\n')).layers[0]?.tokens).toBe(4);
    await expect(composed('limits: { contract: 4 }', 'sixteen letters!\n')).rejects.toMatchObject({
      code: 'compose.layer-too-large',
      message: 'The layer contract should have at most 4 tokens (chars/4) and has 5.',
      next: 'Shorten it, or raise limits.contract in agent.yaml.',
      details: { layer: 'contract', size: 5, limit: 4, method: 'chars/4' },
    });
  });

  test('counts what is rendered, and only the layers that have a limit', async () => {
    const when = (value: string) =>
      `---\ntemplate: true\n---\n{% when ${value} %}${'x'.repeat(99)}{% end %}\n`;
    const limits = 'limits: { contract: 1, session: 0 }';
    expect((await composed(limits, when('false'), { memory: 'kept' })).layers.map(({ id }) => id)).toEqual([
      'memory',
    ]);
    await expect(composed(limits, when('true'))).rejects.toMatchObject({
      details: { layer: 'contract', size: 25 },
    });
    await expect(composed(limits, '', { session: 'short' })).rejects.toMatchObject({
      details: { layer: 'session', limit: 0 },
    });
  });

  test.each(['limits: { contracts: 1 }', 'limits: { contract: -1 }', 'limits: { contract: many }'])(
    '%s is an error of the file',
    async (lines) => {
      await expect(composed(lines, '')).rejects.toMatchObject({ details: { line: 3 } });
    },
  );
});

test.each(['identity', 'governance', 'memory', 'session'] as const)('bytes of the %s text', async (name) => {
  const limit = textBytesMax[name];
  const atLimit = 'ä'.repeat(limit / 2);
  expect((await composed('', '', { [name]: atLimit })).text).toContain(atLimit);
  await expect(composed('', '', { [name]: `${atLimit}a` })).rejects.toMatchObject({
    code: 'compose.layer-too-large',
    message: `The ${name} text should have at most ${limit} bytes and has ${limit + 1}.`,
    details: { layer: name, size: limit + 1, limit, method: 'bytes' },
  });
});
