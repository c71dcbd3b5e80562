/** The grader `exact`: the answer, or its last line, is the expected text. */
import { jsonDigest } from '../../digest.ts';
import { found, type Grader, type GraderOptions, passIf } from './grader.ts';

/** Outer blank space never counts; letter case does unless told otherwise. */
export function exact({ ignoreCase = false, line = 'whole' }: GraderOptions<'exact'>): Grader {
  const plain = (text: string) => {
    const kept = text.trim().normalize('NFC');
    return ignoreCase ? kept.toLowerCase() : kept;
  };
  return {
    kind: 'exact',
    digest: jsonDigest({ kind: 'exact', version: 1, ignoreCase, line }),
    files: [],
    when: 'at-once',
    wants: (expect) =>
      typeof expect === 'string' && expect.trim() !== ''
        ? null
        : `should expect a text, found ${found(expect)}`,
    async grade({ item, answer }) {
      const said = line === 'last' ? (answer.trim().split('\n').at(-1) ?? '') : answer;
      const same = plain(said) === plain(String(item.expect));
      return passIf(same, same ? 'the expected text' : 'another text');
    },
  };
}
