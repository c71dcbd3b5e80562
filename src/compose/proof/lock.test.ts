/** Locks: the same bytes on every machine, refused where they would not be, and plain about drift. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sha256 } from '../../digest.ts';
import { compose } from '../compose.ts';
import { loadAgent } from '../load/agent.ts';
import { digestsOf, readFragmentFiles } from '../load/proof-files.ts';
import { settle } from '../settle.ts';
import { agentYaml, folderWith, vocabulary } from '../testing.cases.ts';
import { driftLine, driftOf } from './drift.ts';
import { type Lock, lockAgent, lockText, namedTexts, readLock } from './lock.ts';
import { lockFindings } from './lock-findings.ts';

const facts = `facts:
  dbt: { type: bool, probe: project-marker, options: { files: [x] } }
  day: { type: string, volatile: true, default: monday }
  tone: { type: string }
situations: { plain: { mode: headless, dbt: false, day: friday }, dbt: { dbt: true } }
`;
const files = {
  'agent.yaml': agentYaml(['base', 'guard', 'today'], facts),
  'instructions/base.md': 'Base one. Base two.\n',
  'instructions/guard.md': '---\nwhen: dbt\n---\nGuard.\n',
  'instructions/today.md': '---\ntemplate: true\n---\nIt is {{ day }}, in {{ tone | "plain" }}.\n',
};

const agentOf = (folder: string) => loadAgent(folder, vocabulary);
const digests = async (folder: string) => digestsOf(await readFragmentFiles(await agentOf(folder)));
const lock = async (folder: string) => lockAgent(await agentOf(folder), await digests(folder));
const texts = async (folder: string) => namedTexts(await agentOf(folder), await digests(folder));

test('a pin holds digests of exactly what compose gives, its facts and its files', async () => {
  const folder = folderWith(files);
  const { situations, ...head } = await lock(folder);
  expect(head).toEqual({
    version: 1,
    agent: 'demo',
    rule: 'sha256 of the exact bytes: nothing is normalised',
    tokenMethod: 'chars/4',
  });
  const agent = await agentOf(folder);
  const composed = compose(agent, await settle(agent, { situation: 'plain', workspace: folder }, []));
  const read = (path: string) => readFileSync(join(folder, path));
  expect(situations.plain?.default).toEqual({
    sha256: composed.digest,
    bytes: composed.bytes,
    tokens: composed.tokens,
    facts: { day: { value: 'friday', volatile: true }, dbt: { value: false }, tone: { unknown: true } },
    layers: [{ id: 'contract', sha256: sha256(composed.text), bytes: composed.bytes }],
    fragments: [
      {
        id: 'base',
        sha256: sha256('Base one. Base two.'),
        file: 'instructions/base.md',
        fileSha256: sha256(read('instructions/base.md')),
      },
      {
        id: 'today',
        sha256: sha256('It is friday, in plain.'),
        file: 'instructions/today.md',
        fileSha256: sha256(read('instructions/today.md')),
      },
    ],
  });
  expect(Object.keys(situations)).toEqual(['dbt', 'plain']);
});

test('raw bytes are pinned: a mark of encoding or other line ends in a body change the pin', async () => {
  const pinned = await lock(folderWith(files));
  const crlf = await lock(folderWith({ ...files, 'instructions/base.md': 'Base one.\r\nBase two.\n' }));
  const lf = await lock(folderWith({ ...files, 'instructions/base.md': 'Base one.\nBase two.\n' }));
  const digestIn = (one: Lock) => one.situations.plain?.default?.sha256;
  expect(digestIn(crlf)).not.toBe(digestIn(lf));
  // Before the header of a file, a mark is no part of the text: only the file's own digest tells.
  const mark = await lock(folderWith({ ...files, 'instructions/base.md': '\ufeffBase one. Base two.\n' }));
  expect(digestIn(mark)).toBe(digestIn(pinned));
  expect(mark.situations.plain?.default?.fragments[0]?.fileSha256).not.toBe(
    pinned.situations.plain?.default?.fragments[0]?.fileSha256,
  );
});

describe('a situation that the machine would decide is refused', () => {
  test.each([
    ['a probe', 'dbt', 'plain leaves dbt open (guard)', {}],
    ['an environment variable', 'env.HOME == "/"', 'plain leaves env.HOME open (guard)', {}],
    ['git', 'git.branch == "main"', 'plain leaves git.branch open (guard)', {}],
  ])('%s', async (_name, when, message) => {
    const folder = folderWith({
      ...files,
      'agent.yaml': agentYaml(
        ['guard'],
        facts.replace(/situations.*/, 'situations: { plain: { mode: headless } }'),
      ),
      'instructions/guard.md': `---\nwhen: '${when}'\n---\nGuard.\n`,
    });
    await expect(lock(folder)).rejects.toMatchObject({
      code: 'proof.open-situation',
      kind: 'refused',
      message: expect.stringContaining(message),
    });
  });

  test('inside a template too, but not where another fact has decided', async () => {
    const yaml = agentYaml(
      ['guard'],
      facts.replace(/situations.*/, 'situations: { plain: { mode: headless } }'),
    );
    const template = (body: string) =>
      lock(
        folderWith({
          ...files,
          'agent.yaml': yaml,
          'instructions/guard.md': `---\ntemplate: true\n---\n${body}\n`,
        }),
      );
    await expect(template('{{ git.branch | "none" }}')).rejects.toMatchObject({
      code: 'proof.open-situation',
    });
    await expect(template('{% when dbt %}a{% end %}')).rejects.toMatchObject({
      code: 'proof.open-situation',
    });
    await expect(
      template('{% when mode == "interactive" %}{{ git.branch | "" }}{% end %}'),
    ).resolves.toMatchObject({});
    await expect(template('{% when dbt || mode == "headless" %}a{% end %}')).resolves.toMatchObject({});
  });

  test('an agent without situations has nothing to lock', async () => {
    const folder = folderWith({ 'agent.yaml': agentYaml([]) });
    await expect(lock(folder)).rejects.toMatchObject({ code: 'proof.nothing-to-lock' });
  });
});

