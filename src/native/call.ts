/** One tool call: checked before anything runs, run inside its limits, and ended as text that the model can read. */
import { sha256 } from '../digest.ts';
import { type ErrorJson, messageOf, toErrorJson } from '../errors.ts';
import type { ChildEnd, Host } from '../harness.ts';
import type { EffectCall, EffectOutcome, NonDispatch, Observation, Reconciled } from '../protocol/effect.ts';
import type { EventBodies } from '../protocol/events.ts';
import { type ExactJson, parseExactJson } from '../protocol/json.ts';
import type { ToolCall } from '../protocol/messages.ts';
import type { HarnessOutcome } from '../protocol/outcome.ts';
import type { Ticket } from '../protocol/ticket.ts';
import { approveBound } from './approval.ts';
import { childRequest } from './child-request.ts';
import type { ContextErrorCode } from './context/errors.ts';
import { capabilityMissing, refusedReader } from './context/reader.ts';
import { contextsNamed } from './context/references.ts';
import type { SessionContexts } from './context/session-contexts.ts';
import { openDeadline } from './deadline.ts';
import type { CallErrorCode } from './errors.ts';
import { exactCanonicalJson } from './exact-canonical.ts';
import { type ArgumentFault, readArguments } from './tool/arguments.ts';
import { failureText, resultText, wholeText } from './tool/result-text.ts';
import type { Subtask, Tool, ToolContext, ToolOutput } from './tool/tool.ts';

/** A call whose tool is here and whose arguments are good. */
export interface ReadyCall {
  readonly kind: 'ready';
  readonly call: ToolCall;
  /** From 1. */
  readonly position: number;
  readonly tool: Tool;
  readonly value: unknown;
  /** What is held while a write of this kind is unknown. */
  readonly effectKey: string;
}

type RejectCode = CallErrorCode | ArgumentFault | ContextErrorCode;

/** A call that may run, or the reason why the model has to mend it. */
export type CheckedCall =
  | ReadyCall
  | {
      readonly kind: 'rejected';
      readonly call: ToolCall;
      readonly position: number;
      readonly code: RejectCode;
      readonly message: string;
    };

/** What a call came to. `text` is what the model reads. */
export interface CallEnd {
  readonly status: EventBodies['tool-result']['status'];
  readonly code: string | null;
  readonly text: string;
  /** Size of the whole result, before any cut. */
  readonly bytes: number;
  readonly truncated: boolean;
  /** What the tool returned, where this process has seen it; for programs, never for the model. */
  readonly value?: ExactJson;
  /** Every word of the text is the runtime's own, whatever the tool. */
  readonly own?: true;
}

/** A call that nobody could approve now: the run waits for a person, or ends. */
export type CallHeld =
  | { readonly status: 'paused' | 'nobody'; readonly ticket: Ticket }
  /** What the call needs is not there, with proof that nothing was sent. */
  | { readonly status: 'parked'; readonly tool: string; readonly message: string }
  /** A child or a plan of the call waits, so that the run does, or nobody is there who could allow what it needs. */
  | { readonly status: 'waiting'; readonly outcome: Waiting };

export type Waiting =
  | Extract<HarnessOutcome, { status: 'paused' }>
  | { readonly status: 'refused'; readonly error: ErrorJson };

/** What the session knows of tools: those that it shows, and those that are really here. */
export interface Toolbox {
  readonly shown: readonly string[];
  /** Shown tools that are now something else than what was shown. */
  readonly changed: () => readonly string[];
  readonly tools: ReadonlyMap<string, Tool>;
  readonly capabilities: readonly string[];
  /** Undefined where the run does not hold the capability. */
  readonly contexts: SessionContexts | undefined;
}

