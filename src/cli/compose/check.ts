/** `writ check`: whether an agent still is what its lock and its changelog say, and whether its text fits its tools. */
import { resolve } from 'node:path';
import type { Agent } from '../../compose/agent.ts';
import type { Finding } from '../../compose/proof/finding.ts';
import { type Context, printJson } from '../context.ts';
import { exitCodes } from '../exit.ts';
import { givenPath, type NewCommand, withExamples } from '../program.ts';
import { shellWord } from '../run/open-store.ts';
import { count } from '../view/figures.ts';
import { visible } from '../view/visible.ts';

export function checkCommand({ context, command, done }: NewCommand) {
  const check = command('check')
    .summary('verify the lock, the changelog and the text')
    .description(
      'Verifies the pins of writ.lock.json, the sentences listed in PROMPT_CHANGELOG.md, that no text names a tool which\nits situation does not offer, and that each report cited as evidence covers every situation in which its fragment is left out. Ends with 1 if something is wrong; warnings alone do not count.',
    )
    .argument('<agent>', 'the agent folder', givenPath('AGENT'))
    .option('--json', 'print the findings as one JSON object');
  return withExamples(check, ['writ check agents/analyst', 'writ check agents/analyst --json']).action(
    async (folder, options) => {
      const [{ loadAgent }, { vocabulary }] = await Promise.all([
        import('../../compose/load/agent.ts'),
        import('../../catalog.ts'),
      ]);
      const agent = await loadAgent(resolve(context.cwd, folder), vocabulary);
      const checked = await checkAgent(context, agent, shellWord(folder));
      const errors = checked.findings.filter((one) => one.level === 'error').length;
      if (options.json) printJson(context, { agent: agent.key, ok: errors === 0, ...checked });
      else context.stdout.write(report(checked));
      done(errors === 0 ? exitCodes.completed : exitCodes.failed);
    },
  );
}

interface Checked {
  /** How many pinned texts there are, and of how many baselines the changelog speaks. */
  readonly pins: number;
  readonly baselines: number;
  /** How many reports its fragments cite. */
  readonly reports: number;
  readonly findings: readonly Finding[];
}

async function checkAgent(context: Context, agent: Agent, asGiven: string): Promise<Checked> {
  const [
    files,
    { lockFile, namedTexts, readLock },
    { lockFindings },
    lint,
    { closedFactFindings },
    { citedFindings },
  ] = await Promise.all([
    import('../../compose/load/proof-files.ts'),
    import('../../compose/proof/lock.ts'),
    import('../../compose/proof/lock-findings.ts'),
    import('../../compose/proof/lint.ts'),
    import('../../compose/proof/closed-facts.ts'),
    import('./evidence.ts'),
  ]);
  const bytes = await files.readFragmentFiles(agent);
  const named = await namedTexts(agent, files.digestsOf(bytes));
  const written = await files.readBeside(agent.folder, lockFile);
  const agentFile = (await files.readBeside(agent.folder, 'agent.yaml')) ?? '';
  const lock = written === undefined ? null : readLock(written);
  const changes = await changelog(context, agent);
  const cited = await citedFindings(agent, (one) => files.evidenceLine(bytes, one));
  return {
    pins: lock === null ? 0 : Object.values(lock.situations).flatMap(Object.keys).length,
    baselines: changes.baselines,
    reports: cited.reports,
    findings: [
      ...(await lockFindings(agent, named, lock, await pinnedTexts(context, agent), asGiven)),
      ...changes.findings,
      ...lint.toolFindings(agent, named.texts, (one) => files.bodyLine(bytes, one)),
      ...lint.unsaidFindings(agent, (tool) => files.listedLine(agentFile, tool)),
      ...lint.unusedFindings(agent),
      ...closedFactFindings(agent, (one, text) => files.quotingLine(bytes, one, text)),
      ...cited.findings,
    ],
  };
}

