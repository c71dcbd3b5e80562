/** Which capabilities a session holds: a starting point, what a deployment, a workspace and a parent allow, and what was asked. */
import { ComposeError } from './errors.ts';
import { unknownName } from './nearest.ts';

/** `all`, `none`, the names that are on, or a starting point with names turned on and off. */
export type CapabilityRequest =
  | 'all'
  | 'none'
  | readonly string[]
  | { readonly from: CapabilityStart; readonly set: Readonly<Record<string, boolean>> };

/** Everything, nothing, or what an agent holds by itself. */
export type CapabilityStart = 'all' | 'none' | { readonly agent: readonly string[] };

export interface CapabilityLimits {
  /** Every name that there is. */
  readonly known: readonly string[];
  /** What a deployment or a workspace took away, and the source that did. */
  readonly unavailable?: readonly { readonly name: string; readonly by: string }[];
  /** What the parent of a child session holds; left out where there is no parent. */
  readonly parent?: readonly string[];
  /** What is turned on by something else that was given, as a goal turns on `goals`, and what that is. */
  readonly implied?: readonly { readonly name: string; readonly by: string }[];
}

/** The frozen answer; a session keeps it, so that nothing widens later. */
export interface CapabilityResolution {
  readonly version: 1;
  readonly from: 'all' | 'none' | 'agent';
  /** What is held, in the order of the names. */
  readonly capabilities: readonly string[];
  /** What cannot be had here, in the order of the names. */
  readonly unavailable: readonly string[];
}

/**
 * Resolves a request. A starting point is cut to what is available and to what the parent holds, without a word; a name
 * that was turned on itself is refused where it cannot be had: `compose.capability-unavailable` by the deployment or the
 * workspace, `compose.capability-widening` by the parent. What is implied counts as turned on itself; turned off beside it, it
 * is `compose.capability-conflict`. Throws `compose.unknown-name` for a name that there is not.
 */
export function resolveCapabilities(
  request: CapabilityRequest,
  { known, unavailable = [], parent, implied = [] }: CapabilityLimits,
): CapabilityResolution {
  const { from, set: asked } = formOf(request);
  for (const { name, by } of implied) if (asked[name] === false) throw conflict(name, by);
  const set = { ...asked, ...Object.fromEntries(implied.map(({ name }) => [name, true])) };
  for (const name of Object.keys(set))
    if (!known.includes(name)) throw unknownName('capability', name, known);
  const gone = new Map(unavailable.map(({ name, by }) => [name, by]));
  for (const [name, on] of Object.entries(set)) if (on) mustBeFree(name, gone, parent);
  const start = from === 'all' ? known : from === 'none' ? [] : from.agent;
  const held = new Set(start.filter((name) => !gone.has(name) && (parent?.includes(name) ?? true)));
  for (const [name, on] of Object.entries(set)) {
    if (on) held.add(name);
    else held.delete(name);
  }
  return Object.freeze({
    version: 1,
    from: typeof from === 'string' ? from : 'agent',
    capabilities: Object.freeze([...held].sort()),
    unavailable: Object.freeze([...gone.keys()].filter((name) => known.includes(name)).sort()),
  });
}

/**
 * What a child session holds: of its request as much as the parent's frozen answer allows. What was unavailable to the
 * parent stays so, and nothing that came free since is had again. Throws as `resolveCapabilities` does.
 */
export function narrowCapabilities(
  parent: CapabilityResolution,
  request: CapabilityRequest,
  { known, implied = [] }: Pick<CapabilityLimits, 'known' | 'implied'>,
): CapabilityResolution {
  const unavailable = parent.unavailable.map((name) => ({ name, by: 'the parent session' }));
  return resolveCapabilities(request, { known, unavailable, parent: parent.capabilities, implied });
}

function formOf(request: CapabilityRequest): Exclude<CapabilityRequest, string | readonly string[]> {
  if (typeof request === 'string') return { from: request, set: {} };
  if ('from' in request) return request;
  return { from: 'none', set: Object.fromEntries(request.map((name) => [name, true])) };
}

function mustBeFree(
  name: string,
  gone: ReadonlyMap<string, string>,
  parent: readonly string[] | undefined,
): void {
  const by = gone.get(name);
  if (by !== undefined) {
    throw new ComposeError(
      'compose.capability-unavailable',
      `The capability '${name}' was turned on, and ${by} says that it is unavailable.`,
      { next: `Leave ${name} off, or change ${by}.`, details: { capability: name, by } },
    );
  }
  if (parent === undefined || parent.includes(name)) return;
  throw new ComposeError(
    'compose.capability-widening',
    `The capability '${name}' was turned on for a child whose parent does not hold it.`,
    { next: `Leave ${name} off, or give it to the parent.`, details: { capability: name } },
  );
}

function conflict(name: string, by: string): ComposeError {
  return new ComposeError(
    'compose.capability-conflict',
    `The capability '${name}' was turned off, and ${by} needs it.`,
    { next: `Turn ${name} on, or leave ${by} out.`, details: { capability: name, by } },
  );
}
