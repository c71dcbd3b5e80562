/** The root decision: one request, answered by a direct answer or by a valid plan, and by nothing else. */
import { blobOf } from '../../digest.ts';
import type { ErrorJson } from '../../errors.ts';
import type { RunEvent } from '../../protocol/events.ts';
import { isRecord } from '../../protocol/json.ts';
import type { HarnessOutcome } from '../../protocol/outcome.ts';
import { compact } from '../compaction.ts';
import { append, recallText, restore } from '../conversation.ts';
import { finishing } from '../policies/completion.ts';
import { type Answered, askModel, filtered } from '../request.ts';
import { halfCharacterAt } from '../tool/whole-text.ts';
import { laneEvents, taskOf, transcriptOf } from '../transcript.ts';
import type { AcceptedPlan } from './check-plan.ts';
import { PlanError } from './errors.ts';
import { faultText, type PlanFault, Rejected } from './fault.ts';
import { skillsText } from './given-skills.ts';
import { oneJsonObject } from './plan-json.ts';
import { questionText, repairText } from './planner-text.ts';
import { parsePlan } from './read-plan.ts';
import {
  decisionOptions,
  inputsOf,
  type Looping,
  type PlanInputs,
  type PlanOptions,
  planOutcome,
  rootLane,
  type SessionPlans,
} from './session-plans.ts';

interface Deciding extends Omit<Looping, 'plans' | 'parts' | 'lane'> {
  readonly parts: Looping['parts'] & { readonly plans: PlanOptions };
  readonly plans: SessionPlans;
}

/** What an answer is. Only a rejected one may be mended by asking again. */
export type Judged =
  | { readonly kind: 'direct'; readonly answer: string }
  | { readonly kind: 'plan'; readonly accepted: AcceptedPlan }
  | { readonly kind: 'rejected'; readonly fault: PlanFault }
  | { readonly kind: 'refused'; readonly error: ErrorJson };

/** Asks until an answer is one of the two, at most `attempts` times, and carries it out. An answer that is neither never is. */
export async function* decideRoot(
  work: Deciding,
): AsyncGenerator<{ readonly turn: number }, HarnessOutcome, void> {
  const { input, session, host, parts, numbers, plans, contexts } = work;
  const { model } = parts;
  const options = decisionOptions(parts.options, parts.plans);
  const inputs = inputsOf(input.task);
  const attemptsMax = parts.plans.attempts ?? 2;
  const earlier = laneEvents(input.earlier, input.run);
  const transcript = transcriptOf(earlier, input.run);
  const system = skillsText(parts.plans.skills?.decision ?? []);
  const given = system === '' ? undefined : blobOf(model.message({ role: 'system', text: system }));
  const conversation = await restore(transcript, session, host, model, question(work), given);
  const task = taskOf(earlier.filter(({ run }) => run === input.run)) ?? conversation.digests.at(-1) ?? '';
  let attempts = attemptsIn(input.earlier, input.run);
  let turn = transcript.taskSent ? transcript.turn : 0;
  let openAttempts = transcript.taskSent ? transcript.openAttempts : 0;
  // The decision was made before a crash: its text is judged again, and its plan goes on where the record ends.
  const decided = transcript.taskSent ? transcript.answered : undefined;
  if (decided !== undefined)
    return yield* carryOut(judge(await recallText(host, decided), plans, inputs), turn, work);
  for (;;) {
    if (openAttempts === 0) {
      if (parts.compaction !== undefined) {
        const stays = given === undefined ? [] : [given.digest];
        const place = { session, model, host, contexts, task, stays, finishing: finishing(undefined) };
        await compact(conversation, parts.compaction, earlier, place);
      }
      turn = numbers.next();
      attempts += 1;
    }
    const asked = await askModel(
      { run: input.run, turn, model, toolBlock: undefined, host, conversation, options },
      openAttempts,
    );
    openAttempts = 0;
    if (asked.kind === 'ended') return asked.outcome;
    const { message, finish } = asked.reply;
    const judged = judgeReply(asked.reply, plans, inputs);
    if (judged.kind === 'direct' || judged.kind === 'plan') {
      const written = append(conversation, model.message({ ...message, calls: [] }));
      const text = blobOf(textOf(asked.reply));
      const textBytes = Buffer.byteLength(text.bytes);
      const finished = {
        type: 'message-finish',
        turn,
        message: written.digest,
        text: text.digest,
        textBytes,
        calls: 0,
      } as const;
      await host.record([asked.event, finished], [asked.blob, written, text]);
      return yield* carryOut(judged, turn, work);
    }
    // A rejected answer stays out of the conversation: what is sent again is the same question, and one sentence more.
    await host.record([asked.event], [asked.blob]);
    yield { turn };
    if (finish === 'content-filter') return { status: 'failed', error: filtered().toJSON() };
    if (judged.kind === 'refused') return refusal(judged.error);
    if (attempts >= attemptsMax) return { status: 'failed', error: exhausted(judged.fault, attempts) };
    append(conversation, model.message({ role: 'user', text: repairText(judged.fault) }));
  }
}

