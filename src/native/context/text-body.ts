/** A text as the payload of a context: addressed by character and line, read by ranges, never held whole. */
import type { Json } from '../../protocol/json.ts';
import { blockReader, exactReader } from './block-reader.ts';
import type { ByteSource } from './bytes.ts';
import { ContextError } from './errors.ts';
import { fitText, jsonBytes, openBasket } from './fit.ts';
import type { Pace } from './limits.ts';
import {
  type ContextBody,
  type Found,
  type Mapping,
  mappings,
  mustBeNamed,
  mustBeWhole,
  outOfRange,
  type Part,
  type Partition,
  type Work,
} from './operations.ts';
import { compilePattern } from './pattern.ts';
import { searchText } from './search.ts';
import { beginsCharacter, indexText, lastBoundary, type Text, type TextIndex } from './text-index.ts';

const pieceBytes = 64 * 1024;

/** Indexes a text in one pass; the body closes the source, also if the pass fails. Throws `context.not-text`. */
export async function openTextBody(source: ByteSource, pace: Pace): Promise<ContextBody> {
  let index: TextIndex;
  try {
    index = await indexText(source, pace);
  } catch (thrown) {
    await source.close();
    throw thrown;
  }
  const { characters, lines } = index;
  const near = (work: Work): Text => ({ size: source.size, index, read: blockReader(source, work) });
  const exact = (work: Work): Text => ({ size: source.size, index, read: exactReader(source, work) });
  return {
    metadata: { kind: 'text', bytes: source.size, characters, items: lines },
    check: () => source.check(),
    async peek(work, selector) {
      if (selector.type === 'item') {
        throw new ContextError('context.unsupported-operation', 'item: expected a list, found a text.', {
          next: 'Peek at its head or tail, or slice it by characters.',
        });
      }
      mustBeNamed('peek', ['head', 'tail'], selector.type);
      mustBeWhole('count', selector.count, 0);
      return selector.type === 'head'
        ? head(exact(work), work, selector.count)
        : tail(exact(work), work, selector.count);
    },
    async slice(work, { start, length }) {
      mustBeWhole('start', start, 0);
      mustBeWhole('length', length, 0);
      if (start > characters) throw outOfRange('start', start, characters, 'characters');
      const frame = jsonBytes({ start, value: '', next: characters }) - 2;
      const asked = Math.min(length, characters - start);
      const value = await characterRange(near(work), start, asked, work.limits.bytesMax - frame);
      const got = [...value].length;
      const end = start + got;
      return { value: { start, value, next: end < characters ? end : null }, truncated: got < asked };
    },
    async search(work, request) {
      const pattern = await compilePattern(request);
      const from = request.from ?? 0;
      mustBeWhole('from', from, 0);
      if (from > lines) throw outOfRange('from', from, lines, 'lines');
      return searchText(near(work), work, pattern, from);
    },
    partition: (work, how) => partition(near(work), work, how),
    map: (work, how) => map(near(work), work, how),
    texts: (pace) => pieces(source, pace),
    close: () => source.close(),
  };
}

async function head(text: Text, work: Work, count: number): Promise<Found<Json>> {
  const value = await characterRange(text, 0, count, work.limits.bytesMax);
  return { value, truncated: Buffer.byteLength(value) < text.size };
}

async function tail({ size, read }: Text, work: Work, count: number): Promise<Found<Json>> {
  const from = Math.max(0, size - Math.min(count * 4, work.limits.bytesMax));
  const bytes = await read(from, size);
  let start = 0;
  while (start < bytes.length && !beginsCharacter(bytes, start)) start += 1;
  const near = [...bytes.toString('utf8', start)];
  const asked = count === 0 ? '' : near.slice(-count).join('');
  const value = fitText(asked, work.limits.bytesMax, 'end');
  return { value, truncated: Buffer.byteLength(value) < size };
}

