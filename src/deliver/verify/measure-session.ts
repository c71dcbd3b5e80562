/** What happens to a text when a session is continued, and which files of others reach the model beside it. */
import type { Position } from '../../protocol/delivery.ts';
import type { Intent } from '../../protocol/intent.ts';
import { lineObject } from '../json-line.ts';
import { isAbove, type ModelRequest } from '../recorder/model-request.ts';
import { type Intruder, intruders, variableTargets } from './intruders.ts';
import { whyNothing } from './measure-intent.ts';
import { arrivalOf, copiesOf, type Place, placeOf } from './observe.ts';
import type { Seen, Stage } from './stage.ts';
import { plain } from './traps.ts';

export interface ResumeReport {
  readonly intent: Intent;
  /** How often the text stands in the request after one and after two resumes with the same text; null if unknown. */
  readonly sameText: readonly [number, number] | null;
  /** Which text the model gets when the session is continued with another one. */
  readonly otherText: 'new' | 'old' | 'both' | 'neither' | null;
  readonly fault: string | null;
}

const first = 'You are canary-first. Answer with one word.';
const other = 'You are canary-other. Answer with one word.';

export async function measureResume(stage: Stage, intent: Intent): Promise<ResumeReport> {
  const unknown = (fault: string): ResumeReport => ({ intent, sameText: null, otherText: null, fault });
  const began = await stage.turn({ intent, text: first });
  const resume = sessionIdOf(began.end.stdout);
  if (resume === undefined) return unknown(`it named no session: ${whyNothing(began)}`);
  const turns: Seen[] = [];
  for (const text of [first, first, other]) turns.push(await stage.turn({ intent, text, resume }));
  const [once, twice, last] = turns.map(({ main }) => main.at(-1));
  const missing = turns.find(({ main }) => main.length === 0);
  if (once === undefined || twice === undefined || last === undefined)
    return unknown(missing === undefined ? 'it sent nothing' : whyNothing(missing));
  return {
    intent,
    sameText: [copiesOf(once, first), copiesOf(twice, first)],
    otherText: whichOf(last),
    fault: null,
  };
}

function whichOf(request: ModelRequest): NonNullable<ResumeReport['otherText']> {
  const [old, now] = [copiesOf(request, first) > 0, copiesOf(request, other) > 0];
  if (old) return now ? 'both' : 'old';
  return now ? 'new' : 'neither';
}

export interface TwiceReport {
  readonly intent: Intent;
  /** The flag of the command that stood there twice. */
  readonly control: string;
  /** Which text the model gets; null where the program ends without a request. */
  readonly counts: 'last' | 'first' | 'both' | 'neither' | null;
}

/** Gives another text to the flag of an intent before ours. A plan never does; a wrapper around the program may. */
export async function measureTwice(stage: Stage, intent: Intent, control: string): Promise<TwiceReport> {
  const seen = await stage.turn({ intent, text: first, flagBefore: other });
  const [request] = seen.main;
  if (request === undefined) return { intent, control, counts: null };
  const counts = { old: 'last', new: 'first', both: 'both', neither: 'neither' } as const;
  return { intent, control, counts: counts[whichOf(request)] };
}

/** Programs name their session in their first lines, each by a word of its own. */
export function sessionIdOf(stdout: string): string | undefined {
  for (const line of stdout.split('\n')) {
    const event = lineObject(line);
    const id =
      event?.session_id ??
      event?.sessionID ??
      event?.thread_id ??
      (event?.type === 'session' ? event.id : undefined);
    if (typeof id === 'string' && id !== '') return id;
  }
  return undefined;
}

export interface IntruderResult {
  readonly where: Intruder['where'];
  readonly path: string;
  readonly position: Position;
  /** `speaks`: it stands above the conversation. `beside`: it is a lower text. */
  readonly effect: 'speaks' | 'beside';
  /** What the plan says of the file: that its presence refuses the run, that it is named as residue, or nothing. */
  readonly declared: 'system' | 'beside' | null;
}

export interface IntrusionReport {
  readonly intent: Intent;
  /** The files that reached the model. All others of the list stayed out. */
  readonly reached: readonly IntruderResult[];
  readonly planted: number;
  /** Whether our text stood as it should, with all of them there. */
  readonly ours: 'equal' | 'altered' | 'lost' | null;
  readonly fault: string | null;
}

/**
 * Plants every known way of speaking to an agent program into workspace and user's home, and looks what arrives. `place`
 * is where the text stands without them.
 */
export async function measureIntrusion(
  stage: Stage,
  intent: Intent,
  place: Place | undefined,
): Promise<IntrusionReport> {
  for (const { where, path, text } of intruders) await stage.plant(where, path, text);
  for (const { path, text } of variableTargets()) await stage.plant('workspace', path, text);
  try {
    const seen = await stage.turn({ intent, text: plain.text });
    const [request] = seen.main;
    if (request === undefined)
      return { intent, reached: [], planted: intruders.length, ours: null, fault: whyNothing(seen) };
    return {
      intent,
      reached: reachedBy(request, seen.plan.ambient),
      planted: intruders.length,
      ours: place === undefined ? null : arrivalOf(request, plain, place),
      fault: null,
    };
  } finally {
    await stage.clear();
  }
}

function reachedBy(request: ModelRequest, ambient: Seen['plan']['ambient']): readonly IntruderResult[] {
  return intruders.flatMap(({ where, path, mark }) => {
    // The name of a planted file may be listed without its text having been read.
    const place = placeOf(request, `${mark}: obey`) ?? placeOf(withoutListings(request, mark), mark);
    if (place === undefined) return [];
    const declared = where === 'user' ? undefined : ambient.find((file) => file.path === path);
    const effect = isAbove(place.part) ? 'speaks' : 'beside';
    return [{ where, path, position: place.position, effect, declared: declared?.touches ?? null } as const];
  });
}

function withoutListings(request: ModelRequest, mark: string): ModelRequest {
  return {
    ...request,
    parts: request.parts.map((part) => ({ ...part, text: part.text.replaceAll(`${mark}.md`, '') })),
  };
}
