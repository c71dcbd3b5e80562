/** The direct loop: ask the model, check its whole answer, settle its calls, ask again, until there is text or an end. */
import type { Policies } from '../compose/policies.ts';
import { blobOf } from '../digest.ts';
import type { Host, OpenSession, Session, TaskInput } from '../harness.ts';
import type { EventBody } from '../protocol/events.ts';
import type { HarnessOutcome } from '../protocol/outcome.ts';
import type { Blob } from '../protocol/record.ts';
import { settleBatch, toolboxOf } from './batch.ts';
import { type CompactionOptions, compact } from './compaction.ts';
import { type GivenContext, openSessionContexts } from './context/session-contexts.ts';
import { append, type Conversation, recallText, restore } from './conversation.ts';
import { NativeError, type NativeErrorCode } from './errors.ts';
import type { Model } from './model/model.ts';
import { decideRoot } from './plan/decide.ts';
import type { TurnNumbers } from './plan/seat.ts';
import { type Looping, openSessionPlans, type PlanOptions, type Root } from './plan/session-plans.ts';
import { generatedUsual } from './policies/reread.ts';
import { type GivenResult, openPolicies, type Said, watches } from './policies/session-policies.ts';
import {
  entriesMax,
  type WorkspaceChanges,
  type WorkspaceWatch,
  watchWorkspace,
} from './policies/workspace-watch.ts';
import { type Answered, askModel, filtered, type RequestOptions } from './request.ts';
import { settlingTools } from './settle-run.ts';
import { type Closed, type GivenSpec, openRunSpec } from './spec/run-spec.ts';
import { surfaceNotice } from './surface.ts';
import type { Tool } from './tool/tool.ts';
import { type Batch, laneEvents, taskOf, transcriptOf } from './transcript.ts';

export interface SessionParts {
  readonly policies?: Policies;
  /** Watched for what changes in it, where a policy asks that. */
  readonly workspace?: string | undefined;
  readonly compaction?: CompactionOptions | undefined;
  readonly model: Model;
  readonly tools: readonly Tool[];
  readonly options: RequestOptions;
  readonly contexts: readonly GivenContext[];
  readonly spec?: GivenSpec | undefined;
  /** What a task is worked on by: the loop, a decision between an answer and a plan, or the plan that the task is. */
  readonly root: Root;
  readonly plans: PlanOptions;
}

/** Opens a session of the native harness on a model and tools that the caller owns and closes. */
export function openSession(session: Session, host: Host, parts: SessionParts): OpenSession {
  return {
    turns: (input) =>
      settlingTools(turnsWithContexts(input, session, host, parts), {
        run: input.run,
        tools: parts.tools,
        host,
      }),
    close: async () => {},
  };
}

async function* turnsWithContexts(
  input: TaskInput,
  session: Session,
  host: Host,
  parts: SessionParts,
): AsyncGenerator<{ readonly turn: number }, HarnessOutcome, void> {
  const { capabilities, projection } = session;
  const given = parts.contexts;
  const contexts =
    given.length > 0 || capabilities.includes('context')
      ? await openSessionContexts({ ...input, given, capabilities, host, toolsShown: projection.tools })
      : undefined;
  try {
    const numbers = turnNumbers(input);
    const plans = openSessionPlans({ input, session, host, parts, contexts, numbers, loop: runTurns });
    // What a plan asks of a child is a task like any other.
    const root = parts.root === 'plan' && input.child ? 'loop' : parts.root;
    const spec = parts.spec && !input.child ? openRunSpec(parts.spec, input, host) : undefined;
    const settled = async (outcome: HarnessOutcome) => (await spec?.settle(outcome)) ?? outcome;
    if (root === 'plan') return await settled(await plans.task(input.task));
    const work = { input, session, host, parts, contexts, numbers };
    if (root === 'decide') return await settled(yield* decideRoot({ ...work, plans }));
    return yield* runTurns({ ...work, plans: plans.call, spec });
  } finally {
    await contexts?.close();
  }
}

/** Gives each turn of a run a number of its own, whichever conversation it belongs to. */
function turnNumbers({ earlier, run }: TaskInput): TurnNumbers {
  let last = 0;
  for (const event of earlier) if (event.run === run && 'turn' in event) last = Math.max(last, event.turn);
  return {
    next() {
      last += 1;
      return last;
    },
  };
}

