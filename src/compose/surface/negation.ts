/** Negative evidence: which units a task says not to use, by name, alias, category or server. */
import type { Phrases } from './phrases.ts';
import type { Word } from './words.ts';

const fillers = new Set(
  'the a an any your my this that using use calling ever tool tools skill skills server mcp'.split(' '),
);
const using = new Set(['use', 'using', 'call', 'calling', 'invoke', 'invoking']);
const denying = new Set(['not', 'never', 'dont', 'cannot', 'nothing', 'nobody']);

/**
 * Documents that the task says not to use, with the words that say so. Read are `without X`, `avoid X` and `do not use X` with
 * the ways to write them (`don't`, `never`, `must not`, `call`), and lists of X. `Do not finish without X` asks for X and is
 * no negative evidence.
 */
export function negatedIn(words: readonly Word[], names: Phrases<number>): Map<number, string> {
  const negated = new Map<number, string>();
  for (let i = 0; i < words.length; i += 1) {
    const after = afterMarker(words, i);
    if (after === undefined) continue;
    for (const { documents, from, to } of listed(words, after, names)) {
      const said = [...words.slice(i, after), ...words.slice(from, to)].map((word) => word.written).join(' ');
      for (const document of documents) if (!negated.has(document)) negated.set(document, said);
    }
  }
  return negated;
}

/** Where the words behind a marker begin; undefined where none begins at `at`. */
function afterMarker(words: readonly Word[], at: number): number | undefined {
  const text = words[at]?.text;
  if (text === 'avoid') return at + 1;
  if (text === 'without') return deniedBefore(words, at) ? undefined : at + 1;
  const not = text === 'not' || text === 'never' || text === 'dont';
  // An apostrophe parts `don't` into two words.
  const next = not ? at + 1 : text === 'don' && words[at + 1]?.text === 't' ? at + 2 : undefined;
  if (next === undefined) return undefined;
  const verb = words[next]?.text === 'ever' ? next + 1 : next;
  return using.has(words[verb]?.text ?? '') ? verb + 1 : undefined;
}

function deniedBefore(words: readonly Word[], at: number): boolean {
  for (let i = at; i > 0 && words[i]?.gap === 'none'; i -= 1) {
    const before = words[i - 1]?.text ?? '';
    if (denying.has(before) || (before === 't' && words[i - 2]?.text === 'don')) return true;
  }
  return false;
}

interface Match {
  readonly documents: readonly number[];
  readonly from: number;
  readonly to: number;
}

/** The names from `at` on: `X`, `X or Y`, `X, Y and Z`. */
function* listed(words: readonly Word[], at: number, names: Phrases<number>): Generator<Match> {
  let found = nameAt(words, at, names);
  while (found !== undefined) {
    yield found;
    const next = words[found.to];
    if (next === undefined || next.gap === 'end') return;
    const either = next.text === 'or' || next.text === 'nor';
    const both = next.text === 'and';
    if (!either && !both && next.gap !== 'comma') return;
    const more = nameAt(words, either || both ? found.to + 1 : found.to, names);
    // `without the browser and email Ann` goes on with a verb: unless `or` joins them, a further name must end the phrase.
    if (more === undefined || (!either && !endsPhrase(words[more.to]))) return;
    found = more;
  }
}

function endsPhrase(next: Word | undefined): boolean {
  return next === undefined || next.gap !== 'none' || ['or', 'nor', 'and'].includes(next.text);
}

/** The longest name that begins at a word, articles and the like passed over. */
function nameAt(words: readonly Word[], at: number, names: Phrases<number>): Match | undefined {
  for (let start = at; start < words.length; start += 1) {
    const gap = words[start]?.gap;
    if (gap === 'end' || (start > at && gap === 'comma')) return undefined;
    let longest: Match | undefined;
    for (const { end, values } of names.at(words, start))
      longest = { documents: values, from: start, to: end };
    if (longest !== undefined) return longest;
    if (!fillers.has(words[start]?.text ?? '')) return undefined;
  }
  return undefined;
}
