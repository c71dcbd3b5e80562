/** One intent of one harness, measured: where its text lands, what stays beside it, and which texts suffer on the way. */
import { type Cell, type TextTrait, textTraits } from '../../protocol/delivery.ts';
import type { Fidelity, Intent } from '../../protocol/intent.ts';
import { DeliverError } from '../errors.ts';
import { type InputPart, isAbove, type ModelRequest } from '../recorder/model-request.ts';
import type { CellHead } from './claimed-cell.ts';
import { type Arrival, arrivalOf, copiesOf, holdsText, type Place, placeOf, residueOf } from './observe.ts';
import type { Seen, Stage } from './stage.ts';
import { allTraps, namedFile, plain, type Trap, type TrapSet, together } from './traps.ts';

export interface TrapResult {
  readonly trait: TextTrait;
  /** `refused`: the plan says by itself that it cannot carry the text. `failed`: no request came of it. */
  readonly outcome: Arrival | 'refused' | 'failed';
  readonly detail: string | null;
}

/** The harness without us: what it says above the conversation, and how much that is. */
export interface BuiltIn {
  readonly parts: readonly InputPart[];
  readonly bytes: number;
}

export interface IntentReport {
  readonly intent: Intent;
  /** One for each fidelity. Empty where no turn came to a request. */
  readonly cells: readonly Cell[];
  readonly traps: readonly TrapResult[];
  /** Why there is no cell; null where there is one. */
  readonly fault: string | null;
}

/** The report, and what later measurements compare with: a plain turn, and where the text stood in it. */
export interface MeasuredIntent {
  readonly report: IntentReport;
  readonly seen: Seen;
  readonly place: Place | undefined;
}

/** Runs a plain text and then the traps. */
export async function measureIntent(
  stage: Stage,
  intent: Intent,
  head: CellHead,
  builtIn: BuiltIn | null,
  set: TrapSet = allTraps,
): Promise<MeasuredIntent> {
  const seen = await stage.turn({ intent, text: plain.text });
  const [request] = seen.main;
  if (request === undefined)
    return { report: { intent, cells: [], traps: [], fault: whyNothing(seen) }, seen, place: undefined };
  const place = placeOf(request, plain.text);
  const traps = place === undefined ? [] : await springAll(stage, intent, set, place, request);
  const base = cellOf(head, intent, 'base', request, traps, builtIn);
  const exact = intent === 'replace' ? [await exactCell(stage, seen, base, builtIn)] : [];
  return { report: { intent, cells: [base, ...exact], traps, fault: null }, seen, place };
}

function cellOf(
  head: CellHead,
  intent: Intent,
  fidelity: Fidelity,
  request: ModelRequest,
  traps: readonly TrapResult[],
  builtIn: BuiltIn | null,
): Cell {
  const place = placeOf(request, plain.text);
  const suffered = traps.filter(({ outcome }) => outcome !== 'equal' && outcome !== 'refused');
  return {
    ...head,
    intent,
    fidelity,
    delivered: isHonoured(intent, request, place, builtIn),
    position: place?.position ?? null,
    residue: residueOf(request, plain.text),
    builtInBytes: builtIn?.bytes ?? null,
    byteEquality: place !== undefined,
    altered: textTraits.filter((trait) => suffered.some((one) => one.trait === trait)),
  };
}

/** An intent is more than that the text arrived: where the vendor's prompt went decides which one was honoured. */
export function isHonoured(
  intent: Intent,
  request: ModelRequest,
  place: Place | undefined,
  builtIn: BuiltIn | null,
): boolean {
  if (place === undefined) return false;
  switch (intent) {
    case 'replace':
      return isAbove(place.part) && isGone(request, place, builtIn);
    case 'append':
      return isAbove(place.part) && isKept(request, builtIn);
    case 'developer':
      return place.part.role === 'developer' && isKept(request, builtIn);
    case 'context':
      return isKept(request, builtIn);
  }
}

/** Whether the vendor's text in whose place ours stands is nowhere. Where it was not seen, nobody can say that. */
function isGone(request: ModelRequest, { position, part }: Place, builtIn: BuiltIn | null): boolean {
  const replaced = builtIn?.parts.filter(
    (one) => one.field === position.field && one.index === part.index && one.part === part.part,
  );
  if (replaced === undefined || replaced.length === 0) return false;
  return replaced.every(({ text }) => !holdsText(request, text));
}

