/** The children of one run: begun inside its rights and its budget, watched while it lives, and ended with it. */
import { plainComposition } from '../compose/plain.ts';
import { sha256 } from '../digest.ts';
import { type ErrorJson, messageOf, toErrorJson } from '../errors.ts';
import type { ChildEnd, ChildRequest } from '../harness.ts';
import type { TakenLease } from '../ledger/store.ts';
import { type BudgetAmount, budgetExhausted, depthUsual } from '../protocol/budget.ts';
import type { RunResult } from '../protocol/outcome.ts';
import { noUsage } from '../protocol/usage.ts';
import { begun, type Parent } from './begun.ts';
import { type Budget, checkLimits, summed } from './budget.ts';
import { type ChildRecord, type ChildStart, childrenOf, fingerprintOf } from './child-record.ts';
import { mayBegin } from './child-rules.ts';
import { continued } from './continued.ts';
import { lastOf } from './derive.ts';
import { checkGuarantees } from './guarantees.ts';
import { leaseMs } from './lease.ts';
import type { Line } from './line.ts';
import type { RunSeat } from './seat.ts';
import { newSession, type OpenedSession, readEvents, readText } from './session.ts';
import type { RunWork } from './work.ts';

export interface Children {
  /** See `Host.child`. */
  child(request: ChildRequest, signal?: AbortSignal): Promise<ChildEnd>;
  /** Stops those at work; resolves when each has settled its calls and recorded its end. */
  stop(): Promise<void>;
  /** Ends those that an earlier process left open: their parent is about to end, and nobody would go on with them. */
  endOpen(): Promise<void>;
}

export interface ChildrenParts {
  readonly work: RunWork;
  readonly budget: Budget;
  readonly line: Line;
  readonly signal: AbortSignal;
  /** Carries a run from its lease to its recorded end. */
  readonly drive: (work: RunWork, lease: TakenLease) => Promise<RunResult>;
}

/** Opens the children of a run that is at work. */
export function openChildren(parts: ChildrenParts): Children {
  const { work, budget, line, signal } = parts;
  const atWork = new Map<string, { readonly end: Promise<ChildEnd>; readonly stop: () => void }>();
  const above = new Set(work.parent?.above).add(fingerprintOf(work.task, work.prompt));
  const parent: Parent = { run: work.run, budget, above };

  function start(key: string, part: AbortSignal, run: (signal: AbortSignal) => Promise<ChildEnd>) {
    const link = linked(part);
    const end = run(link.signal).finally(() => {
      atWork.delete(key);
      link.close();
    });
    atWork.set(key, { end, stop: link.stop });
    return end;
  }

  return {
    child(request, part = signal) {
      const { key } = request;
      const here = atWork.get(key);
      if (here !== undefined) return here.end;
      const known = childrenOf(line.told).find((one) => one.start.key === key);
      if (known?.finish !== undefined) return told(work, known);
      return start(key, part, async (stopped) => {
        const again = known === undefined ? undefined : await carriedOn(parts, parent, known.start, stopped);
        return again ?? (await begin(parts, parent, request, stopped));
      });
    },
    async stop() {
      for (const one of atWork.values()) one.stop();
      await Promise.allSettled([...atWork.values()].map((one) => one.end));
    },
    async endOpen() {
      const open = childrenOf(line.told).filter(({ finish }) => finish === undefined);
      for (const { start: one } of open) {
        const stopped = AbortSignal.abort('the run that made it has ended');
        await carriedOn(parts, parent, one, stopped).catch((cause: unknown) => {
          const text = `The child ${one.child} could not be ended: ${messageOf(cause)}`;
          line.note([{ type: 'notice', code: 'run.child-left', text }]);
        });
      }
    },
  };
}

/** Begins a child, or refuses it: then nothing of it exists. */
async function begin(
  parts: ChildrenParts,
  parent: Parent,
  request: ChildRequest,
  signal: AbortSignal,
): Promise<ChildEnd> {
  const { work, budget, line } = parts;
  const { task, instructions, capabilities, tools, withheld, limits } = request;
  const { session, clock } = work;
  const composition =
    instructions === 'parent'
      ? session.composition
      : plainComposition(session.composition.agent, instructions.text);
  const fingerprint = fingerprintOf(task, composition.digest);
  const refused = mayBegin(request, fingerprint, session, parent.above, childrenOf(line.told));
  if (refused !== undefined) return refusedEnd(refused.toJSON());
  const depthLeft = budget.left('depth') ?? depthUsual;
  if (depthLeft < 1) {
    return refusedEnd(budgetExhausted({ counter: 'depth', limit: depthLeft, left: depthLeft, wanted: 1 }));
  }
  // Held as long as the child is at work; taken in one go with the checks, so that no two get the last place.
  const place = budget.reserve({ concurrency: 1 });
  if (!place.granted) return refusedEnd(budgetExhausted(place));
  const run = clock.id('run');
  try {
    const depth = Math.min(limits.depth ?? depthLeft - 1, depthLeft - 1);
    const own = { ...limits, depth };
    let opened: OpenedSession;
    let notices: readonly string[];
    try {
      checkLimits(own);
      notices = checkGuarantees(work.harness, own, work.lowered ?? {});
      opened = await newSession({ ...work, composition, capabilities, task, tools });
      await work.harness.admit?.(opened.session, { task, earlier: [], child: true });
    } catch (cause) {
      return refusedEnd(toErrorJson(cause));
    }
    await line.put([
      {
        type: 'child-start',
        child: run,
        session: opened.record.id,
        key: request.key,
        reason: request.reason,
        fingerprint,
        inherits: {
          instructions: instructions === 'parent' ? 'parent' : 'given',
          prompt: composition.digest,
          capabilities,
          tools: opened.session.projection.tools,
          withheld,
        },
        budget: own,
      },
    ]);
    const seat = { ...seatOf(work, signal), run, task, limits: own, notices, origin: work.origin };
    const child = await begun(seat, opened, parent);
    return conclude(parts, request.key, await parts.drive(child.work, child.lease));
  } finally {
    budget.charge(place.id, { concurrency: 0 });
  }
}

