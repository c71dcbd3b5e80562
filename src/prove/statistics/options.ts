/** The options that several analyses share, with the values they may take. */
import { StatisticsError } from './errors.ts';

/** The least number of random resamples that a published number may rest on, and the default. */
export const resamplesLeast = 20_000;

/** Throws `statistics.bad-option` for fewer resamples than a published number may rest on. */
export function checkResamples(resamples: number): number {
  if (Number.isSafeInteger(resamples) && resamples >= resamplesLeast && resamples <= 10_000_000)
    return resamples;
  throw badOption('resamples', `a whole number from ${resamplesLeast} to 10,000,000`, resamples);
}

/** Throws `statistics.bad-option` unless `value` lies strictly between 0 and 1. */
export function checkShare(name: string, value: number): number {
  if (value > 0 && value < 1) return value;
  throw badOption(name, 'a number between 0 and 1', value);
}

/** Throws `statistics.bad-option` unless `value` is a whole number of at least `least`. */
export function checkCount(name: string, value: number, least: number): number {
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw badOption(name, `a whole number from ${least}`, value);
}

/** An option with a value that it cannot take, said in one form. */
export function badOption(name: string, expected: string, found: unknown): StatisticsError {
  return new StatisticsError(
    'statistics.bad-option',
    `${name}: expected ${expected}, found ${typeof found === 'number' ? found : JSON.stringify(found)}.`,
  );
}
