/** The budget of a run: what the agent says, overlaid by `--budget`. */
import { namingMend } from '../../compose/nearest.ts';
import { type BudgetCounter, type BudgetLimits, budgetCounters } from '../../protocol/budget.ts';
import { readPair } from '../compose/situation-flags.ts';
import { CliError } from '../errors.ts';

/** Each text is `counter=number`, or `counter=none` to lift a limit; a later one beats an earlier one. */
export function overlayLimits(limits: BudgetLimits, flags: readonly string[] = []): BudgetLimits {
  const merged: { [C in BudgetCounter]?: number } = { ...limits };
  for (const flag of flags) {
    const [counter, amount] = readPair('--budget', flag, 'turns=8');
    if (!isCounter(counter)) {
      throw new CliError('cli.bad-value', `--budget expected a counter, found '${counter}'.`, {
        next: namingMend(counter, Object.keys(budgetCounters)),
        details: { option: '--budget', counter },
      });
    }
    if (amount === 'none') delete merged[counter];
    else merged[counter] = readAmount(counter, amount);
  }
  return merged;
}

const bounds = ['turns', 'modelCalls', 'tokens', 'costUsd', 'wallTimeMs'] as const satisfies BudgetCounter[];

/** What is said of a run that nothing ends but its model. Whoever lifts a limit with `none` knows it. */
export function unlimitedNotices(limits: BudgetLimits, flags: readonly string[] = []): readonly string[] {
  const lifted = bounds.some((counter) => flags.includes(`${counter}=none`));
  if (lifted || bounds.some((counter) => limits[counter] !== undefined)) return [];
  return [
    'Nothing limits the turns, tokens, cost or time of this run: neither agent.yaml nor --budget does. Give a limit with --budget turns=12, or write budget: { turns: 12 } into agent.yaml.',
  ];
}

function isCounter(name: string): name is BudgetCounter {
  return Object.hasOwn(budgetCounters, name);
}

function readAmount(counter: BudgetCounter, text: string): number {
  const whole = counter !== 'costUsd';
  const amount = Number(text);
  if ((whole ? /^\d+$/ : /^\d+(\.\d+)?$/).test(text) && (!whole || Number.isSafeInteger(amount)))
    return amount;
  throw new CliError(
    'cli.bad-value',
    `--budget ${counter} expected ${whole ? 'a whole number' : 'a number'} of zero or more, or none; found '${text}'.`,
    { next: `Give ${counter} in ${budgetCounters[counter]}.`, details: { option: '--budget', counter } },
  );
}
