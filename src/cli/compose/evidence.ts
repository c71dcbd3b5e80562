/** The reports that an agent's fragments cite, read and held against the conditions. */
import { dirname, resolve } from 'node:path';
import type { Agent, Fragment } from '../../compose/agent.ts';
import { type Finding, finding } from '../../compose/proof/finding.ts';

/** What is wrong with the cited reports; `headerLine` is the line on which a fragment's evidence stands. */
export async function citedFindings(
  agent: Agent,
  headerLine: (fragment: Fragment) => number,
): Promise<{ readonly reports: number; readonly findings: readonly Finding[] }> {
  const citing = [...agent.fragments.values()].filter(({ evidence }) => evidence.length > 0);
  if (citing.length === 0) return { reports: 0, findings: [] };
  const [{ citedReports, evidenceFindings }, { readReport }, { readSource }, { WritError }, { recordIn }] =
    await Promise.all([
      import('../../prove/evidence.ts'),
      import('../../prove/verify.ts'),
      import('../../compose/load/located.ts'),
      import('../../errors.ts'),
      import('../experiment/record-in.ts'),
    ]);
  const findings: Finding[] = [];
  let reports = 0;
  for (const fragment of citing) {
    for (const path of citedReports(fragment)) {
      reports += 1;
      const line = headerLine(fragment);
      try {
        const file = resolve(agent.folder, path);
        const { text } = await readSource(file);
        const report = readReport(text, path);
        const record = await recordIn(dirname(file), report.journal, false);
        const beside = { text, ...(record === undefined ? {} : { record }) };
        findings.push(...evidenceFindings(agent, { fragment, path, report, line, beside }));
      } catch (thrown) {
        if (!(thrown instanceof WritError)) throw thrown;
        const message = `the report ${path} of '${fragment.id}' cannot be read: ${thrown.message}`;
        findings.push(finding('evidence-unreadable', message, { file: fragment.file, line }));
      }
    }
  }
  return { reports, findings };
}
