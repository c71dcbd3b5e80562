/** A cited report as evidence: the implication over all situations, with the situation that it does not cover. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { vocabulary } from '../catalog.ts';
import { loadAgent } from '../compose/load/agent.ts';
import { jsonDigest } from '../digest.ts';
import { citedReports, evidenceFindings } from './evidence.ts';
import { planTrials } from './plan.ts';
import { plain, type Registration, registrationDigest } from './registration.ts';
import { derivedOf, type Report } from './report.ts';
import { experimentFolder, openFolder, rowOf } from './trials.cases.ts';

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

function reportOf(registration: Registration, treatment = 1, deviations: Report['deviations'] = []): Report {
  const trials = planTrials(registration).map((trial) =>
    rowOf(registration, trial, { score: trial.side === 'treatment' ? treatment : 1 }),
  );
  const report = plain({
    format: 'writ-experiment-report/1' as const,
    madeAt: 1,
    registeredAt: 1,
    registration,
    registrationDigest: registrationDigest(registration),
    journal: 'j',
    deviations,
    trials,
    tableDigest: jsonDigest(plain(trials)),
    ...derivedOf(registration, trials, deviations),
    drift: { known: true, paths: [] },
  });
  return { ...report, digest: jsonDigest(report) };
}

async function measured() {
  const folder = await experimentFolder();
  folders.push(folder);
  const { registration } = await openFolder(folder);
  return { folder, registration, report: reportOf(registration) };
}

/** What is found when the ritual's condition is this one now. */
async function findingsFor(folder: string, report: Report, when?: string) {
  const path = join(folder, 'agent/instructions/ritual.md');
  if (when !== undefined) await writeFile(path, `---\nwhen: '${when}'\n---\nRead everything first.\n`);
  const agent = await loadAgent(join(folder, 'agent'), vocabulary);
  const fragment = agent.fragments.get('ritual');
  if (fragment === undefined) throw new Error('the agent has a ritual');
  const found = evidenceFindings(agent, { fragment, path: 'r.json', report, line: 3 });
  // These reports were made of no journal, which each that verifies is told.
  return found.filter(({ rule }) => rule !== 'evidence-without-journal');
}

test('a condition that leaves the fragment out inside the measured cell alone is covered', async () => {
  const { folder, report } = await measured();
  expect(await findingsFor(folder, report)).toEqual([]);
  // Narrower is covered too, and what an unknown fact keeps in needs no evidence.
  expect(await findingsFor(folder, report, '!(mode == "headless" && !wet && text.stock)')).toEqual([]);
});

test.each([
  ['wet || mode == "interactive" || true && mode != "headless"', null],
  ['wet', 'mode="interactive", wet=false'],
  ['mode == "interactive"', 'mode="headless", wet=true'],
  ['!(mode == "headless" && !wet) && agent.key != "asker"', 'agent.key="asker", mode="headless", wet=true'],
])('%s', async (when, counterexample) => {
  const { folder, report } = await measured();
  const findings = await findingsFor(folder, report, when);
  if (counterexample === null) expect(findings).toEqual([]);
  else
    expect(findings).toMatchObject([
      {
        rule: 'evidence-uncovered',
        level: 'error',
        line: 3,
        message: expect.stringContaining(counterexample),
        more: ['the measured cell: mode == "headless" && !wet'],
      },
    ]);
});

test('a situation that may lie outside is not covered: an unknown fact is named', async () => {
  const { folder, report } = await measured();
  const yaml = join(folder, 'agent/agent.yaml');
  await writeFile(
    yaml,
    (await readFile(yaml, 'utf8')).replace('{ type: bool, default: false }', '{ type: bool }'),
  );
  const [found] = await findingsFor(folder, report, 'mode == "interactive"');
  expect(found?.message).toMatch(/wet=(true|unknown)/);
});