const headingBytesMax = 200;

/** Whether all of the vendor's is still there; its short lines may change with what is asked for. */
function isKept(request: ModelRequest, builtIn: BuiltIn | null): boolean {
  const parts = builtIn?.parts.filter(({ bytes }) => bytes > headingBytesMax) ?? [];
  return parts.every(({ text }) => holdsText(request, text));
}

/** The cell of fidelity exact: that of base, unless the harness has another plan for it. */
async function exactCell(stage: Stage, seen: Seen, base: Cell, builtIn: BuiltIn | null): Promise<Cell> {
  const wish = { intent: 'replace', text: plain.text, fidelity: 'exact' } as const;
  const does = ({ argv, env, files, stdin }: Seen['plan']) => JSON.stringify([argv, env, files, stdin]);
  if (does(stage.plan(wish)) === does(seen.plan)) return { ...base, fidelity: 'exact' };
  const [request] = (await stage.turn(wish)).main;
  if (request === undefined)
    return { ...base, fidelity: 'exact', delivered: false, position: null, byteEquality: false };
  return { ...cellOf(base, 'replace', 'exact', request, [], builtIn), altered: base.altered };
}

async function springAll(
  stage: Stage,
  intent: Intent,
  { alone, joined }: TrapSet,
  place: Place,
  plainRequest: ModelRequest,
): Promise<readonly TrapResult[]> {
  const results: TrapResult[] = [];
  // What the plan refuses by itself needs no turn, and would have the others refused with it.
  const carried = joined.filter((trap) => whyRefused(stage, intent, trap) === null);
  const each = [...alone, ...joined.filter((trap) => !carried.includes(trap))];
  for (const trap of each) results.push(...(await spring(stage, intent, trap, place, plainRequest)));
  const all = await spring(stage, intent, together(carried), place, plainRequest);
  if (all.every(({ outcome }) => outcome === 'equal')) return [...results, ...all];
  for (const trap of carried) results.push(...(await spring(stage, intent, trap, place, plainRequest)));
  return results;
}

function whyRefused(stage: Stage, intent: Intent, { text }: Trap): string | null {
  try {
    stage.plan({ intent, text });
    return null;
  } catch (thrown) {
    if (thrown instanceof DeliverError && thrown.kind === 'refused') return thrown.message;
    throw thrown;
  }
}

async function spring(
  stage: Stage,
  intent: Intent,
  trap: Trap,
  place: Place,
  plainRequest: ModelRequest,
): Promise<readonly TrapResult[]> {
  const result = (outcome: TrapResult['outcome'], detail: string | null = null) =>
    trap.traits.map((trait) => ({ trait, outcome, detail }));
  const refused = whyRefused(stage, intent, trap);
  if (refused !== null) return result('refused', refused);
  const seen = await stage.turn({ intent, text: trap.text });
  const [request] = seen.main;
  if (request === undefined) return result('failed', whyNothing(seen));
  if (copiesOf(request, namedFile.text) > 0)
    return result('altered', 'the file that the text names was read');
  if (trap.text === '') return result(...emptyArrival(intent, request, plainRequest));
  return result(arrivalOf(request, trap, place));
}

/** An empty text replaces by nothing, and adds nothing: what stands above may then not be more than beside a text. */
function emptyArrival(
  intent: Intent,
  request: ModelRequest,
  plainRequest: ModelRequest,
): [TrapResult['outcome'], string | null] {
  const [beside, now] = [residueOf(plainRequest, plain.text).bytes, residueOf(request, '').bytes];
  // Lines with a time or a path in them may differ by a few bytes.
  if (now <= beside + 64) return ['equal', null];
  return [
    'altered',
    `${now} bytes of the vendor's stand above the conversation, ${beside} beside another text (${intent})`,
  ];
}

/** Why a turn came to no request, from what the program said last. */
export function whyNothing({ end, unreadable }: Pick<Seen, 'end' | 'unreadable'>): string {
  const said = (end.stderr.trim() || end.stdout.trim()).split('\n').at(-1) ?? '';
  const why = end.stopped ?? `it ended with exit code ${end.exitCode}`;
  const read = unreadable.length === 0 ? '' : `; a request could not be read: ${unreadable[0]}`;
  return `no request to a model was seen: ${why}${read}${said === '' ? '' : `; it said: ${said.slice(0, 200)}`}`;
}