/** Preflight of one call. Nothing has run and nothing is charged when this returns. */
export function checkCall(call: ToolCall, position: number, toolbox: Toolbox): CheckedCall {
  const reject = (code: RejectCode, message: string): CheckedCall => ({
    kind: 'rejected',
    call,
    position,
    code,
    message,
  });
  if (!toolbox.shown.includes(call.name)) {
    const names = toolbox.shown.length === 0 ? 'none' : toolbox.shown.join(', ');
    return reject(
      'tool.unknown',
      `There is no tool '${call.name.slice(0, 64)}'. The tools of this session: ${names}.`,
    );
  }
  const tool = toolbox.tools.get(call.name);
  // The surface of a session never changes; what vanished since then answers for itself.
  if (tool === undefined)
    return reject('tool.unavailable', `The tool '${call.name}' is unavailable in this process.`);
  if (toolbox.changed().includes(call.name)) {
    return reject(
      'tool.unavailable',
      `The server changed or withdrew '${call.name}' since this session began; here it cannot be called any more.`,
    );
  }
  // Shown is not granted: the right is checked where it is used, whatever the surface says.
  if (!toolbox.capabilities.includes(tool.capability)) {
    return reject('tool.capability-missing', `This run does not hold the capability '${tool.capability}'.`);
  }
  const args = readArguments(call.arguments, tool);
  if (!args.ok) return reject(args.code, args.message);
  for (const ref of contextsNamed(tool.schema, args.value)) {
    const fault = toolbox.contexts === undefined ? capabilityMissing() : toolbox.contexts.fault(ref);
    if (fault !== undefined) return reject(fault.code, fault.message);
  }
  const effectKey = effectKeyOf(tool, args.value);
  if (effectKey === undefined) {
    return reject(
      'tool.failed',
      `The tool could not tell what a call with these arguments acts on; it was not run.`,
    );
  }
  return { kind: 'ready', call, position, tool, value: args.value, effectKey };
}

// The author's function decides what is held while an effect is unknown: without its answer nothing may be sent.
function effectKeyOf(tool: Tool, value: unknown): string | undefined {
  try {
    const key: unknown = tool.effectKey(value);
    return typeof key === 'string' ? key : undefined;
  } catch {
    return undefined;
  }
}

/**
 * What the record says of a write that was sent before, in this run or under an equal `once` call, and what its tool finds
 * where the outcome is unknown; undefined if nothing.
 */
export async function recordedEnd(
  ready: ReadyCall,
  turn: number,
  seat: CallSeat,
): Promise<CallEnd | undefined> {
  const { tool } = ready;
  if (tool.access === 'read') return undefined;
  const running = runningIn(ready, turn, seat);
  let code: string | null = null;
  const reconcile = async (signal: AbortSignal): Promise<Reconciled> => {
    const found = await tool.reconcile?.(ready.value, contextOf(running, signal));
    if (found === undefined) return { answer: 'unknown', message: 'Its tool cannot look.' };
    if (found.status === 'unknown') return { answer: 'unknown', message: found.message };
    if (found.status === 'not-dispatched')
      return { answer: 'not-dispatched', nonDispatch: found.nonDispatch };
    const { text, truncated, bytes, code: failure } = await fromOutput(running, found);
    code = failure;
    return { answer: 'observed', observation: { status: found.status, text, truncated, bytes } };
  };
  const outcome = await seat.host.settled(
    effectCallOf(ready, turn),
    tool.reconcile === undefined ? undefined : reconcile,
  );
  return outcome === undefined ? undefined : fromOutcome(outcome, code);
}