/** Looks for a pinned text where git may still have it: when the lock was last committed, and at the head. */
async function pinnedTexts(context: Context, agent: Agent) {
  const [{ loadRevision, lastChange }, { lockFile, namedTexts }, { vocabulary }] = await Promise.all([
    import('../../compose/load/revision.ts'),
    import('../../compose/proof/lock.ts'),
    import('../../catalog.ts'),
  ]);
  const load = async () => {
    const texts = new Map<string, string>();
    const locked = await lastChange(agent.folder, lockFile, context.env);
    for (const revision of new Set([locked, 'HEAD'])) {
      if (revision === undefined) continue;
      // A revision that does not load has no text to compare with, and the drift is reported all the same.
      const then = await loadRevision(agent.folder, revision, vocabulary, context.env).catch(() => undefined);
      if (then === undefined) continue;
      for (const { composition } of (await namedTexts(then.agent, new Map())).texts)
        texts.set(composition.digest, composition.text);
    }
    return texts;
  };
  let loaded: Promise<ReadonlyMap<string, string>> | undefined;
  return async (_text: unknown, sha256: string) => {
    loaded ??= load();
    return (await loaded).get(sha256) ?? null;
  };
}

async function changelog(
  context: Context,
  agent: Agent,
): Promise<{ baselines: number; findings: Finding[] }> {
  const [{ changelogFile, changelogFindings, readChangelog }, { fullText }, files] = await Promise.all([
    import('../../compose/proof/changelog.ts'),
    import('../../compose/proof/full-text.ts'),
    import('../../compose/load/proof-files.ts'),
  ]);
  const text = await files.readBeside(agent.folder, changelogFile);
  if (text === undefined) return { baselines: 0, findings: [] };
  const { sections, findings } = readChangelog(text);
  const all = [...findings];
  for (const section of sections) {
    const baseline = await baselineText(context, agent, section.baseline, section.profile);
    if (typeof baseline === 'string')
      all.push(...changelogFindings(section, baseline, await fullText(agent, section.profile)));
    else all.push(baselineFinding(changelogFile, section.line, baseline.message));
  }
  return { baselines: sections.length, findings: all };
}

function baselineFinding(file: string, line: number, message: string): Finding {
  const rule = 'changelog-baseline';
  return { rule, level: 'error', file, line, message: `its baseline cannot be read: ${message}`, more: [] };
}

/** The text of a baseline, or why there is none. */
async function baselineText(
  context: Context,
  agent: Agent,
  { kind, name }: { readonly kind: 'file' | 'rev'; readonly name: string },
  profile: string,
): Promise<string | { readonly message: string }> {
  const [{ readBeside }, { loadRevision }, { fullText }, { vocabulary }, { WritError }] = await Promise.all([
    import('../../compose/load/proof-files.ts'),
    import('../../compose/load/revision.ts'),
    import('../../compose/proof/full-text.ts'),
    import('../../catalog.ts'),
    import('../../errors.ts'),
  ]);
  try {
    if (!agent.profiles.has(profile)) return { message: `the agent has no profile '${profile}'` };
    if (kind === 'file') return (await readBeside(agent.folder, name)) ?? { message: `${name} is not there` };
    const { agent: then } = await loadRevision(agent.folder, name, vocabulary, context.env);
    return await fullText(then, profile);
  } catch (thrown) {
    if (thrown instanceof WritError) return { message: thrown.message };
    throw thrown;
  }
}

function report({ pins, baselines, reports, findings }: Checked): string {
  const errors = findings.filter((one) => one.level === 'error').length;
  const warnings = findings.length - errors;
  const lines = findings.flatMap(({ level, rule, file, line, message, more }) => [
    `${level} ${rule}: ${file === null ? '' : `${file}${line === null ? '' : `:${line}`}: `}${message}`,
    ...more.map((one) => `    ${one}`),
  ]);
  const cited = reports === 0 ? '' : `, ${count(reports, 'report')}`;
  const what = `${count(pins, 'pinned text')}, ${count(baselines, 'baseline')}${cited}`;
  const verdict = errors === 0 ? 'ok' : `${count(errors, 'error')}`;
  return visible(`${[...lines, `${verdict}, ${count(warnings, 'warning')}: ${what}`].join('\n')}\n`);
}
