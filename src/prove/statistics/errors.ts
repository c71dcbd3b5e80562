/** What can be wrong with what is given to the statistics: codes and the error class. */
import type { ErrorExtra, ErrorTable } from '../../errors.ts';
import { WritError } from '../../errors.ts';

export const statisticsErrors = {
  'statistics.bad-option': {
    kind: 'input',
    about: 'An option of an analysis has a value that it cannot take.',
  },
  'statistics.bad-value': { kind: 'input', about: 'A trial has a value that its metric cannot have.' },
  'statistics.dependent-pairs': {
    kind: 'input',
    about: 'A test of independent pairs was given several pairs of one item.',
  },
  'statistics.duplicate-trial': { kind: 'input', about: 'Two rows stand for the same trial.' },
  'statistics.no-pairs': { kind: 'input', about: 'No item is left that both arms have tried.' },
  'statistics.unknown-group': {
    kind: 'input',
    about: 'An item has no group, or two, in the named grouping.',
  },
  'statistics.unknown-value': {
    kind: 'refused',
    about: 'A value is unknown and the registered policy allows none to be.',
  },
} as const satisfies ErrorTable;

export class StatisticsError extends WritError<keyof typeof statisticsErrors> {
  constructor(code: keyof typeof statisticsErrors, message: string, extra: ErrorExtra = {}) {
    super(statisticsErrors, code, message, extra);
  }
}
