/** The grader `numeric`: the last number of the answer lies near enough to the expected one. */
import { jsonDigest } from '../../digest.ts';
import { found, type Grader, type GraderOptions, passIf } from './grader.ts';

// A number with or without groups of three, not inside a word: the 4 of `gpt-4` and of `v4` is none. The hyphen of a word
// before it is no minus. `1,2` may be a number or two, and is none.
const number =
  /(?<![\p{L}\p{N}_.,-])[-\u2212+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\p{L}\p{N}_]|[.,]\p{N})/gu;

/** The last number that stands in a text; undefined for none. */
export function lastNumber(text: string): number | undefined {
  const written = [...text.matchAll(number)].at(-1)?.[0];
  return written === undefined ? undefined : Number(written.replaceAll(',', '').replace('\u2212', '-'));
}

/** Near enough is within `tolerance`, or within `relative` of the expected value; both 0 by default. */
export function numeric({ tolerance = 0, relative = 0 }: GraderOptions<'numeric'>): Grader {
  return {
    kind: 'numeric',
    digest: jsonDigest({ kind: 'numeric', version: 1, tolerance, relative }),
    files: [],
    when: 'at-once',
    wants: (expect) => (typeof expect === 'number' ? null : `should expect a number, found ${found(expect)}`),
    async grade({ item, answer }) {
      const said = lastNumber(answer);
      if (said === undefined) return passIf(false, 'no number');
      const wanted = Number(item.expect);
      const off = Math.abs(said - wanted);
      // Half a step of the last digit of a double, so that 0.3 is 0.1 + 0.2.
      const rounding = Number.EPSILON * Math.max(Math.abs(said), Math.abs(wanted));
      const room = Math.max(tolerance, relative * Math.abs(wanted)) + rounding;
      return passIf(off <= room, `${said}, off by ${off}`);
    },
  };
}
