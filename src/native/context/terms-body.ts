/** A list of JSON values as the payload of a context: addressed by item, searched on each item's JSON text. */
import type { Json } from '../../protocol/json.ts';
import { fitText, jsonBytes, openBasket } from './fit.ts';
import type { Pace } from './limits.ts';
import {
  type ContextBody,
  type Found,
  type Hit,
  mappings,
  mustBeNamed,
  mustBeWhole,
  outOfRange,
  type Part,
  type SearchRequest,
  type SearchValue,
  type Work,
} from './operations.ts';
import { compilePattern } from './pattern.ts';
import { cased } from './text-body.ts';

/** `{"hits":[],"next":…,"skipped":0}` with a number of any length. */
const searchFrame = 60;

/** Copies the list as JSON text, so that nobody can change it later. */
export function termsBody(items: readonly Json[]): ContextBody {
  const terms = items.map((item) => JSON.stringify(item));
  const bytes = terms.reduce((sum, term) => sum + Buffer.byteLength(term), 0);
  const count = terms.length;
  return {
    metadata: { kind: 'terms', bytes, characters: null, items: count },
    check: async () => {},
    async peek(work, selector) {
      if (selector.type === 'item') {
        mustBeWhole('index', selector.index, 0);
        if (selector.index >= count) throw outOfRange('index', selector.index, count - 1, 'the last item');
        return oneItem(work, terms[selector.index] ?? 'null');
      }
      mustBeNamed('peek', ['head', 'tail'], selector.type);
      mustBeWhole('count', selector.count, 0);
      const isHead = selector.type === 'head';
      const some = isHead ? terms.slice(0, selector.count) : terms.slice(Math.max(0, count - selector.count));
      // The end of a list is what was asked for, so what does not fit is left out at its beginning.
      const value = isHead ? take(work, some) : take(work, some.reverse()).reverse();
      return { value, truncated: value.length < count };
    },
    async slice(work, { start, length }) {
      mustBeWhole('start', start, 0);
      mustBeWhole('length', length, 0);
      if (start > count) throw outOfRange('start', start, count, 'items');
      const asked = terms.slice(start, start + length);
      const value = take(work, asked, jsonBytes({ start, value: [], next: count }));
      const end = start + value.length;
      return {
        value: { start, value, next: end < count ? end : null },
        truncated: value.length < asked.length,
      };
    },
    search: (work, request) => search(terms, work, request),
    async partition(work, { type, size }) {
      mustBeNamed('partition', ['fixed'], type);
      mustBeWhole('size', size, 1);
      const basket = openBasket<Part>(work.limits.resultsMax, work.limits.bytesMax);
      for (let start = 0; start < count; start += size) {
        const part = terms.slice(start, start + size);
        inspect(work, part);
        const value: Json[] = part.map((term) => JSON.parse(term));
        if (!basket.offer({ index: start / size, start, length: part.length, value })) break;
        await work.pace.step();
        if (work.pace.spent()) break;
      }
      return { value: basket.items, truncated: basket.items.length < Math.ceil(count / size) };
    },
    async map(work, how) {
      mustBeNamed('map', mappings, how);
      const basket = openBasket<Json>(work.limits.resultsMax, work.limits.bytesMax);
      for (const term of terms) {
        inspect(work, [term]);
        const item: Json = JSON.parse(term);
        if (!basket.offer(how === 'identity' ? item : cased(textOf(item, term), how))) break;
        await work.pace.step();
        if (work.pace.spent()) break;
      }
      return { value: basket.items, truncated: basket.items.length < count };
    },
    texts: (pace) => pieces(terms, pace),
    close: async () => {},
  };
}

async function oneItem(work: Work, term: string): Promise<Found<Json>> {
  inspect(work, [term]);
  if (Buffer.byteLength(term) <= work.limits.bytesMax) return { value: JSON.parse(term), truncated: false };
  return { value: fitText(textOf(JSON.parse(term), term), work.limits.bytesMax), truncated: true };
}

/** As many whole items as fit; the text of the first, cut, where not even that one does. */
function take(work: Work, some: readonly string[], frame = 2): Json[] {
  const { resultsMax, bytesMax } = work.limits;
  const basket = openBasket<Json>(resultsMax, bytesMax, frame);
  for (const term of some) {
    inspect(work, [term]);
    if (!basket.offer(JSON.parse(term))) break;
  }
  return basket.items;
}

async function search(
  terms: readonly string[],
  work: Work,
  request: SearchRequest,
): Promise<Found<SearchValue>> {
  const pattern = await compilePattern(request);
  const from = request.from ?? 0;
  mustBeWhole('from', from, 0);
  if (from > terms.length) throw outOfRange('from', from, terms.length, 'items');
  const basket = openBasket<Hit>(work.limits.resultsMax, work.limits.bytesMax, searchFrame);
  let index = from;
  let cut = false;
  for (; index < terms.length; index += 1) {
    const term = terms[index] ?? '';
    inspect(work, [term]);
    if (pattern.find(term) !== undefined) {
      const hit = { index, at: null, value: term };
      if (!basket.offer(hit)) {
        if (basket.items.length > 0) break;
        cut = true;
        const room = basket.room() - jsonBytes({ ...hit, value: '' }) + 2;
        basket.offer({ ...hit, value: fitText(term, room) });
      }
    }
    await work.pace.step();
    // At least one item is searched, so that going on always gets further.
    if (work.pace.spent()) {
      index += 1;
      break;
    }
  }
  const next = index < terms.length ? index : null;
  return { value: { hits: basket.items, next, skipped: 0 }, truncated: cut || next !== null };
}

function inspect(work: Work, some: readonly string[]): void {
  for (const term of some) work.inspect(Buffer.byteLength(term));
}

/** A text as it is, anything else as its JSON. */
function textOf(item: Json, term: string): string {
  return typeof item === 'string' ? item : term;
}

async function* pieces(terms: readonly string[], pace: Pace): AsyncGenerator<string, void, void> {
  for (const term of terms) {
    yield term;
    await pace.step();
  }
}
