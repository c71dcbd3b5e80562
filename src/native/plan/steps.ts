/** The three steps that reach out of a plan: a look into a context, a tool, a conversation with the model. */
import type { ErrorJson } from '../../errors.ts';
import type { BudgetAmount } from '../../protocol/budget.ts';
import { didRun } from '../../protocol/events.ts';
import { type ExactJson, exactJsonText, isRecord, type Json } from '../../protocol/json.ts';
import type { HarnessOutcome } from '../../protocol/outcome.ts';
import { parked } from '../batch.ts';
import { type CallEnd, type CallHeld, checkCall, recordedEnd, runCall } from '../call.ts';
import type { ContextAnswer } from '../context/operations.ts';
import type { ContextReader } from '../context/reader.ts';
import type { ContextAction, Step } from './ast.ts';
import { PlanError, type PlanErrorCode } from './errors.ts';
import { evaluate, type Names } from './evaluate.ts';
import { laneHost, type PartOptions, partHost } from './part-host.ts';
import { stepLane } from './plan-record.ts';
import { planResponse } from './plan-response.ts';
import { promptText } from './prompt-text.ts';
import { exhausted, type Frame, failedBy, type Performed, type PlanRun, type StepEnd } from './seat.ts';

type Of<S extends Step['op']> = Extract<Step, { readonly op: S }>;

/** What a step sets aside beside itself, before it begins. */
export function startAmount(step: Step, { path }: Frame, work: PlanRun): BudgetAmount {
  switch (step.op) {
    case 'context':
      return { contextOps: 1 };
    case 'tool':
      return { [work.seat.toolbox.tools.get(step.name)?.counter ?? 'toolCalls']: 1 };
    case 'model':
      return hasAsked(work, path) ? {} : { modelCalls: 1 };
    default:
      return {};
  }
}

/** True if the record has a request of the step's conversation already. */
function hasAsked({ seat }: PlanRun, path: string): boolean {
  const lane = stepLane(seat.lane, path);
  return seat.events.some((event) => event.type === 'turn-start' && event.lane === lane);
}

function partOf({ signal }: Frame, { seat, allotment, inTurn }: PlanRun): PartOptions {
  return { host: seat.host, allotment, signal, inTurn };
}

/** One bounded look. Binds `value` and `truncated`. */
export async function contextStep(
  { handle, action }: Of<'context'>,
  { names, signal }: Frame,
  { seat }: PlanRun,
): Promise<Performed> {
  const alias = evaluate(handle, names);
  if (typeof alias !== 'string') throw wrongValue('handle', 'the name of a context', alias);
  const fault = seat.contexts?.fault(alias);
  const reader = seat.contexts?.reader(alias, signal);
  if (reader === undefined || fault !== undefined)
    return {
      end: failed('plan.context-failed', fault?.message ?? 'This session has no contexts.'),
      actual: { contextOps: 0 },
    };
  let answer: ContextAnswer<Json>;
  try {
    answer = await look(reader, action, names);
  } catch (thrown) {
    if (signal.aborted) return { end: { kind: 'cancelled' }, actual: { contextOps: 1 } };
    throw thrown;
  }
  if (answer.ok) {
    const { value, truncated } = answer;
    return { end: { kind: 'ok', value: { value, truncated } }, actual: { contextOps: 1 } };
  }
  return {
    end: failed('plan.context-failed', answer.message, { code: answer.code }),
    actual: { contextOps: 1 },
  };
}

async function look(
  reader: ContextReader,
  action: ContextAction,
  names: Names,
): Promise<ContextAnswer<Json>> {
  switch (action.type) {
    case 'search': {
      const pattern = evaluate(action.pattern, names);
      if (typeof pattern !== 'string' || pattern === '')
        throw wrongValue('pattern', 'a text that is not empty', pattern);
      return reader.search({ pattern, regex: action.regex, from: action.from });
    }
    case 'slice':
      return reader.slice({ start: action.start, length: action.length });
    case 'peek':
      return reader.peek(action.selector);
    case 'partition':
      return reader.partition(action.how);
    case 'map':
      return reader.map(action.how);
    case 'reduce':
      return reader.reduce(action.how);
  }
}

/** One call through the same preflight, approval and effects as a call of the model. Binds the result's envelope. */
export async function toolStep(
  { name, args }: Of<'tool'>,
  frame: Frame,
  work: PlanRun,
  turn: number,
): Promise<Performed> {
  const { seat } = work;
  const host = partHost(partOf(frame, work));
  const toolbox = { ...seat.toolbox, capabilities: frame.capabilities };
  const given = evaluate(args, frame.names);
  if (!isRecord(given)) throw wrongValue('args', 'an object', given);
  const call = { id: `plan_${turn}`, name, arguments: exactJsonText(given) };
  const checked = checkCall(call, 1, toolbox);
  const counter = seat.toolbox.tools.get(name)?.counter ?? 'toolCalls';
  if (checked.kind === 'rejected') {
    const { code, message } = checked;
    return { end: failed('plan.tool-failed', message, { code }), actual: { [counter]: 0 } };
  }
  const startedMs = host.clock.monotonicMs();
  const inSeat = { host, run: seat.run, contexts: seat.contexts, toolbox };
  const ended = (await recordedEnd(checked, turn, inSeat)) ?? (await runCall(checked, turn, inSeat));
  if (!('text' in ended)) return { end: heldEnd(ended, name, seat.run), actual: { [counter]: 0 } };
  const actual = { [counter]: didRun(ended.status) ? 1 : 0 };
  // Stopped before it was sent: nothing has happened, and the step is begun again when the plan goes on.
  const stopped = frame.signal.aborted && ended.status !== 'ok' && ended.status !== 'unknown';
  if (stopped) return { end: { kind: 'cancelled' }, actual };
  return { end: toolEnd(ended, Math.round(host.clock.monotonicMs() - startedMs)), actual };
}

