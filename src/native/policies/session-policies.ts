/** The policies of one session at work: what the model is told of them, what they say after a turn, and when the run may end. */
import type { BreakerMode, Policies } from '../../compose/policies.ts';
import type { ErrorJson } from '../../errors.ts';
import type { CallStatus, EventBody, SeenResult } from '../../protocol/events.ts';
import { NativeError } from '../errors.ts';
import { repetition, repetitionUsual, starvation, starvationTurnsUsual } from './breakers.ts';
import { budgetReminder, reminderLeftUsual } from './budget-reminder.ts';
import {
  asserts,
  completionChallenge,
  completionTerms,
  completionUsual,
  finishing,
  idleChallenge,
  withoutToken,
} from './completion.ts';
import { arbitrate, type Directive, type Policy } from './directive.ts';
import { type PolicyCall, type PolicyTurn, policyTurns } from './history.ts';
import { idleDone, idleDoneUsual } from './idle-done.ts';
import { generatedUsual, rereadNote } from './reread.ts';
import { capResult, resultCapBytes } from './result-cap.ts';
import { seenResult, shellTool } from './seen.ts';

export type Said =
  | { readonly do: 'speak'; readonly text: string; readonly event: EventBody | undefined }
  | { readonly do: 'stop'; readonly error: ErrorJson };

/** A result that a tool gave. */
export interface GivenResult {
  readonly tool: string;
  readonly arguments: string;
  readonly status: CallStatus;
  readonly text: string;
}

/** A result as the model reads it, with what is said below it and what the record keeps of it. */
export interface ShownResult {
  readonly text: string;
  readonly cut: boolean;
  readonly note?: string | undefined;
  readonly seen?: SeenResult | undefined;
}

export interface SessionPolicies {
  /** What stands behind the task; empty where nothing does. */
  readonly terms: string;
  /** How a finished task is ended, as words behind "if it is finished,". */
  readonly finishing: string;
  /** What is to be said now, or said again because a stop came between saying and sending; undefined for nothing. */
  afterTurn(events: readonly EventBody[]): Said | undefined;
  /** What is to be recorded of the last turn beside, for people only. */
  notes(events: readonly EventBody[]): readonly EventBody[];
  /** Whether an answer ends the run. */
  closing(
    text: string,
    events: readonly EventBody[],
  ): { readonly do: 'complete'; readonly answer: string } | Said;
  /** `events` are the run's so far, without this result. */
  result(given: GivenResult, events: readonly EventBody[]): ShownResult;
}

export interface PolicySeat {
  /** What the budget has left; null where there is no limit. */
  readonly left: (counter: 'turns' | 'modelCalls') => number | null;
  readonly access: (tool: string) => 'read' | 'write' | undefined;
  /** True where changes of the workspace are in the events: then no command has changed something by merely running. */
  readonly watched: boolean;
}

const stallRetriesUsual = 1;

/** How often a request is sent again after its answer stood still; none where the policy is not named. */
export function stallRetries(options: Policies): number {
  const named = options['stall-recovery'];
  return named === undefined ? 0 : (named.retries ?? stallRetriesUsual);
}

/** Whether a session has a policy that asks what changed in the workspace. */
export function watches({ starvation, repetition }: Policies): boolean {
  return starvation !== undefined || repetition !== undefined;
}

