/** A batch of tool calls: all checked before any runs, neighbouring reads at once, writes one at a time, every call ended. */
import { blobOf } from '../digest.ts';
import type { Host, Session } from '../harness.ts';
import { type BudgetAmount, budgetExhausted } from '../protocol/budget.ts';
import { didRun, type EventBody } from '../protocol/events.ts';
import type { HarnessOutcome } from '../protocol/outcome.ts';
import {
  type CallEnd,
  type CallHeld,
  type CallSeat,
  type CheckedCall,
  checkCall,
  failedEnd,
  recordedEnd,
  runCall,
  type Toolbox,
} from './call.ts';
import type { SessionContexts } from './context/session-contexts.ts';
import { add, type Conversation, recallText, toolMessage, type Written } from './conversation.ts';
import { NativeError } from './errors.ts';
import type { Model } from './model/model.ts';
import type { GivenResult, ShownResult } from './policies/session-policies.ts';
import { cancelled } from './request.ts';
import { changedTools } from './surface.ts';
import { resultText } from './tool/result-text.ts';
import type { Tool } from './tool/tool.ts';
import type { Batch } from './transcript.ts';
import { wrapUntrusted } from './untrusted.ts';

/** So many reads of one batch run at the same time. */
const readsAtOnce = 8;

/** What the session's policies make of a result that a tool gave. */
export type ShowResult = (given: GivenResult) => ShownResult;

interface Working extends CallSeat {
  readonly model: Model;
  readonly show?: ShowResult | undefined;
  readonly turn: number;
  /** The exact result messages with their digests, by position from 0; undefined while a call has none. */
  readonly messages: (Written | undefined)[];
}

/** The tools of a session as a batch needs them. */
export function toolboxOf(
  { capabilities, projection }: Session,
  tools: readonly Tool[],
  contexts: SessionContexts | undefined,
): Toolbox {
  const byName = new Map(tools.map((tool) => [tool.schema.name, tool]));
  return {
    shown: projection.tools,
    changed: () => changedTools(projection, byName),
    tools: byName,
    capabilities,
    contexts,
  };
}

/**
 * Ends every call of the batch that has no result yet and appends all results to the conversation in provider order.
 * Returns undefined when the model may go on, and the run's outcome when it may not. A paused batch keeps its open calls.
 */
export async function settleBatch(
  batch: Batch,
  conversation: Conversation,
  toolbox: Toolbox,
  seat: Pick<CallSeat, 'host' | 'run' | 'plans'> & {
    readonly model: Model;
    readonly show?: ShowResult | undefined;
  },
): Promise<HarnessOutcome | undefined> {
  const messages = await Promise.all(batch.calls.map((_, i) => recalled(batch.results[i], seat.host)));
  const working: Working = { ...seat, contexts: toolbox.contexts, toolbox, turn: batch.turn, messages };
  const checked = batch.calls.map((call, i) => checkCall(call, i + 1, toolbox));
  const isOpen = (call: CheckedCall) => messages[call.position - 1] === undefined;
  // What was sent before a crash is told as it is, before budget, approval or a cancel can call it "not run".
  for (const call of checked.filter(isOpen)) {
    const end = call.kind === 'ready' ? await recordedEnd(call, batch.turn, working) : undefined;
    if (end === undefined) continue;
    if (didRun(end.status)) seat.host.spend(amountOf([call]));
    conclude(working, call, end);
  }
  const open = checked.filter(isOpen);
  const outcome = await runOpen(working, open);
  if (outcome?.status === 'paused') return outcome;
  for (const call of open.filter(isOpen)) conclude(working, call, unrun(working, call, outcome));
  for (const message of messages) if (message !== undefined) add(conversation, message);
  return outcome;
}

async function recalled(digest: string | undefined, host: Host): Promise<Written | undefined> {
  return digest === undefined ? undefined : { digest, bytes: await recallText(host, digest) };
}

async function runOpen(working: Working, open: readonly CheckedCall[]): Promise<HarnessOutcome | undefined> {
  const { host } = working;
  // The whole batch must fit before its first call runs: half a batch is no answer to the model.
  const reservation = host.reserve(amountOf(open));
  if (!reservation.granted) {
    const { granted: _, ...spent } = reservation;
    await host.record([{ type: 'budget-refuse', ...spent }]);
    return { status: 'failed', error: budgetExhausted(spent) };
  }
  const ran: CheckedCall[] = [];
  try {
    for (const group of groupsOf(open)) {
      if (host.signal.aborted) return { status: 'cancelled', error: cancelled() };
      const ends = await Promise.all(group.map((call) => runOne(working, call)));
      ran.push(...group.filter((_, i) => ends[i]?.ran));
      const stopped = ends.find((one) => one.outcome !== undefined);
      if (stopped !== undefined) return stopped.outcome;
    }
    return host.signal.aborted ? { status: 'cancelled', error: cancelled() } : undefined;
  } finally {
    host.charge(reservation.id, { toolCalls: 0, contextOps: 0, ...amountOf(ran) });
  }
}

/** What calls are charged to; those that are rejected cost nothing. */
function amountOf(calls: readonly CheckedCall[]): BudgetAmount {
  const ready = calls.filter((call) => call.kind === 'ready');
  const contextOps = ready.filter(({ tool }) => tool.counter === 'contextOps').length;
  const toolCalls = ready.length - contextOps;
  return contextOps === 0 ? { toolCalls } : { toolCalls, contextOps };
}

interface OneEnd {
  readonly ran: boolean;
  readonly outcome?: HarnessOutcome;
}