function question({ input, session, parts, contexts, plans }: Deciding): string {
  const { capabilities, projection, composition } = session;
  const { scope = 'root', instruction, childCapabilities = capabilities } = parts.plans;
  return questionText({
    agent: composition.agent,
    scope,
    task: contexts?.task(input.task) ?? input.task,
    capabilities,
    childCapabilities: childCapabilities.filter((name) => capabilities.includes(name)),
    tools: parts.tools.flatMap(({ schema, runs }) =>
      runs === undefined && projection.tools.includes(schema.name) ? [schema] : [],
    ),
    limits: plans.limits,
    instruction,
  });
}

function attemptsIn(events: readonly RunEvent[], run: string): number {
  return events.filter(
    (event) => event.run === run && event.type === 'turn-start' && event.lane === undefined,
  ).length;
}

async function* carryOut(
  judged: Judged,
  turn: number,
  { host, plans, input }: Deciding,
): AsyncGenerator<{ readonly turn: number }, HarnessOutcome, void> {
  yield { turn };
  switch (judged.kind) {
    case 'direct':
      // The answer is here already: what goes beyond the output budget is overrun, not thrown away.
      host.spend({ outputBytes: Buffer.byteLength(judged.answer) });
      return { status: 'completed', answer: judged.answer };
    case 'plan':
      return planOutcome(await plans.run(judged.accepted, rootLane, turn, inputsOf(input.task)));
    case 'refused':
      return refusal(judged.error);
    case 'rejected':
      return { status: 'failed', error: exhausted(judged.fault, 1) };
  }
}

function judgeReply(reply: Answered, plans: SessionPlans, inputs: PlanInputs): Judged {
  if (reply.finish === 'length') return { kind: 'rejected', fault: { fault: 'answer_cut_off', path: '' } };
  if (reply.message.calls.length > 0) return { kind: 'rejected', fault: { fault: 'native_call', path: '' } };
  return judge(textOf(reply), plans, inputs);
}

/** Some models write all that they have to say where they reason. Text that is there always wins. */
function textOf({ message }: Answered): string {
  return message.text.trim() === '' ? (message.reasoning?.text ?? '') : message.text;
}

/** A valid plan is tried first. What is none and has a "mode" is judged as a direct answer, strictly. */
export function judge(text: string, plans: Pick<SessionPlans, 'check'>, inputs: PlanInputs): Judged {
  const parsed = parsePlan(text);
  if (parsed.ok) {
    const checked = plans.check(parsed.plan, rootLane, inputs);
    if (checked.ok) return { kind: 'plan', accepted: checked.accepted };
    return checked.fault === null
      ? { kind: 'refused', error: checked.error.toJSON() }
      : { kind: 'rejected', fault: checked.fault };
  }
  try {
    const envelope = oneJsonObject(text);
    if (Object.hasOwn(envelope, 'mode')) return { kind: 'direct', answer: directAnswer(envelope) };
  } catch (thrown) {
    if (!(thrown instanceof Rejected)) throw thrown;
    return { kind: 'rejected', fault: thrown.fault };
  }
  return { kind: 'rejected', fault: parsed.fault };
}

function directAnswer(envelope: unknown): string {
  if (!isRecord(envelope) || envelope.mode !== 'direct') throw new Rejected('unsupported_root_mode', '');
  if (Object.keys(envelope).length !== 2 || !Object.hasOwn(envelope, 'answer'))
    throw new Rejected('invalid_direct_envelope_fields', '');
  const { answer } = envelope;
  if (typeof answer !== 'string' || answer.trim() === '')
    throw new Rejected('direct_answer_must_be_nonempty_text', '');
  if (halfCharacterAt(answer) !== undefined) throw new Rejected('half_character', '');
  return answer;
}

function refusal(error: ErrorJson): HarnessOutcome {
  return { status: error.kind === 'refused' ? 'refused' : 'failed', error };
}

function exhausted(fault: PlanFault, attempts: number): ErrorJson {
  return new PlanError(
    'plan.decision-rejected',
    `Expected a direct answer or a valid plan, found neither in ${attempts} ${attempts === 1 ? 'answer' : 'answers'}. The last one: ${faultText(fault)}`,
    {
      next: 'Give the task again, with another model or without --root decide.',
      details: { attempts, ...fault },
    },
  ).toJSON();
}
