/** Draws one stored event: a whole line for a program, and for a person lines that fit the terminal. */
import type { RunEvent } from '../../protocol/events.ts';
import { isRecord } from '../../protocol/json.ts';
import { moment, shortDigest } from './figures.ts';
import { unknownIsNull } from './unknown-is-null.ts';
import { visible, visibleLine } from './visible.ts';
import { wrapItems } from './wrap.ts';

/** The event as one object for a program: an amount of which nothing is known is null. */
export function eventJson(event: RunEvent): string {
  return JSON.stringify(unknownIsNull(event));
}

/** One line without an end: number, time, type, and the rest as JSON. */
export function eventLine(event: RunEvent): string {
  const { seq, at, type, rest } = partsOf(event);
  return `${seq}  ${moment(at)}  ${type.padEnd(16)}  ${visible(JSON.stringify(rest))}`;
}

const indent = '      ';

/** The same for a terminal: broken at its width between the members, and digests short. */
export function eventBlock(event: RunEvent, cells: number): readonly string[] {
  const { seq, at, type, rest } = partsOf(event);
  const items = membersOf('', rest).map(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    const short = text.replaceAll(/\b[0-9a-f]{64}\b/g, shortDigest);
    return visibleLine(`${name} ${short}`, (cells - indent.length) * 3);
  });
  return [
    `${seq}  ${moment(at)}  ${type}`,
    ...wrapItems(items, ' · ', cells - indent.length).map((line) => indent + line),
  ];
}

/** The members of a value, those of its objects under their own names: `usage.totalTokens`. */
function membersOf(name: string, value: unknown): readonly (readonly [string, unknown])[] {
  if (!isRecord(value)) return [[name, value]];
  const inside = name === '' ? '' : `${name}.`;
  return Object.entries(value).flatMap(([key, member]) => membersOf(inside + key, member));
}

function partsOf(event: RunEvent) {
  const { seq, at, type, run: _run, epoch: _epoch, ...rest } = event;
  return { seq: String(seq).padStart(4), at, type, rest: unknownIsNull(rest) };
}
