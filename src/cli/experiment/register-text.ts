/** A registration as a person reads it on a terminal. */
import { powerText } from '../../prove/design.ts';
import { nameOf } from '../../prove/metric.ts';
import type { Registered } from '../../prove/register.ts';
import type { ArmRecord, Registration } from '../../prove/registration.ts';
import { count, shortDigest } from '../view/figures.ts';

const statusWords: Readonly<Record<Registered, string>> = {
  registered: 'registered',
  unchanged: 'registered before, and unchanged',
  replaced: 'registered in place of the earlier one; no trial had been run',
  deviated: 'registered as a deviation: the result is exploratory',
};

const approvalTexts: Readonly<Record<Registration['approvals'], string>> = {
  deny: 'deny: a call that needs a person is refused, and its trial may fail of it; approvals: grant allows it',
  grant: 'grant: each call that needs a person is allowed, in both arms',
};

/** How and where it is kept, and what its run needs. */
export interface Kept {
  readonly status: Registered;
  readonly digest: string;
  readonly record: string;
  /** Models and programs whose server nothing names. */
  readonly serverless: readonly string[];
}

/** The summary, and under which digest and where it is kept. */
export function registrationText(
  registration: Registration,
  { status, digest, record, serverless }: Kept,
): string {
  const {
    question,
    arms,
    cell,
    items,
    repeats,
    primary,
    secondary,
    design,
    alpha,
    errors,
    grader,
    approvals,
    assume,
  } = registration;
  const { power, smallestP, trials } = design;
  const lines = [
    question,
    '',
    `control    ${armText(arms.control)}`,
    `treatment  ${armText(arms.treatment)}`,
    `cell       ${cell}`,
    `items      ${items.length}, each ${count(repeats, 'time')} in both arms: ${count(trials, 'trial')}`,
    `primary    ${primary === null ? 'none: nothing decides by itself' : `${primary.metric}, ${primary.question}${primary.margin === null ? '' : `, margin ${primary.margin}`}`}`,
    `secondary  ${secondary.map(nameOf).join(', ') || 'none'}`,
    `grader     ${grader.kind} ${shortDigest(grader.digest)}`,
    `approvals  ${approvalTexts[approvals]}`,
    `outages    above ${(100 * errors.limit).toFixed(0)} % of lost pairs the result is inconclusive`,
    '',
    `smallest p that this design can give: ${smallestP.toPrecision(2)} (alpha ${alpha})`,
    `power: ${powerText(power, assume)}`,
    '',
    `${statusWords[status]}: ${digest}`,
    `record: ${record}`,
    ...(serverless.length === 0
      ? []
      : [
          `no server is known for ${serverless.join(', ')}: write server.baseUrl and register again, or run it with --base-url`,
        ]),
  ];
  return `${lines.join('\n')}\n`;
}

function armText({ label, agent, model, harness, prompt, tokens, overrides }: ArmRecord): string {
  const changed = Object.entries(overrides).map(([id, presence]) => `${id} ${presence}`);
  return [
    label,
    `${agent} on ${model}${harness === undefined ? '' : ` by ${harness.name} (${harness.intent}, ${harness.fidelity})`}`,
    `prompt ${shortDigest(prompt)}, ${count(tokens, 'token')}`,
    ...changed,
  ].join(' · ');
}