test('a report must verify, be about this fragment, and have a verdict that does not speak for it', async () => {
  const { folder, registration, report } = await measured();
  const rules = async (one: Report) => (await findingsFor(folder, one)).map(({ rule }) => rule);
  expect(await rules({ ...report, notVerified: [] })).toEqual(['evidence-not-verified']);
  expect(await rules(reportOf(registration, 0))).toEqual(['evidence-no-verdict']);
  const looked = [{ kind: 'looked-early', at: 1, trials: 1, paths: [], reason: '' }] as const;
  expect(await rules(reportOf(registration, 1, looked))).toEqual(['evidence-exploratory']);
  const manipulation = { calls: 'ritual', zeroIn: 'treatment', shareLeast: null } as const;
  expect(await rules(reportOf({ ...registration, manipulation }))).toEqual(['evidence-no-verdict']);
  const { control, treatment } = registration.arms;
  const also = { ...treatment, fragments: { ...treatment.fragments, base: 'x' } };
  expect(await rules(reportOf({ ...registration, arms: { control, treatment: also } }))).toEqual([
    'evidence-other-pack',
  ]);
});

test.each([
  ['profile', { profile: 'lean' }],
  ['harness', { harness: { name: 'pi', intent: 'append', fidelity: 'base', model: null } }],
  ['capabilities', { capabilities: ['shell'] }],
  ['folderDigest', { folder: 'lean', folderDigest: 'x' }],
  ['model', { model: 'local/other' }],
] as const)('arms that also differ in %s do not show what the fragment alone does', async (part, also) => {
  const { folder, registration } = await measured();
  const { control, treatment } = registration.arms;
  const other = { ...registration, arms: { control: { ...control, ...also }, treatment } };
  expect(await findingsFor(folder, reportOf(other))).toMatchObject([
    { rule: 'evidence-other-pack', level: 'error', more: [`the arms differ in ${part}`] },
  ]);
});

test('where not every situation could be tried, that none was found is a warning with the reason', async () => {
  const { folder, registration } = await measured();
  const yaml = join(folder, 'agent/agent.yaml');
  await writeFile(
    yaml,
    (await readFile(yaml, 'utf8')).replace('{ type: bool, default: false }', '{ type: string, default: "" }'),
  );
  const cell = 'wet.contains("a") && wet.contains("b")';
  const report = reportOf({ ...registration, cell });
  expect(await findingsFor(folder, report, `!(${cell})`)).toMatchObject([
    {
      rule: 'evidence-uncovered',
      level: 'warning',
      line: 3,
      more: [
        `the measured cell: ${cell}`,
        'not exact: wet: tested for several parts, so its values are a selection',
      ],
    },
  ]);
});

test('a text that has changed since, and a cell of another agent', async () => {
  const { folder, registration } = await measured();
  const { control } = registration.arms;
  const arms = {
    ...registration.arms,
    control: { ...control, fragments: { ...control.fragments, ritual: 'old' } },
  };
  expect(
    (await findingsFor(folder, reportOf({ ...registration, arms }))).map(({ rule, level }) => [rule, level]),
  ).toEqual([['evidence-stale', 'warning']]);
  const foreign = reportOf({ ...registration, cell: 'damp == false' });
  expect((await findingsFor(folder, foreign)).map(({ rule }) => rule)).toEqual(['evidence-uncovered']);
});

test('a report is held against its journal, and where there is none that is a warning', async () => {
  const { folder, report } = await measured();
  const agent = await loadAgent(join(folder, 'agent'), vocabulary);
  const fragment = agent.fragments.get('ritual');
  if (fragment === undefined) throw new Error('the agent has a ritual');
  const cited = { fragment, path: 'r.json', report, line: 3 };
  expect(evidenceFindings(agent, cited)).toEqual([
    {
      rule: 'evidence-without-journal',
      level: 'warning',
      file: fragment.file,
      line: 3,
      message:
        "the report r.json of 'ritual' has no journal beside it, so that nothing shows that its trials were run",
      more: [],
    },
  ]);
  const record = { fault: 'Line 3 of the journal was altered.' };
  expect(evidenceFindings(agent, { ...cited, beside: { record } })).toMatchObject([
    { rule: 'evidence-not-verified', message: expect.stringContaining('Line 3 of the journal was altered.') },
  ]);
});

test('only an entry that says report: cites one', async () => {
  const { folder } = await measured();
  const agent = await loadAgent(join(folder, 'agent'), vocabulary);
  const fragment = agent.fragments.get('ritual');
  if (fragment === undefined) throw new Error('the agent has a ritual');
  expect(citedReports({ ...fragment, evidence: ['It helped once.', 'report: a/b.json'] })).toEqual([
    'a/b.json',
  ]);
});