/** So many characters from one on, or as many of them as fit. */
async function characterRange(
  { size, index, read }: Text,
  start: number,
  length: number,
  bytesMax: number,
): Promise<string> {
  if (length === 0) return '';
  const first = await index.byteOfCharacter(start, read);
  // Neither more than a character's four bytes each, nor more than can be returned.
  const near = await read(first, Math.min(size, first + Math.min(length * 4, bytesMax + 4)));
  const characters = [...near.toString('utf8', 0, lastBoundary(near))];
  return fitText(characters.slice(0, length).join(''), bytesMax);
}

async function partition(text: Text, work: Work, how: Partition): Promise<Found<readonly Part[]>> {
  mustBeNamed('partition', ['fixed', 'lines'], how.type);
  mustBeWhole('size', how.size, 1);
  const { index, read } = text;
  const units = how.type === 'fixed' ? index.characters : index.lines;
  const count = Math.ceil(units / how.size);
  const basket = openBasket<Part>(work.limits.resultsMax, work.limits.bytesMax);
  for (let part = 0; part < count; part += 1) {
    const [start, end] =
      how.type === 'fixed'
        ? [part * how.size, Math.min(index.characters, (part + 1) * how.size)]
        : [await characterOfLine(part * how.size), await characterOfLine((part + 1) * how.size)];
    const place = { index: part, start, length: end - start };
    const room = basket.room() - jsonBytes({ ...place, value: '' }) + 2;
    // A part that cannot fit is not read.
    if (room < 2) break;
    const value = await characterRange(text, start, end - start, room);
    const isWhole = [...value].length === end - start;
    if (!isWhole && basket.items.length > 0) break;
    basket.offer({ ...place, value });
    if (!isWhole) return { value: basket.items, truncated: true };
    await work.pace.step();
    if (work.pace.spent()) break;
  }
  return { value: basket.items, truncated: basket.items.length < count };

  async function characterOfLine(line: number): Promise<number> {
    return (await index.placeOf(await index.byteOfLine(line, read), read)).character;
  }
}

async function map(text: Text, work: Work, how: Mapping): Promise<Found<Json[]>> {
  mustBeNamed('map', mappings, how);
  const { index, read } = text;
  const basket = openBasket<Json>(work.limits.resultsMax, work.limits.bytesMax);
  for (let line = 0; line < index.lines; line += 1) {
    const start = await index.placeOf(await index.byteOfLine(line, read), read);
    const endByte = await index.byteOfLine(line + 1, read);
    const end = await index.placeOf(endByte, read);
    const length = end.character - start.character;
    const room = basket.room();
    const fitting = await characterRange(text, start.character, length, room);
    const isWhole = [...fitting].length === length;
    const bare = fitting.replace(/\r?\n$/, '');
    const value = how === 'length' ? length - (await lineEndLength(endByte)) : cased(bare, how);
    const offered = (isWhole || how === 'length') && basket.offer(value);
    if (!offered) {
      // Where not even the first fits, its beginning stands for it.
      if (basket.items.length === 0 && how !== 'length')
        basket.offer(fitText(String(cased(bare, how)), room));
      return { value: basket.items, truncated: true };
    }
    await work.pace.step();
    if (work.pace.spent()) break;
  }
  return { value: basket.items, truncated: basket.items.length < index.lines };

  async function lineEndLength(end: number): Promise<number> {
    const bytes = await read(Math.max(0, end - 2), end);
    return /\r?\n$/.exec(bytes.toString('latin1'))?.[0].length ?? 0;
  }
}

/** A text as a mapping changes it; its length in characters is for `length`. */
export function cased(text: string, how: Mapping): Json {
  if (how === 'lowercase') return text.toLowerCase();
  if (how === 'uppercase') return text.toUpperCase();
  return how === 'length' ? [...text].length : text;
}

async function* pieces(source: ByteSource, pace: Pace): AsyncGenerator<string, void, void> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  for (let start = 0; start < source.size; start += pieceBytes) {
    const end = Math.min(start + pieceBytes, source.size);
    yield decoder.decode(await source.read(start, end), { stream: end < source.size });
    await pace.step();
  }
}
