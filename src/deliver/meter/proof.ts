/** Whether our text stands in a request where it was measured to stand, and which requests have to hold it. */
import type { DeliveryPlan, Position } from '../../protocol/delivery.ts';
import { kindOf } from '../recorder/conversations.ts';
import { type InputPart, isAbove, type ModelRequest, positionOf } from '../recorder/model-request.ts';

export type Judgement =
  | { readonly lane: 'side' }
  /** `text` is null where there is no text to look for. */
  | { readonly lane: 'main'; readonly text: Position | null }
  /** A request of the task in which the text does not stand as it should. */
  | { readonly lane: 'main'; readonly found: string };

export interface Proof {
  /** Looks at the requests of one run in the order in which they come. */
  judge(request: ModelRequest): Judgement;
  /** Where the text has to stand, in words. */
  readonly expected: string;
}

/** Opens the proof of one run. Without a cell the text may stand anywhere above the conversation, but once. */
export function openProof(text: string, { cell, intent }: Pick<DeliveryPlan, 'cell' | 'intent'>): Proof {
  const position = cell?.position ?? null;
  const expected = position === null ? `${intent}, in one place` : placeText(position);
  let main: { readonly kind: string; readonly tools: number } | undefined;
  const mustHold = (request: ModelRequest, copies: readonly Position[]): boolean => {
    const kind = kindOf(request);
    if (main === undefined) {
      // An agent works with tools; what names a session or chooses a model has none.
      if (copies.length === 0 && request.tools.length === 0) return false;
      main = { kind, tools: request.tools.length };
      return true;
    }
    if (kind === main.kind) return true;
    if (request.tools.length < main.tools) return false;
    // Its own tools may have changed; the task's conversation is the one with the most of them.
    main = { kind, tools: request.tools.length };
    return true;
  };
  return {
    expected,
    judge(request) {
      const copies = text === '' ? [] : copiesOf(request, text, position);
      if (!mustHold(request, copies)) return { lane: 'side' };
      if (text === '') return { lane: 'main', text: null };
      const [first] = copies;
      if (first === undefined) return { lane: 'main', found: 'it does not stand there' };
      const places = copies.map(placeText).join(', ');
      if (copies.length > 1) return { lane: 'main', found: `it stands ${copies.length} times: ${places}` };
      if (position !== null && !isSame(first, position))
        return { lane: 'main', found: `it stands at ${places}` };
      return { lane: 'main', text: first };
    },
  };
}

/** The places of all copies. What is said in the conversation may quote the text: there only the measured entry counts. */
function copiesOf({ parts }: ModelRequest, text: string, position: Position | null): readonly Position[] {
  const looked = parts.filter((part) => isLookedAt(part, position) || isSame(positionOf(part), position));
  return looked.flatMap((part) => {
    const copies = part.text.split(text).length - 1;
    return Array.from({ length: copies }, () => positionOf(part));
  });
}

/** Without a measurement a text of the lower surface may be the user's first message. */
function isLookedAt(part: InputPart, position: Position | null): boolean {
  return isAbove(part) || (position === null && part.role === 'user' && part.index === 0);
}

function isSame(place: Position, other: Position | null): boolean {
  return place.field === other?.field && place.role === other.role && place.index === other.index;
}

function placeText({ field, role, index }: Position): string {
  return `${index === null ? field : `${field}[${index}]`} (${role})`;
}