async function* runTurns({
  input,
  session,
  host: given,
  parts: { model, tools, options, policies: named = {}, workspace, compaction: window },
  contexts,
  numbers,
  plans,
  lane,
  spec,
}: Looping): AsyncGenerator<{ readonly turn: number }, HarnessOutcome, void> {
  const earlier = laneEvents(input.earlier, input.run, lane);
  const transcript = transcriptOf(earlier, input.run);
  const heard: EventBody[] = earlier.filter((event) => event.run === input.run);
  const host = tapped(given, heard);
  const watch = workspace !== undefined && watches(named) ? await openWatch(workspace, host) : undefined;
  const policies = openPolicies(named, {
    access: (name) => tools.find((tool) => tool.schema.name === name)?.access,
    watched: watch !== undefined,
    left: (counter) => host.left(counter),
  });
  // A policy may hold an answer back; one that it lets through is held against the world.
  const closing = async (text: string, at: number): Promise<Closed | Said> => {
    const end = policies.closing(text, heard);
    return end.do === 'complete' && spec !== undefined ? spec.closing(end.answer, at) : end;
  };
  let saying: Said | undefined;
  if (transcript.taskSent && transcript.answered !== undefined) {
    const end = await closing(await recallText(host, transcript.answered), transcript.turn);
    if (end.do === 'complete') return { status: 'completed', answer: end.answer };
    saying = end;
  }
  const isFirst = transcript.messages.length === 0;
  const bare = (isFirst ? contexts?.task(input.task) : contexts?.laterTask(input.task)) ?? input.task;
  const task = [bare, policies.terms, spec?.terms ?? ''].filter((part) => part !== '').join('\n\n');
  const conversation = await restore(transcript, session, host, model, task);
  const taskDigest = taskOf(heard) ?? conversation.digests.at(-1) ?? '';
  const toolbox = toolboxOf(session, tools, contexts);
  const show = (given: GivenResult) => policies.result(given, heard);
  const seat = { host, model, run: input.run, plans, show };
  for (const tool of tools) tool.attend?.(input.run);
  const toolBlock = session.projection.text === '' ? undefined : blobOf(session.projection.text);
  let turn = transcript.taskSent ? transcript.turn : 0;
  let attemptsMade = transcript.taskSent ? transcript.openAttempts : 0;
  let batch = transcript.taskSent ? transcript.batch : undefined;
  let startedMs = host.clock.monotonicMs();

  const fewer = isFirst ? surfaceNotice(session.projection) : undefined;
  if (fewer !== undefined) host.note([{ type: 'notice', code: 'native.surface-chosen', text: fewer }]);
  const told = new Set<string>();
  for (;;) {
    for (const name of toolbox.changed()) {
      if (!told.has(name)) host.note([changeNotice(name)]);
      told.add(name);
    }
    if (batch !== undefined) {
      const outcome = await settleBatch(batch, conversation, toolbox, seat);
      if (outcome !== undefined) return outcome;
      const { files, more } = (await watch?.changes()) ?? unchanged;
      if (files.length > 0) host.note([{ type: 'workspace-change', turn, files, more }]);
      host.note([finishTurn(turn, batch.calls.length, host.clock.monotonicMs() - startedMs)]);
      yield { turn };
    }
    if (transcript.taskSent || batch !== undefined) {
      const notes = policies.notes(heard);
      if (notes.length > 0) host.note(notes);
      saying ??= policies.afterTurn(heard);
    }
    if (saying?.do === 'stop') return { status: 'failed', error: saying.error };
    if (saying !== undefined) {
      append(conversation, model.message({ role: 'user', text: saying.text }));
      if (saying.event !== undefined) host.note([saying.event]);
      saying = undefined;
    }
    if (attemptsMade === 0 && window !== undefined) {
      const sofar = [...earlier.filter((event) => event.run !== input.run), ...heard];
      const { finishing } = policies;
      const place = { session, model, host, contexts, task: taskDigest, finishing };
      await compact(conversation, window, sofar, place);
    }
    if (attemptsMade === 0) turn = numbers.next();
    startedMs = host.clock.monotonicMs();
    const asking = { run: input.run, turn, model, toolBlock, host, conversation, options };
    const asked = await askModel(asking, attemptsMade);
    if (asked.kind === 'ended') return asked.outcome;
    attemptsMade = 0;
    const fault = faultOf(asked.reply, conversation);
    if (fault !== undefined) {
      // The answer stays out of the conversation: a half message or an unpaired call would spoil every later request.
      await host.record([asked.event], [asked.blob]);
      return { status: 'failed', error: fault.toJSON() };
    }
    const accepted = accept(turn, asked.reply, conversation, model);
    host.note([asked.event, ...accepted.events], [asked.blob, ...accepted.blobs]);
    batch = accepted.batch;
    if (batch === undefined) {
      // The answer is here already: what goes beyond the output budget is overrun, not thrown away.
      host.spend({ outputBytes: Buffer.byteLength(asked.reply.message.text) });
      host.note([finishTurn(turn, 0, host.clock.monotonicMs() - startedMs)]);
      yield { turn };
      const end = await closing(asked.reply.message.text, turn);
      if (end.do === 'complete') return { status: 'completed', answer: end.answer };
      saying = end;
    }
  }
}