/** Runs a checked call. Resolves with every end, a spent deadline and a cancel included; rejects only if the record fails. */
export async function runCall(ready: ReadyCall, turn: number, seat: CallSeat): Promise<CallEnd | CallHeld> {
  const { tool, position, call } = ready;
  const { host } = seat;
  if (tool.runs === 'plan') {
    const noPlans = failedEnd('failed', 'tool.unavailable', 'No plan can be executed here.');
    return seat.plans === undefined ? noPlans : seat.plans(ready, turn);
  }
  const running = runningIn(ready, turn, seat);
  if (tool.access === 'read') return runRead(running);
  const question = {
    ...{ turn, position, tool: tool.schema.name, capability: tool.capability },
    ...{ arguments: call.arguments, fingerprint: fingerprintOf(call) },
  };
  const refusal = await tool.preflight?.(ready.value).catch(() => undefined);
  if (refusal !== undefined) return fromOutput(running, { status: 'failed', ...refusal });
  const approval = await approveBound(host, question, async () => (await tool.bound?.(ready.value)) ?? []);
  if (approval.answer === 'denied') {
    const why = approval.reason === '' ? '' : ` Reason: ${approval.reason}`;
    return failedEnd('denied', 'tool.denied', `A person denied this call; it was not run.${why}`);
  }
  if (approval.answer !== 'approved') return { status: approval.answer, ticket: approval.ticket };
  return runWrite(running, approval.ticket.id);
}

/** What a call runs in. */
export interface CallSeat {
  readonly host: Host;
  readonly run: string;
  readonly contexts: SessionContexts | undefined;
  readonly toolbox: Toolbox;
  /** Executes the plan of a call; left out where none is executed, as inside a plan. */
  readonly plans?: RunPlanCall | undefined;
}

/** Executes the plan that the arguments of a call hold, and ends the call with its value. */
export type RunPlanCall = (call: ReadyCall, turn: number) => Promise<CallEnd | CallHeld>;

interface Running extends ReadyCall {
  readonly turn: number;
  readonly host: Host;
  readonly contexts: SessionContexts | undefined;
  readonly toolbox: Toolbox;
  readonly idempotencyKey: string;
  /** Set by a child that waits for a person. */
  waiting?: Waiting;
}

function runningIn(ready: ReadyCall, turn: number, { host, run, contexts, toolbox }: CallSeat): Running {
  return { ...ready, turn, host, contexts, toolbox, idempotencyKey: `${run}:${turn}:${ready.position}` };
}

function contextOf(running: Running, signal: AbortSignal): ToolContext {
  const { host, contexts, idempotencyKey } = running;
  return {
    child: (task) => childOf(running, task, signal),
    signal,
    clock: host.clock,
    idempotencyKey,
    context: (alias) => contexts?.reader(alias, signal) ?? refusedReader(),
  };
}

async function childOf(running: Running, task: Subtask, signal: AbortSignal): Promise<ChildEnd> {
  const { host, toolbox, turn, position } = running;
  const request = childRequest(task, `${turn}:${position}`, toolbox, host.left('depth'));
  const end = await host.child(request, signal);
  if (end.status === 'paused') {
    const error = end.error ?? toErrorJson(new Error('A child waits.'));
    running.waiting =
      end.ticket === null
        ? { status: 'paused', ticket: null, error }
        : { status: 'paused', ticket: end.ticket };
  }
  return end;
}

async function runRead(running: Running): Promise<CallEnd | CallHeld> {
  const { tool, value, host } = running;
  const deadline = openDeadline(host.signal, tool.limits.timeoutMs);
  try {
    const output = await Promise.race([
      tool.execute(value, contextOf(running, deadline.signal)),
      deadline.passed,
    ]);
    if (output === 'cancelled') {
      return failedEnd('failed', 'tool.cancelled', 'Cancelled before it answered; a read changes nothing.');
    }
    if (output === 'timeout') {
      return failedEnd(
        'failed',
        'tool.timeout',
        `No answer within ${tool.limits.timeoutMs} ms; it was stopped.`,
      );
    }
    if (running.waiting !== undefined) return { status: 'waiting', outcome: running.waiting };
    return await fromOutput(running, output);
  } catch (thrown) {
    return failedEnd('failed', 'tool.failed', messageOf(thrown));
  } finally {
    deadline.close();
  }
}

