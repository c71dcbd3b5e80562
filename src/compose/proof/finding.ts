/** A finding: what a check of an agent found, and where. Findings are results; only what stops a check is thrown. */

export const findingRules = {
  'lock-missing': 'error',
  'not-pinned': 'error',
  'open-situation': 'error',
  'stale-pin': 'error',
  'text-drift': 'error',
  'record-drift': 'warning',
  'tool-not-offered': 'error',
  'tool-capability-unsaid': 'warning',
  'unused-fragment': 'warning',
  'never-so': 'warning',
  'changelog-form': 'error',
  'changelog-baseline': 'error',
  'changelog-unlisted': 'error',
  'changelog-not-so': 'error',
  'evidence-unreadable': 'error',
  'evidence-not-verified': 'error',
  'evidence-other-pack': 'error',
  'evidence-no-verdict': 'error',
  'evidence-uncovered': 'error',
  'evidence-exploratory': 'warning',
  'evidence-stale': 'warning',
  'evidence-without-journal': 'warning',
} as const satisfies Readonly<Record<string, 'error' | 'warning'>>;

export type FindingRule = keyof typeof findingRules;

export interface Finding {
  readonly rule: FindingRule;
  readonly level: 'error' | 'warning';
  /** Below the agent folder. */
  readonly file: string | null;
  readonly line: number | null;
  readonly message: string;
  /** Lines of a difference, or what to paste. */
  readonly more: readonly string[];
}

export function finding(
  rule: FindingRule,
  message: string,
  place: { readonly file?: string; readonly line?: number; readonly more?: readonly string[] } = {},
): Finding {
  const { file = null, line = null, more = [] } = place;
  return { rule, level: findingRules[rule], file, line, message, more };
}
