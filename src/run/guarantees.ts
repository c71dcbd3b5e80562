/** What a run needs of its harness, and the refusal where the harness does less and the caller did not lower it. */
import { type Guarantee, guarantees, type Harness } from '../harness.ts';
import type { BudgetCounter, BudgetLimits } from '../protocol/budget.ts';
import { RunError } from './errors.ts';

export type GuaranteeName = (typeof guarantees)[number];

/** Guarantees that the caller does without, each to what it accepts instead; recorded with the run. */
export type Lowered = { readonly [G in GuaranteeName]?: Exclude<Guarantee, 'enforced'> };

const rank: Readonly<Record<Guarantee, number>> = { none: 0, observed: 1, enforced: 2 };

/**
 * Throws `run.guarantee-missing` for the first guarantee that the harness does not give, and `run.limit-unkeepable` for a
 * limit it cannot keep. Returns one notice for each guarantee that was lowered.
 */
export function checkGuarantees(harness: Harness, limits: BudgetLimits, lowered: Lowered): readonly string[] {
  const notices: string[] = [];
  for (const name of guarantees) {
    const given = harness.declares[name];
    const wanted = lowered[name] ?? 'enforced';
    if (name === 'budget' && Object.keys(limits).length === 0) continue;
    if (rank[given] < rank[wanted]) throw missing(harness, name, wanted, lowered);
    if (given !== 'enforced')
      notices.push(`${harness.name} ${given === 'none' ? 'does not keep' : 'only observes'} ${name}.`);
  }
  const [unkeepable] = harness.unkeepable(Object.keys(limits) as BudgetCounter[]);
  if (unkeepable !== undefined) {
    const { counter, reason, next } = unkeepable;
    throw new RunError('run.limit-unkeepable', `The budget limits ${counter}, but ${reason}.`, {
      next,
      details: { counter },
    });
  }
  return notices;
}

function missing(
  { name: harness, declares }: Harness,
  name: GuaranteeName,
  wanted: Guarantee,
  lowered: Lowered,
): RunError {
  const given = declares[name];
  // All of them at once: nobody should be refused five times to learn five words.
  const all = guarantees
    .filter((one) => rank[declares[one]] < rank[lowered[one] ?? 'enforced'])
    .map((one) => `${one}=${declares[one]}`);
  return new RunError(
    'run.guarantee-missing',
    `This run needs ${name} ${wanted}; ${harness} gives: ${given}.`,
    {
      next: `Choose a harness that enforces ${name}, or do without on purpose: --lower ${all.join(',')}`,
      details: { harness, guarantee: name, given, wanted },
    },
  );
}
