/** PROMPT_CHANGELOG.md: the sentences that a text lost and gained since a named baseline, each change with its reason. */
import { type Finding, finding } from './finding.ts';
import { markdownLines } from './markdown-lines.ts';
import { sentenceDiff } from './sentence-diff.ts';
import type { Sentence } from './sentences.ts';

export const changelogFile = 'PROMPT_CHANGELOG.md';

/** `file:PATH` inside the agent folder, or `rev:REVISION` of it. */
export interface Baseline {
  readonly kind: 'file' | 'rev';
  readonly name: string;
}

export interface ListedSentence {
  readonly change: 'removed' | 'added';
  readonly text: string;
  readonly line: number;
}

/** What the changelog says of one baseline: the heading that names it, and all its `diff` blocks together. */
export interface ChangelogSection {
  readonly baseline: Baseline;
  readonly profile: string;
  readonly line: number;
  readonly listed: readonly ListedSentence[];
}

export interface Changelog {
  readonly sections: readonly ChangelogSection[];
  readonly findings: readonly Finding[];
}

const named = /(?:^|[\s`(])(file|rev):([^\s`)]+)/;

/**
 * Reads a changelog: a heading that holds `file:…` or `rev:…` opens a section (with `profile:NAME` for another profile
 * than the default); below it stand fenced `diff` blocks of `- ` and `+ ` lines, each with its reason in words above it.
 */
export function readChangelog(text: string): Changelog {
  const sections: (ChangelogSection & { listed: ListedSentence[] })[] = [];
  const findings: Finding[] = [];
  const fault = (line: number, message: string) =>
    findings.push(finding('changelog-form', message, { file: changelogFile, line }));
  let reason = false;
  let inDiff = false;
  markdownLines(text).forEach((line, i) => {
    const at = i + 1;
    const raw = text.slice(line.start, line.end);
    if (line.kind === 'heading') {
      reason = false;
      const found = named.exec(raw);
      if (found === null) return;
      const profile = /(?:^|[\s`(])profile:([^\s`)]+)/.exec(raw)?.[1] ?? 'default';
      const baseline = { kind: found[1] === 'rev' ? 'rev' : 'file', name: found[2] ?? '' } as const;
      sections.push({ baseline, profile, line: at, listed: [] });
    } else if (line.kind === 'text' || line.kind === 'row') reason = true;
    else if (line.kind === 'code' && line.fence) {
      inDiff = /^[`~]{3,}\s*diff\b/.test(text.slice(line.words, line.end));
      if (inDiff && sections.length === 0)
        fault(at, 'this diff block stands under no heading that names its baseline (file:… or rev:…)');
      if (inDiff && !reason) fault(at, 'this diff block has no reason: say above it why the text changed');
      reason = false;
    } else if (line.kind === 'code' && inDiff && !isClosing(raw)) {
      const listed = listedSentence(raw, at);
      if (listed !== undefined) sections.at(-1)?.listed.push(listed);
      else if (raw.trim() !== '')
        fault(
          at,
          `a line of a diff block begins with "- " or "+ ", found ${JSON.stringify(raw.slice(0, 40))}`,
        );
    }
  });
  if (sections.length === 0 && findings.length === 0)
    fault(1, 'no heading names a baseline: write one like "## Since file:baseline.md" or "## Since rev:v1"');
  return { sections, findings };
}

function isClosing(raw: string): boolean {
  return /^\s*(`{3,}|~{3,})\s*$/.test(raw);
}

function listedSentence(raw: string, line: number): ListedSentence | undefined {
  const found = /^([-+])\s+(\S.*)$/.exec(raw);
  if (found === null) return undefined;
  const text = (found[2] ?? '').replace(/\s+/g, ' ').trim().normalize('NFC');
  return { change: found[1] === '-' ? 'removed' : 'added', text, line };
}

/** Compares what a section lists with what really changed, as multisets; one finding per sentence that is wrong. */
export function changelogFindings(section: ChangelogSection, before: string, after: string): Finding[] {
  const diff = sentenceDiff(before, after);
  return [...compared(section, 'removed', diff.removed), ...compared(section, 'added', diff.added)];
}

function compared(
  section: ChangelogSection,
  change: ListedSentence['change'],
  real: readonly Sentence[],
): Finding[] {
  const sign = change === 'removed' ? '-' : '+';
  const { kind, name } = section.baseline;
  const left = new Map<string, number>();
  for (const { text } of real) left.set(text, (left.get(text) ?? 0) + 1);
  const findings: Finding[] = [];
  for (const listed of section.listed) {
    if (listed.change !== change) continue;
    const count = left.get(listed.text) ?? 0;
    if (count > 0) left.set(listed.text, count - 1);
    else
      findings.push(
        finding('changelog-not-so', `this sentence was not ${change} since ${kind}:${name}`, {
          file: changelogFile,
          line: listed.line,
          more: [`${sign} ${listed.text}`],
        }),
      );
  }
  for (const [text, count] of left) {
    if (count === 0) continue;
    const times = count === 1 ? '' : ` ${count} times`;
    findings.push(
      finding(
        'changelog-unlisted',
        `a sentence was ${change}${times} since ${kind}:${name} and is not listed`,
        {
          file: changelogFile,
          line: section.line,
          more: Array.from({ length: count }, () => `${sign} ${text}`),
        },
      ),
    );
  }
  return findings;
}