async function runWrite(running: Running, ticket: string): Promise<CallEnd | CallHeld> {
  const { tool, value, host, turn } = running;
  let code: string | null = null;
  let returned: ExactJson | undefined;
  let parked = false;
  const outcome = await host.effect(
    { ...effectCallOf(running, turn), ticket },
    async (signal): Promise<Observation | NonDispatch> => {
      const output = await tool.execute(value, contextOf(running, signal));
      if (output.status === 'not-dispatched') {
        parked = output.park === true;
        return output.nonDispatch;
      }
      const { text, truncated, bytes, code: failure, value: seen } = await fromOutput(running, output);
      code = failure;
      returned = seen;
      return { status: output.status, text, truncated, bytes };
    },
  );
  if (parked && outcome.state === 'not-dispatched')
    return { status: 'parked', tool: tool.schema.name, message: outcome.nonDispatch.message };
  const end = fromOutcome(outcome, code);
  return returned === undefined ? end : { ...end, value: returned };
}

function effectCallOf({ call, tool, effectKey, position }: ReadyCall, turn: number): EffectCall {
  return {
    turn,
    position,
    tool: tool.schema.name,
    access: tool.access,
    repeat: tool.repeat,
    key: effectKey,
    fingerprint: fingerprintOf(call),
    repeatable: tool.repeatable,
    timeoutMs: tool.limits.timeoutMs,
    ...(tool.look === undefined ? {} : { look: tool.look }),
  };
}

function fromOutcome(outcome: EffectOutcome, code: string | null): CallEnd {
  switch (outcome.state) {
    case 'observed': {
      const { status, text, bytes, truncated } = outcome.observation;
      return { status: status === 'succeeded' ? 'ok' : 'failed', code, text, bytes, truncated };
    }
    case 'not-dispatched':
      return failedEnd('not-run', 'tool.not-dispatched', `Nothing was done: ${outcome.nonDispatch.message}`);
    case 'unknown': {
      const look = outcome.look ?? 'Say plainly that it is unknown; a person can settle it.';
      const text = `The outcome is unknown. ${outcome.reason} It may have happened: do not repeat it. ${look}`;
      return failedEnd('unknown', 'tool.outcome-unknown', text);
    }
  }
}

/** How a call ends by what its tool gave: whole, cut to the tool's limit, or kept as a context. */
export async function fromOutput(
  { tool, turn, position, contexts }: Pick<Running, 'tool' | 'turn' | 'position' | 'contexts'>,
  output: ToolOutput,
): Promise<CallEnd> {
  const { outputBytesMax } = tool.limits;
  switch (output.status) {
    case 'succeeded': {
      const whole = wholeText(output.value);
      const { text, bytes, truncated } = resultText(whole, outputBytesMax);
      // Where it can be looked into later, nothing of a large result is lost.
      const kept = truncated ? await contexts?.keep({ turn, position }, whole, outputBytesMax) : undefined;
      return { status: 'ok', code: null, text: kept ?? text, bytes, truncated, value: output.value };
    }
    case 'failed':
      return failureEnd('failed', output.code, output.message, outputBytesMax);
    case 'not-dispatched':
      return failedEnd('not-run', 'tool.not-dispatched', `Nothing was done: ${output.nonDispatch.message}`);
  }
}

/** An end without a value, in the runtime's own words. */
export function failedEnd(status: CallEnd['status'], code: RejectCode, message: string): CallEnd {
  return failureEnd(status, code, message, 4096);
}

function failureEnd(status: CallEnd['status'], code: string, message: string, bytesMax: number): CallEnd {
  return { status, code, ...failureText(code, message, bytesMax) };
}

/**
 * Digest of a tool and the arguments as the model gave them, whatever the order of their keys; an integer beyond 2^53
 * counts digit for digit. Not of the checked value: a schema may fill in defaults that differ each time, or turn
 * arguments into values that no JSON tells apart.
 */
function fingerprintOf({ name, arguments: text }: ToolCall): string {
  const given = text.trim() === '' ? {} : parseExactJson(text);
  return sha256(`${name}\n${exactCanonicalJson(given)}`);
}