/** Carries on a child that has a start and no end. Undefined where it never came to exist. */
async function carriedOn(
  parts: ChildrenParts,
  parent: Parent,
  { child, key }: ChildStart,
  signal: AbortSignal,
): Promise<ChildEnd | undefined> {
  const { work } = parts;
  const { store, holder } = work;
  const record = await store.run(child);
  if (record === undefined) return undefined;
  const lease = await store.acquire(child, holder, leaseMs);
  let carried: RunWork;
  try {
    const events = await readEvents(store, child);
    const ended = lastOf(events, 'run-finish');
    // Only the word to its parent is missing.
    if (ended !== undefined) {
      await store.release(lease);
      const { status, answer, error, usage, budget } = ended;
      const text = answer === null ? null : await readText(store, answer, 'answer');
      return conclude(parts, key, { run: child, status, answer: text, error, usage, budget, ticket: null });
    }
    if (events.length === 0) {
      await store.release(lease);
      return undefined;
    }
    carried = await continued({ ...seatOf(work, signal), promptNow: null }, record, lease, events);
  } catch (cause) {
    await store.release(lease).catch(() => {});
    throw cause;
  }
  return conclude(parts, key, await parts.drive({ ...carried, parent }, lease));
}

// Events of a child say whose they are; texts as they arrive do not, so that its own are not shown.
function seatOf(work: RunWork, signal: AbortSignal): RunSeat {
  const { harness, store, clock, holder, approve, ask, lowered, onChildEvents } = work;
  return {
    harness,
    store,
    clock,
    holder,
    approve,
    ...(ask === undefined ? {} : { ask }),
    ...(lowered === undefined ? {} : { lowered }),
    ...(onChildEvents === undefined ? {} : { onEvents: onChildEvents, onChildEvents }),
    signal,
  };
}

type Ended = Pick<RunResult, 'run' | 'status' | 'answer' | 'error' | 'usage' | 'budget' | 'ticket'>;

/** Notes the end of a child in the record of its parent, and gives it as the harness sees it. */
function conclude({ line }: ChildrenParts, key: string, result: Ended): ChildEnd {
  const { run: child, status, answer, error, usage, budget, ticket } = result;
  if (status === 'paused') return { status, child, ticket, error, usage };
  const digest = answer === null ? null : sha256(answer);
  line.note([
    {
      type: 'child-finish',
      child,
      key,
      status,
      answer: digest,
      error,
      usage,
      spent: drawn(budget),
    },
  ]);
  return endOf(child, status, answer, error, usage);
}

/** What the record says of a child that ended before. */
async function told({ store }: RunWork, { finish }: ChildRecord): Promise<ChildEnd> {
  if (finish === undefined) throw new Error('A child without an end cannot be told.');
  const { child, status, answer, error, usage } = finish;
  return endOf(child, status, answer === null ? null : await readText(store, answer, 'answer'), error, usage);
}

function endOf(
  child: string,
  status: Exclude<RunResult['status'], 'paused'>,
  answer: string | null,
  error: ErrorJson | null,
  usage: RunResult['usage'],
): ChildEnd {
  if (status === 'completed') return { status, child, answer: answer ?? '', usage };
  return { status, child, error: error ?? toErrorJson(new Error(`It ended as ${status}.`)), usage };
}

function refusedEnd(error: ErrorJson): ChildEnd {
  return { status: 'refused', child: null, error, usage: noUsage };
}

function drawn(report: RunResult['budget']): BudgetAmount {
  const used = Object.entries(report).map(([counter, line]) => [counter, line.used] as const);
  return summed(Object.fromEntries(used));
}

/** A signal that fires with another or on its own, and whose link can be cut. */
function linked(signal: AbortSignal) {
  const controller = new AbortController();
  const stop = () => controller.abort('the run that made it was stopped');
  if (signal.aborted) stop();
  else signal.addEventListener('abort', stop, { once: true });
  return {
    signal: controller.signal,
    stop,
    close: () => signal.removeEventListener('abort', stop),
  };
}