test('a lock is read as it was written, and nothing else is taken for one', async () => {
  const made = await lock(folderWith(files));
  expect(readLock(lockText(made))).toEqual(made);
  expect(lockText(await lock(folderWith(files)))).toBe(lockText(made));
  for (const text of ['', '[]', '{"version":2}', lockText(made).replace('"version": 1', '"version": 2')])
    expect(() => readLock(text)).toThrow(expect.objectContaining({ code: 'proof.bad-lock', kind: 'input' }));
});

describe('findings', () => {
  const findings = async (folder: string, made: Lock | null, pinned: string | null = null) =>
    (await lockFindings(await agentOf(folder), await texts(folder), made, async () => pinned, 'a')).map(
      ({ rule, level, message, more }) => ({ rule, level, message, more }),
    );
  const changed = async (change: Readonly<Record<string, string>>, pinned: string | null = null) =>
    findings(folderWith({ ...files, ...change }), await lock(folderWith(files)), pinned);

  test('none where all is as pinned', async () => {
    expect(await changed({})).toEqual([]);
  });

  test('a changed sentence, with the pinned text at hand and without', async () => {
    const edited = { 'instructions/base.md': 'Base one. Base 2.\n' };
    const [dbt, plain] = await changed(edited);
    expect([dbt?.message, plain]).toEqual([
      "situation 'dbt' under profile 'default' has drifted: changed: base (53 bytes pinned, 51 now)",
      {
        rule: 'text-drift',
        level: 'error',
        message:
          "situation 'plain' under profile 'default' has drifted: changed: base (45 bytes pinned, 43 now)",
        more: ['the pinned text is in no revision at hand, so only the names can be given'],
      },
    ]);
    const [, withText] = await changed(edited, 'Base one. Base two.\n\nIt is friday, in plain.\n');
    expect(withText?.more).toEqual([
      '@@ line 1 before @@',
      '- Base two.',
      '@@ line 1 now @@',
      '+ Base 2.',
      '',
      '1 removed, 1 added, 0 moved, 2 kept',
    ]);
  });

  test('line endings only, without any old text', async () => {
    const before = { ...files, 'instructions/base.md': 'Base one.\nBase two.\n' };
    const made = await lock(
      folderWith({ ...before, 'agent.yaml': `join: verbatim\n${files['agent.yaml']}` }),
    );
    const turned = Object.fromEntries(
      Object.entries(before).map(([path, text]) => [
        path,
        path.endsWith('.md') ? text.replaceAll('\n', '\r\n') : text,
      ]),
    );
    const folder = folderWith({ ...turned, 'agent.yaml': `join: verbatim\n${files['agent.yaml']}` });
    expect((await findings(folder, made)).map((one) => one.message)).toEqual([
      expect.stringContaining('has drifted: line endings only'),
      expect.stringContaining('has drifted: line endings only'),
    ]);
  });

  test('other files that make the same bytes are a warning', async () => {
    const [first] = await changed({ 'instructions/base.md': '---\ntitle: Base\n---\nBase one. Base two.\n' });
    expect(first).toMatchObject({
      rule: 'record-drift',
      level: 'warning',
      message: expect.stringContaining('changed: base'),
    });
  });

  test('situations and profiles that came and went, and no lock at all', async () => {
    const yaml = files['agent.yaml'].replace('plain: {', 'simple: {');
    expect((await changed({ 'agent.yaml': yaml })).map(({ rule }) => rule)).toEqual([
      'not-pinned',
      'stale-pin',
    ]);
    expect(await findings(folderWith(files), null)).toMatchObject([{ rule: 'lock-missing' }]);
    expect(await findings(folderWith({ 'agent.yaml': agentYaml([]) }), null)).toEqual([]);
  });

  test('a situation that became open', async () => {
    const yaml = files['agent.yaml'].replace('dbt: false, ', '');
    expect((await changed({ 'agent.yaml': yaml })).map(({ rule, message }) => [rule, message])).toEqual([
      [
        'open-situation',
        "situation 'plain' under profile 'default' depends on the machine at hand: 'guard' reads dbt",
      ],
    ]);
  });
});

test('drift names what is new, gone, reordered, and other facts', async () => {
  const made = await lock(folderWith(files));
  const pin = made.situations.dbt?.default;
  if (pin === undefined) throw new Error('the pin is missing');
  const folder = folderWith({ ...files, 'instructions/extra.md': 'Extra.\n' });
  const yaml = readFileSync(join(folder, 'agent.yaml'), 'utf8');
  writeFileSync(join(folder, 'draft'), yaml.replace('[base, guard, today]', '[today, extra, base]'));
  renameSync(join(folder, 'draft'), join(folder, 'agent.yaml'));
  const now = (await texts(folder)).texts.find((one) => one.name === 'dbt');
  if (now === undefined) throw new Error('the text is missing');
  const drift = driftOf(pin, now);
  expect(drift === null ? null : driftLine(drift)).toBe(
    'new: extra; gone: guard; the order of the fragments differs; facts that differ: dbt',
  );
});