async function runOne(working: Working, call: CheckedCall): Promise<OneEnd> {
  const { host, turn } = working;
  if (call.kind === 'rejected') {
    const rejected = failedEnd('rejected', call.code, call.message);
    // Its tool may have vanished since the call was sent: then what it did is unknown, whatever is wrong with it now.
    conclude(
      working,
      call,
      host.dispatched({ turn, position: call.position }) ? lost(call.message) : rejected,
    );
    return { ran: false };
  }
  const startedMs = host.clock.monotonicMs();
  const result = await runCall(call, turn, working);
  if ('text' in result) {
    const spent = conclude(working, call, result, host.clock.monotonicMs() - startedMs);
    return { ran: didRun(result.status), ...(spent === undefined ? {} : { outcome: spent }) };
  }
  if (result.status === 'waiting') return { ran: false, outcome: result.outcome };
  if (result.status === 'parked') return { ran: false, outcome: parked(result, working.run) };
  if (result.status === 'paused') return { ran: false, outcome: { status: 'paused', ticket: result.ticket } };
  const error = new NativeError(
    'native.approval-missing',
    `'${call.tool.schema.name}' writes, so a person must approve it, and nobody is there to ask.`,
    {
      next: 'Run on a terminal with --approve ask, or use --approve pause and answer with: writ runs approve RUN TICKET.',
      details: { tool: call.tool.schema.name, ticket: result.ticket.id },
    },
  );
  return { ran: false, outcome: { status: 'refused', error: error.toJSON() } };
}

/** The run waits as it would for a person: nothing was sent, and nothing failed that could be mended by the model. */
export function parked(
  { tool, message }: Extract<CallHeld, { status: 'parked' }>,
  run: string,
): Extract<HarnessOutcome, { status: 'paused' }> {
  const error = new NativeError('native.setup-unavailable', `'${tool}' cannot begin. ${message}`, {
    next: `Make it available, then go on with: writ runs resume ${run}`,
    details: { tool },
  });
  return { status: 'paused', ticket: null, error: error.toJSON() };
}

// Calls keep the provider's order; a write stands alone, reads beside each other share a group.
function groupsOf(calls: readonly CheckedCall[]): CheckedCall[][] {
  const groups: CheckedCall[][] = [];
  let reads: CheckedCall[] | undefined;
  for (const call of calls) {
    const alone = call.kind === 'ready' && (call.tool.access === 'write' || call.tool.runs === 'plan');
    if (!alone && reads !== undefined && reads.length < readsAtOnce) {
      reads.push(call);
      continue;
    }
    const group = [call];
    groups.push(group);
    reads = alone ? undefined : group;
  }
  return groups;
}

/**
 * Records a call's end without waiting: the record is one line, and the next request waits for all of it. Returns the
 * run's outcome when the output budget has no room for the whole text; the model then reads what still fits.
 */
function conclude(
  { host, model, turn, messages, show }: Working,
  checked: CheckedCall,
  result: CallEnd,
  elapsedMs = 0,
): HarnessOutcome | undefined {
  const { call, position } = checked;
  const counter = checked.kind === 'ready' ? checked.tool.counter : undefined;
  const given = { tool: call.name, arguments: call.arguments, status: result.status, text: result.text };
  const shown = didRun(result.status) ? show?.(given) : undefined;
  const { text, spent } = fitOutput(host, { ...result, text: shown?.text ?? result.text });
  const untrusted =
    checked.kind === 'ready' &&
    checked.tool.untrusted === true &&
    didRun(result.status) &&
    result.own !== true;
  const wrapped = untrusted ? wrapUntrusted(text, call.name, host.clock.id('mark')) : text;
  // Ours, so it stands outside of what only a tool has said.
  const read = shown?.note === undefined ? wrapped : `${wrapped}\n${shown.note}`;
  const message = blobOf(toolMessage(model, call.id, call.name, read));
  messages[position - 1] = message;
  const event: EventBody = {
    type: 'tool-result',
    turn,
    position,
    callId: call.id,
    tool: call.name,
    status: result.status,
    code: result.code,
    ...(counter === undefined ? {} : { counter }),
    message: message.digest,
    bytes: Buffer.byteLength(text),
    truncated: result.truncated || shown?.cut === true || spent !== undefined,
    elapsedMs: Math.round(elapsedMs),
    ...(shown?.seen === undefined ? {} : { seen: shown.seen }),
  };
  host.note([event], [message]);
  return spent === undefined ? undefined : { status: 'failed', error: budgetExhausted(spent) };
}

// Only what a tool brought in counts as output; the runtime's own sentences are free and always whole.
function fitOutput(host: Host, { status, text }: CallEnd) {
  if (!didRun(status)) return { text };
  const wanted = Buffer.byteLength(text);
  const whole = host.reserve({ outputBytes: wanted });
  if (whole.granted) {
    host.charge(whole.id, { outputBytes: wanted });
    return { text };
  }
  const cut = resultText(text, whole.left).text;
  const part = host.reserve({ outputBytes: Buffer.byteLength(cut) });
  if (part.granted) host.charge(part.id, { outputBytes: Buffer.byteLength(cut) });
  return { text: cut, spent: { counter: whole.counter, limit: whole.limit, left: whole.left, wanted } };
}

function unrun(
  { host, turn }: Working,
  { position }: CheckedCall,
  outcome: HarnessOutcome | undefined,
): CallEnd {
  const why =
    outcome !== undefined && 'error' in outcome ? outcome.error.message : 'The batch ended before it.';
  return host.dispatched({ turn, position })
    ? lost(why)
    : failedEnd('not-run', 'tool.not-run', `Not run: ${why}`);
}

function lost(why: string): CallEnd {
  const text = `It was sent earlier and its outcome is unknown; it may have happened: do not repeat it. ${why}`;
  return failedEnd('unknown', 'tool.outcome-unknown', text);
}