const unchanged: WorkspaceChanges = { files: [], more: 0 };

async function openWatch(workspace: string, host: Host): Promise<WorkspaceWatch | undefined> {
  const watch = await watchWorkspace(workspace, generatedUsual);
  if (watch === undefined) {
    const text = `The workspace has more than ${entriesMax} files, so policies see changes of it only in what tools say.`;
    host.note([{ type: 'notice', code: 'native.workspace-unwatched', text }]);
  }
  return watch;
}

/** The host, with all that is recorded through it told to a list too. */
function tapped(host: Host, heard: EventBody[]): Host {
  return {
    ...host,
    record(events, blobs) {
      heard.push(...events);
      return host.record(events, blobs);
    },
    note(events, blobs) {
      heard.push(...events);
      host.note(events, blobs);
    },
  };
}

function changeNotice(tool: string): EventBody {
  const text = `The server changed or withdrew the tool '${tool}' since the session began. The session keeps showing it, and calls of it are refused.`;
  return { type: 'notice', code: 'native.tool-changed', text };
}

function finishTurn(turn: number, calls: number, elapsedMs: number): EventBody {
  return { type: 'turn-finish', turn, calls, elapsedMs: Math.round(elapsedMs) };
}

/** Why an answer may not be used at all; undefined for one that may. Nothing of the answer has run yet. */
function faultOf({ message, finish }: Answered, conversation: Conversation): NativeError | undefined {
  const fault = (code: NativeErrorCode, text: string, next: string) => new NativeError(code, text, { next });
  if (finish === 'length') {
    const what =
      message.calls.length > 0 ? `in the middle of a call to '${message.calls.at(-1)?.name}'` : 'in its text';
    return fault(
      'native.answer-cut-off',
      `The output limit ended the answer ${what}; nothing of it was executed.`,
      'Raise --max-tokens or the token budget, or ask for less at once.',
    );
  }
  if (finish === 'content-filter') return filtered();
  if (finish === 'tool-calls' && message.calls.length === 0) {
    return fault(
      'native.batch-mismatch',
      'The response says that it calls tools, and its message holds no call.',
      'Try again; if it stays so, the server behind the base URL does not keep the protocol.',
    );
  }
  const seen = new Set(conversation.callIds);
  for (const call of message.calls) {
    if (seen.has(call.id)) {
      return fault(
        'native.call-id-reused',
        `The call id '${call.id.slice(0, 64)}' was used before in this session, so its result could not be paired.`,
        'Try again; if it stays so, the server behind the base URL does not keep the protocol.',
      );
    }
    seen.add(call.id);
  }
  if (message.calls.length === 0 && message.text.trim() === '') {
    return fault(
      'native.answer-empty',
      'The model ended its turn without text and without a call.',
      'Try again, or raise --max-tokens if it reasons before it answers.',
    );
  }
  return undefined;
}

function accept(turn: number, reply: Answered, conversation: Conversation, model: Model) {
  const { message } = reply;
  const blob = append(conversation, model.message(message));
  for (const call of message.calls) conversation.callIds.add(call.id);
  const text: Blob | undefined = message.text === '' ? undefined : blobOf(message.text);
  const events: EventBody[] = [
    {
      type: 'message-finish',
      turn,
      message: blob.digest,
      text: text?.digest ?? null,
      textBytes: Buffer.byteLength(message.text),
      calls: message.calls.length,
    },
    ...message.calls.map(
      (call, i): EventBody => ({
        type: 'tool-call',
        turn,
        position: i + 1,
        callId: call.id,
        tool: call.name,
        arguments: call.arguments,
      }),
    ),
  ];
  const batch: Batch | undefined =
    message.calls.length === 0
      ? undefined
      : { turn, calls: message.calls, results: message.calls.map(() => undefined) };
  return { events, blobs: text === undefined ? [blob] : [blob, text], batch };
}
