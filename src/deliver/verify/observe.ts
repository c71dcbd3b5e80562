/** What recorded requests say about a text: whether it arrived, where it stands, and what of the vendor's is beside it. */
import type { Position, Residue } from '../../protocol/delivery.ts';
import { type InputPart, isAbove, type ModelRequest, positionOf } from '../recorder/model-request.ts';
import type { Trap } from './traps.ts';

/** The place of a text, with what stands right before and behind it in the same part. */
export interface Place {
  readonly position: Position;
  readonly part: InputPart;
  readonly before: string;
  readonly behind: string;
}

const edge = 16;
const wordsMax = 60;

/** The first place of a text; a text above the conversation goes before one in it. */
export function placeOf(request: ModelRequest, text: string): Place | undefined {
  const holding = request.parts.filter((part) => part.text.includes(text));
  const part = holding.find(isAbove) ?? holding[0];
  if (part === undefined || text === '') return undefined;
  const at = part.text.indexOf(text);
  return {
    position: positionOf(part),
    part,
    before: part.text.slice(Math.max(0, at - edge), at),
    behind: part.text.slice(at + text.length, at + text.length + edge),
  };
}

export type Arrival = 'equal' | 'altered' | 'lost';

/**
 * Whether a trap stands unaltered where the plain text stood. What is blank at its ends counts as arrived only together
 * with the plain text's neighbours: the blanks of the vendor's own joins would pass for ours.
 */
export function arrivalOf(request: ModelRequest, trap: Trap, plain: Place): Arrival {
  const { field, role } = plain.position;
  const there = request.parts.filter((part) => part.field === field && part.role === role);
  const blankEnds = trap.text !== trap.text.trim();
  const whole = blankEnds ? plain.before + trap.text + plain.behind : trap.text;
  if (there.some(({ text }) => text.includes(whole) && (!blankEnds || isWhole(text, whole, plain))))
    return 'equal';
  return request.parts.some(({ text }) => text.includes(trap.mark)) ? 'altered' : 'lost';
}

// Where the plain text was the whole part, the trap must be: blanks before it would else be overlooked.
function isWhole(text: string, whole: string, plain: Place): boolean {
  const starts = plain.before.length === edge || text.startsWith(whole);
  return starts && (plain.behind.length === edge || text.endsWith(whole));
}

/** The vendor's system and developer text without ours: how much, and how the largest of it begins. */
export function residueOf(request: ModelRequest, text: string): Residue {
  const rests = request.parts
    .filter(isAbove)
    .map((part) => (text === '' ? part.text : part.text.replace(text, '')));
  const largest = rests.reduce((most, rest) => (rest.length > most.length ? rest : most), '');
  return {
    bytes: rests.reduce((sum, rest) => sum + Buffer.byteLength(rest), 0),
    firstWords: firstWords(largest),
  };
}

/** The beginning of a text on one line. */
export function firstWords(text: string): string {
  return text.trim().replace(/\s+/g, ' ').slice(0, wordsMax);
}

/** Whether a text of the vendor's stands above the conversation: by a piece of its middle, for ends may hold a date. */
export function holdsText(request: ModelRequest, vendor: string): boolean {
  const middle = vendor.slice(vendor.length >> 1, (vendor.length >> 1) + 80);
  return middle !== '' && request.parts.some((part) => isAbove(part) && part.text.includes(middle));
}

/** How often a mark stands in all of a request. */
export function copiesOf(request: ModelRequest, mark: string): number {
  return request.parts.reduce((sum, { text }) => sum + text.split(mark).length - 1, 0);
}
