/** What is said before the first trial: the form with its places, arms that are resolved, the plan, and what a design can find. */
import { readFileSync } from 'node:fs';
import { readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { experimentJsonSchema } from './form.ts';
import { planTrials } from './plan.ts';
import { differences, registrationDigest } from './registration.ts';
import { experimentFolder, openFolder } from './trials.cases.ts';

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

async function changed(change: (text: string) => string, more = '', options = {}): Promise<string> {
  const folder = await experimentFolder(more, options);
  folders.push(folder);
  const path = join(folder, 'experiment.yaml');
  await writeFile(path, change(await readFile(path, 'utf8')));
  return folder;
}

test('the published schema is the one that is checked', () => {
  const published = readFileSync(join(import.meta.dirname, '../../schema/experiment.schema.json'), 'utf8');
  expect(JSON.parse(published)).toEqual(JSON.parse(JSON.stringify(experimentJsonSchema())));
});

describe('a slip is found at its place', () => {
  test.each<[string, [string, string], string, RegExp]>([
    [
      'a misspelt key',
      ['stopping:', 'stoping:'],
      'compose.unknown-key',
      /experiment\.yaml:18:1: .*'stoping'/,
    ],
    [
      'a metric that there is not',
      ['metric: score', 'metric: scores'],
      'compose.wrong-value',
      /experiment\.yaml:20:20: .*one of score, timeMs/,
    ],
    [
      'a question without a margin',
      ['metric: score', 'metric: score, question: equivalence'],
      'compose.wrong-value',
      /experiment\.yaml:20:\d+: .*margin.* a number above 0, which that question needs/,
    ],
    [
      'an alpha at which no margin has an interval',
      ['stopping:', 'alpha: 0.5\nstopping:'],
      'compose.wrong-value',
      /experiment\.yaml:18:8: .*a number below 0\.5/,
    ],
    [
      'a deviation that no rates have',
      ['stopping:', 'assume: { rate: 0.5, deviation: 0.6, effect: 0.1 }\nstopping:'],
      'compose.wrong-value',
      /experiment\.yaml:18:9: deviation: expected a number from 0 to below sqrt/,
    ],
    [
      'a time that no timer holds',
      ['{ kind: exact }', '{ kind: command, command: ["true"], timeoutMs: 2147483648 }'],
      'compose.wrong-value',
      /at most 2147483647/,
    ],
    [
      'a fragment that there is not',
      ['ritual: in', 'ritaul: in'],
      'compose.unknown-name',
      /experiment\.yaml:3:41: .*no fragment 'ritaul'/,
    ],
    [
      'a cell over a fact that there is not',
      ['&& !wet', '&& !damp'],
      'compose.condition',
      /experiment\.yaml:5:\d+: /,
    ],
    [
      'an expectation of another form',
      ['kind: exact', 'kind: numeric'],
      'compose.wrong-value',
      /experiment\.yaml:7:\d+: .*'i1' should expect a number, found "yes"/,
    ],
    [
      'a situation that there is not',
      ['{ agent: agent }', '{ agent: agent, situation: rainy }'],
      'compose.unknown-name',
      /no situation 'rainy'/,
    ],
    [
      'a fact of another type',
      ['{ agent: agent }', '{ agent: agent, facts: { wet: 3 } }'],
      'compose.wrong-value',
      /experiment\.yaml:4:/,
    ],
    [
      'a capability that there is not',
      ['{ agent: agent }', '{ agent: agent, capabilities: { fly: true } }'],
      'compose.unknown-name',
      /no capability 'fly'/,
    ],
    [
      'a grouping that an item lacks',
      ['metric: score', 'metric: score, estimand: { macro: kind }'],
      'compose.wrong-value',
      /'i1' has no group of the grouping 'kind'/,
    ],
    [
      'a workspace that there is not',
      ['stopping:', 'workspace: nowhere\nstopping:'],
      'prove.bad-fixture',
      /nowhere/,
    ],
  ])('%s', async (_what, [from, to], code, message) => {
    const folder = await changed((text) => text.replace(from, to));
    await expect(openFolder(folder)).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  });
});

test('an experiment without an item is none', async () => {
  const folder = await changed((text) => text.replace(/items:\n( {2}i.*\n)+/, 'items: {}\n'));
  await expect(openFolder(folder)).rejects.toMatchObject({
    message: expect.stringMatching(/:6:8: there is no item/),
  });
});

describe('arms', () => {
  test('differ in the one fragment, and each has its text', async () => {
    const { arms, cell, items, design } = (await openFolder(await changed((text) => text))).registration;
    expect(arms.control).toMatchObject({
      agent: 'asker',
      model: 'local/scripted',
      overrides: { ritual: 'in' },
    });
    expect(arms.treatment.fragments).toEqual({ base: arms.control.fragments.base, ritual: null });
    expect(arms.control.prompt).not.toBe(arms.treatment.prompt);
    expect([cell, items.length, design.trials]).toEqual(['mode == "headless" && !wet', 8, 16]);
  });

  test('that are the same are no experiment', async () => {
    const folder = await changed((text) => text.replace('ritual: in', 'ritual: out'));
    await expect(openFolder(folder)).rejects.toMatchObject({ code: 'prove.same-arms' });
  });

  test('that do not lie in the cell, or may not, are refused', async () => {
    for (const facts of ['{ wet: true }', '{ unknown: [wet] }']) {
      const folder = await changed((text) =>
        text.replace('{ agent: agent }', `{ agent: agent, facts: ${facts} }`),
      );
      await expect(openFolder(folder)).rejects.toMatchObject({
        code: 'prove.outside-cell',
        message: expect.stringMatching(/'treatment'.*wet/),
      });
    }
  });

  test('have one text over all items', async () => {
    const folder = await changed((text) => text.replace('expect: yes }', 'expect: yes, workspace: agent }'));
    await writeFile(
      join(folder, 'agent/instructions/base.md'),
      '---\ntemplate: true\n---\nAnswer.{% when resource.workspace %} Look around.{% end %}\n',
    );
    await expect(openFolder(folder)).rejects.toMatchObject({ code: 'prove.arm-varies' });
  });
});

describe('a design', () => {
  test('that cannot reach alpha is refused, and repeats do not help', async () => {
    const few = await changed((text) => text, '', { items: 5, repeats: 100 });
    await expect(openFolder(few)).rejects.toMatchObject({
      code: 'prove.unreachable-alpha',
      details: { smallestP: 2 / 2 ** 5 },
    });
  });

  test('says its smallest p and its power, and under which assumptions', async () => {
    const folder = await changed((text) => text, 'assume: { rate: 0.5, deviation: 0.1, effect: 0.4 }', {
      items: 20,
      repeats: 5,
    });
    const { design } = (await openFolder(folder)).registration;
    expect(design).toMatchObject({
      trials: 200,
      smallestP: 2 / 2 ** 20,
      power: { known: true, assumed: { effect: 0.4, given: true } },
    });
  });
});

test('a digest follows from all of it: task, file of the agent, workspace', async () => {
  const folder = await changed((text) =>
    text.replace('stopping:', 'workspace: agent/instructions\nstopping:'),
  );
  const before = (await openFolder(folder)).registration;
  await writeFile(join(folder, 'agent/instructions/extra.txt'), 'seen by trials');
  await writeFile(join(folder, 'agent/notes.txt'), 'beside the agent');
  const after = (await openFolder(folder)).registration;
  expect(registrationDigest(after)).not.toBe(registrationDigest(before));
  expect(differences(before, after).slice(0, 3)).toEqual([
    'arms.control.folderDigest',
    'arms.treatment.folderDigest',
    'items.0.workspace',
  ]);
  await symlink('/etc/passwd', join(folder, 'agent/instructions/link'));
  await expect(openFolder(folder)).rejects.toMatchObject({ code: 'prove.bad-fixture' });
});

describe('a plan', () => {
  const ids = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 12 });
  const planOf = (items: readonly string[], repeats: number, seed: number) =>
    planTrials({ items: items.map((id) => ({ id })) as never, repeats, seed });

  test('has each trial once, both arms of a pair side by side, and hangs on the seed alone', () => {
    fc.assert(
      fc.property(ids, fc.integer({ min: 1, max: 6 }), fc.integer(), (items, repeats, seed) => {
        const plan = planOf(items, repeats, seed);
        expect(new Set(plan.map(({ item, side, repeat }) => JSON.stringify([item, side, repeat]))).size).toBe(
          2 * items.length * repeats,
        );
        expect(plan.map(({ position }) => position)).toEqual(plan.map((_, at) => at + 1));
        for (let at = 0; at < plan.length; at += 2) {
          const [a, b] = [plan[at], plan[at + 1]];
          expect([a?.item, a?.repeat]).toEqual([b?.item, b?.repeat]);
          expect(a?.side).not.toBe(b?.side);
        }
        expect(planOf(items, repeats, seed)).toEqual(plan);
        expect(planOf(items, repeats + 1, seed).slice(0, plan.length)).toEqual(plan);
      }),
      { numRuns: 50 },
    );
  });

  test('lets neither arm be first as a rule, nor items stand in their order', () => {
    const items = Array.from({ length: 50 }, (_, at) => `i${at}`);
    const plan = planOf(items, 4, 1);
    const first = plan.filter((trial, at) => at % 2 === 0 && trial.side === 'control').length;
    expect(first).toBeGreaterThan(70);
    expect(first).toBeLessThan(130);
    expect(
      plan
        .filter((_, at) => at % 2 === 0)
        .slice(0, 50)
        .map(({ item }) => item),
    ).not.toEqual(items);
  });
});
