/** What a check says of the lock: situations without a pin, pins without a situation, and texts that have drifted. */
import type { Agent } from '../agent.ts';
import { driftLine, driftOf } from './drift.ts';
import { type Finding, finding } from './finding.ts';
import { type Lock, lockFile, type NamedTexts, type PinnedText } from './lock.ts';
import { diffLines, sentenceDiff } from './sentence-diff.ts';

/** The text that a pin was made of, if somebody still has it: its digest decides. Null where nobody does. */
export type FindPinnedText = (text: PinnedText, sha256: string) => Promise<string | null>;

/** Compares the lock with the agent as it composes now. `lock` is null where there is no lock, `asGiven` how a command names the agent. */
export async function lockFindings(
  agent: Agent,
  { texts, open }: NamedTexts,
  lock: Lock | null,
  findPinned: FindPinnedText,
  asGiven: string,
): Promise<Finding[]> {
  const openOnes = open.map(({ name, profile, fact, fragment }) =>
    finding(
      'open-situation',
      `situation '${name}' under profile '${profile}' depends on the machine at hand: '${fragment}' reads ${fact}`,
      { file: 'agent.yaml' },
    ),
  );
  if (agent.situations.size === 0 && lock === null) return [];
  if (lock === null) {
    const message = 'there is no lock: the named situations are not pinned';
    return [
      ...openOnes,
      finding('lock-missing', message, { file: lockFile, more: [`writ lock ${asGiven} pins them`] }),
    ];
  }
  const findings: Finding[] = [];
  for (const text of texts) findings.push(...(await textFindings(text, lock, findPinned)));
  return [...openOnes, ...findings, ...stalePins(agent, lock)];
}

async function textFindings(text: PinnedText, lock: Lock, findPinned: FindPinnedText): Promise<Finding[]> {
  const { name, profile } = text;
  const what = `situation '${name}' under profile '${profile}'`;
  const pin = Object.hasOwn(lock.situations, name) ? lock.situations[name]?.[profile] : undefined;
  if (pin === undefined) return [finding('not-pinned', `${what} is not in the lock`, { file: lockFile })];
  const drift = driftOf(pin, text);
  if (drift === null) return [];
  if (drift.kind === 'record') {
    const message = `${what} composes to the pinned bytes, but not of what the lock records: ${driftLine(drift)}`;
    return [finding('record-drift', message, { file: lockFile })];
  }
  const sizes = `${pin.bytes} bytes pinned, ${text.pin.bytes} now`;
  if (drift.lineEndings)
    return [finding('text-drift', `${what} has drifted: line endings only (${sizes})`, { file: lockFile })];
  const pinned = await findPinned(text, pin.sha256);
  const message = `${what} has drifted: ${driftLine(drift)} (${sizes})`;
  const more =
    pinned === null
      ? ['the pinned text is in no revision at hand, so only the names can be given']
      : diffLines(sentenceDiff(pinned, text.composition.text));
  return [finding('text-drift', message, { file: lockFile, more })];
}

function stalePins(agent: Agent, lock: Lock): Finding[] {
  return Object.entries(lock.situations).flatMap(([name, profiles]) =>
    Object.keys(profiles)
      .filter((profile) => !agent.situations.has(name) || !agent.profiles.has(profile))
      .map((profile) =>
        finding(
          'stale-pin',
          `the lock pins situation '${name}' under profile '${profile}', and the agent has none`,
          {
            file: lockFile,
          },
        ),
      ),
  );
}
