/** The grader `pattern`: a regular expression is found in the answer, in time that grows only with its length. */
import { RE2JS } from 're2js';
import { jsonDigest } from '../../digest.ts';
import { messageOf } from '../../errors.ts';
import type { Json } from '../../protocol/json.ts';
import { found, type Grader, type GraderOptions, passIf } from './grader.ts';

/** Expressions are of RE2, without look-around and back-references: an answer must not be able to stop the grader. */
export function pattern({ ignoreCase = false }: GraderOptions<'pattern'>): Grader {
  const flags = RE2JS.MULTILINE | (ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
  return {
    kind: 'pattern',
    digest: jsonDigest({ kind: 'pattern', version: 1, ignoreCase }),
    files: [],
    when: 'at-once',
    wants(expect: Json) {
      if (typeof expect !== 'string' || expect === '')
        return `should expect a regular expression, found ${found(expect)}`;
      try {
        RE2JS.compile(expect, flags);
        return null;
      } catch (thrown) {
        return `should expect a regular expression: ${messageOf(thrown)}`;
      }
    },
    async grade({ item, answer }) {
      const fits = RE2JS.compile(String(item.expect), flags).matcher(answer).find();
      return passIf(fits, fits ? 'found' : 'not found');
    },
  };
}
