/** What became of a specification, for a person: whether it was met, and each requirement with what was seen. */
import type { SpecReport } from '../../protocol/spec.ts';
import { count, shortDigest } from './figures.ts';
import { visible } from './visible.ts';

/** `SPEC met after 2 answers`, then a line for each requirement. */
export function specLines({ spec, accepted, attempts, results }: SpecReport): readonly string[] {
  return [
    `SPEC ${accepted ? 'met' : 'not met'} after ${count(attempts, 'answer')} · ${shortDigest(spec)}`,
    ...results.map(({ id, severity, status, reason }) =>
      visible(`  ${status.padEnd(13)} ${id}${severity === 'optional' ? ' (optional)' : ''}: ${reason}`),
    ),
  ];
}