function heldEnd(held: CallHeld, tool: string, run: string): StepEnd {
  switch (held.status) {
    case 'paused':
      return { kind: 'held', outcome: { status: 'paused', ticket: held.ticket } };
    case 'waiting':
      return { kind: 'held', outcome: held.outcome };
    case 'parked':
      return { kind: 'held', outcome: parked(held, run) };
    case 'nobody': {
      const error = new PlanError(
        'plan.approval-missing',
        `The plan calls '${tool}', which writes, so a person must approve it, and nobody is there to ask.`,
        {
          next: 'Run on a terminal with --approve ask, or use --approve pause and answer with: writ runs approve RUN TICKET.',
          details: { tool, ticket: held.ticket.id },
        },
      );
      return { kind: 'held', outcome: { status: 'refused', error: error.toJSON() } };
    }
  }
}

function toolEnd({ status, code, text, bytes, truncated, value }: CallEnd, elapsedMs: number): StepEnd {
  if (status === 'ok')
    return {
      kind: 'ok',
      // Of a result that was cut or kept elsewhere, the value is what a model would read of it.
      value: {
        value: truncated ? text : (value ?? text),
        status,
        code,
        bytes,
        truncated,
        elapsed_ms: elapsedMs,
      },
    };
  const kind = status === 'unknown' ? 'plan.tool-unknown-outcome' : 'plan.tool-failed';
  return failed(kind, text, { status, ...(code === null ? {} : { code }) });
}

/**
 * A conversation of its own. Its first request is set aside with the step; the rest of what it used is charged in one check
 * with the bytes of its value. Without room for both nothing is bound; whatever the model answered is kept all the same.
 */
export async function modelStep(
  { prompt, options }: Of<'model'>,
  frame: Frame,
  work: PlanRun,
): Promise<Performed> {
  const { seat, responses } = work;
  const { path, capabilities, names } = frame;
  const text = promptText(prompt, names, seat.host.clock.id('mark'));
  if (text === undefined) throw wrongValue('prompt', 'a text that is not empty', '');
  const lane = stepLane(seat.lane, path);
  const host = laneHost({
    ...partOf(frame, work),
    lane,
    prepaid: !hasAsked(work, path),
    onEvents: (events) => {
      for (const event of events)
        if (event.type === 'model-response') responses.push(planResponse(event, path));
    },
  });
  const actual = () => ({ modelCalls: host.firstUsed() ? 1 : 0 });
  let outcome: HarnessOutcome;
  try {
    outcome = await seat.converse({ host, lane, prompt: text, options, capabilities });
  } catch (thrown) {
    host.settle(0);
    throw thrown;
  }
  const turns = responses.filter((response) => response.path === path).length;
  const end = modelEnd(outcome, turns);
  const bytes = end.kind === 'ok' ? Buffer.byteLength(exactJsonText(end.value)) : 0;
  const room = host.settle(bytes);
  return room.granted
    ? { end, actual: actual(), bytes }
    : { end: exhausted(room), actual: actual(), bytes: 0 };
}

function modelEnd(outcome: HarnessOutcome, turns: number): StepEnd {
  switch (outcome.status) {
    case 'completed':
      return { kind: 'ok', value: { text: outcome.answer, turns } };
    case 'paused':
      return { kind: 'held', outcome };
    case 'refused':
      return { kind: 'held', outcome: { status: 'refused', error: outcome.error } };
    case 'cancelled':
      return { kind: 'cancelled' };
    case 'failed':
    case 'unknown': {
      const { error } = outcome;
      const code = error.code === 'budget.exhausted' ? 'plan.budget-exhausted' : 'plan.model-failed';
      return failed(code, `The conversation of a model step ended: ${error.message}`, {
        cause: plain(error),
      });
    }
  }
}

function plain({ code, kind, details }: ErrorJson) {
  return { code, kind, ...(details === undefined ? {} : { details }) };
}

function failed(code: PlanErrorCode, message: string, details?: Readonly<Record<string, unknown>>): StepEnd {
  return failedBy(new PlanError(code, message, details === undefined ? {} : { details }));
}

function wrongValue(field: string, expected: string, found: ExactJson): PlanError {
  const kind = Array.isArray(found) ? 'a list' : found === null ? 'null' : `a value of type ${typeof found}`;
  return new PlanError('plan.wrong-value', `A step expected ${expected} as '${field}', found ${kind}.`, {
    details: { field },
  });
}