/** Opens the policies of a session. */
export function openPolicies(options: Policies, { access, watched, left }: PolicySeat): SessionPolicies {
  const completion =
    options.completion === undefined ? undefined : { ...completionUsual, ...options.completion };
  const idle = options['idle-done'] === undefined ? undefined : { ...idleDoneUsual, ...options['idle-done'] };
  const reread = options['re-read'];
  const changes = (tool: string) => access(tool) === 'write';
  const breakers = openBreakers(options, (tool) => changes(tool) && !(watched && tool === shellTool));
  const reminder = options['budget-reminder'];
  const speaking =
    reminder === undefined
      ? breakers.armed
      : [...breakers.armed, budgetReminder({ left: reminder.left ?? reminderLeftUsual, of: left })];
  const polling = options.repetition?.polling ?? repetitionUsual.polling;
  const capBytes = options['result-cap'] === undefined ? 0 : resultCapBytes(options['result-cap']);
  const sees = reread !== undefined || idle !== undefined || options.repetition !== undefined;
  // Idle-done may only find a run idle that was let be so for its number of turns.
  const challengesMax = Math.max(completion?.challenges ?? 0, idle === undefined ? 0 : idle.turns);
  const finish = finishing(completion);

  return {
    terms: completion === undefined ? '' : completionTerms(completion),
    finishing: finish,
    afterTurn(events) {
      const unsent = unsentSpeech(events);
      if (unsent !== undefined) return { do: 'speak', text: unsent, event: undefined };
      const turns = settledTurns(speaking, events);
      const found = turns === undefined ? undefined : arbitrate(speaking, turns);
      if (found === undefined) return undefined;
      if (found.do === 'stop') return stopped(found.policy, found.text);
      return speak(found.policy, `${found.text} If the task is finished, ${finish}.`);
    },
    notes(events) {
      const turns = settledTurns(breakers.annotating, events);
      if (turns === undefined) return [];
      const noted = turns.at(-1)?.noted ?? [];
      return breakers.annotating.flatMap((policy) => {
        const found = policy(turns);
        return found === undefined || noted.includes(found.policy) ? [] : [noteOf(found)];
      });
    },
    closing(text, events) {
      if (completion === undefined) return { do: 'complete', answer: text };
      if (asserts(text, completion.token) && endedCleanly(events)) {
        return { do: 'complete', answer: withoutToken(text, completion.token) };
      }
      const unsent = unsentSpeech(events);
      if (unsent !== undefined) return { do: 'speak', text: unsent, event: undefined };
      const turns = policyTurns(events);
      const asked = turns.findLastIndex(({ spoken }) => spoken.includes('idle-done'));
      if (idle !== undefined && asked < 0 && idleDone(turns, { ...idle, changes, command }))
        return speak('idle-done', idleChallenge(completion));
      const challenges = trailingChallenges(turns);
      // What was asked to confirm its end and did not has one more turn, and no third question.
      const mayGoOn = asked > lastWork(turns) ? turns.length - 1 - asked < 2 : challenges < challengesMax;
      if (mayGoOn) return speak('completion', completionChallenge(completion));
      return stopped(
        'completion',
        `The answer did not end with the line ${completion.token}, and was questioned ${challenges} times.`,
      );
    },
    result({ tool, arguments: args, status, text }, events) {
      const shown = capResult(text, status === 'ok', capBytes);
      if (!sees) return shown;
      const seen = seenResult(tool, status, text);
      const reads = reread !== undefined && access(tool) === 'read' && !polling.includes(tool);
      const note =
        reads && status === 'ok'
          ? rereadNote(
              { tool, arguments: args, content: seen.content },
              events,
              reread.generated ?? generatedUsual,
            )
          : undefined;
      return { ...shown, note, seen };
    },
  };
}

interface Breakers {
  readonly armed: readonly Policy[];
  readonly annotating: readonly Policy[];
}

function openBreakers(options: Policies, changes: (tool: string) => boolean): Breakers {
  const made: (readonly [BreakerMode, Policy])[] = [];
  if (options.starvation !== undefined) {
    const { mode = 'armed', turns = starvationTurnsUsual } = options.starvation;
    made.push([mode, starvation({ turns, changes })]);
  }
  if (options.repetition !== undefined) {
    const { mode = 'armed', ...limits } = options.repetition;
    made.push([mode, repetition({ ...repetitionUsual, ...limits })]);
  }
  const of = (wanted: BreakerMode) => made.flatMap(([mode, policy]) => (mode === wanted ? [policy] : []));
  return { armed: of('armed'), annotating: of('annotate') };
}

/** The turns, once the last of them has its answer and all results. Most runs have no policy that would look at them. */
function settledTurns(
  policies: readonly Policy[],
  events: readonly EventBody[],
): readonly PolicyTurn[] | undefined {
  if (policies.length === 0) return undefined;
  const turns = policyTurns(events);
  const last = turns.at(-1);
  const settled = last?.answered === true && last.calls.every(({ status }) => status !== undefined);
  return settled ? turns : undefined;
}

function speak(policy: string, text: string): Said {
  return { do: 'speak', text, event: { type: 'policy-speak', policy, text } };
}

function noteOf({ policy, do: would, text }: Directive): EventBody {
  return { type: 'policy-note', policy, would, text };
}

function stopped(policy: string, text: string): Said {
  const error = new NativeError('native.policy-stopped', `The policy ${policy} ended the run. ${text}`, {
    next: `Look at what it did, then give the session another task, or change policies.${policy} in agent.yaml.`,
    details: { policy },
  });
  return { do: 'stop', error: error.toJSON() };
}

/** What was said and has not gone out with a request yet. */
function unsentSpeech(events: readonly EventBody[]): string | undefined {
  const said = events.findLast((event) => event.type === 'policy-speak' || event.type === 'model-request');
  return said?.type === 'policy-speak' ? said.text : undefined;
}

/** Whether the model stopped by itself: a provider that says anything else has ended the answer in its own way. */
function endedCleanly(events: readonly EventBody[]): boolean {
  const last = events.findLast((event) => event.type === 'model-response');
  return last?.type === 'model-response' && last.finish === 'stop';
}

/** The newest turn in which the model did something; -1 for none. */
function lastWork(turns: readonly PolicyTurn[]): number {
  return turns.findLastIndex(({ calls }) => calls.length > 0);
}

/** Challenges since the model last did something. */
function trailingChallenges(turns: readonly PolicyTurn[]): number {
  return turns.slice(lastWork(turns) + 1).filter(({ spoken }) => spoken.includes('completion')).length;
}

function command({ tool, arguments: args }: PolicyCall): string | undefined {
  if (tool !== shellTool) return undefined;
  const given: unknown = JSON.parse(args);
  const found = typeof given === 'object' && given !== null && 'command' in given ? given.command : undefined;
  return typeof found === 'string' ? found : undefined;
}
