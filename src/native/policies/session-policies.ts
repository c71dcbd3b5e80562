/** The policies of one session at work: what the model is told of them, what they say after a turn, and when the run may end. */
import type { Policies } from '../../compose/policies.ts';
import type { ErrorJson } from '../../errors.ts';
import type { EventBody } from '../../protocol/events.ts';
import { NativeError } from '../errors.ts';
import { repetition, repetitionUsual, starvation, starvationTurnsUsual } from './breakers.ts';
import {
  asserts,
  completionChallenge,
  completionTerms,
  completionUsual,
  withoutToken,
} from './completion.ts';
import { arbitrate, type Policy } from './directive.ts';
import { type PolicyCall, type PolicyTurn, policyTurns } from './history.ts';
import { idleDone, idleDoneUsual } from './idle-done.ts';
import { capResult, resultCapBytes } from './result-cap.ts';

export type Said =
  | { readonly do: 'speak'; readonly text: string; readonly event: EventBody | undefined }
  | { readonly do: 'stop'; readonly error: ErrorJson };

export interface SessionPolicies {
  /** What stands behind the task; empty where nothing does. */
  readonly terms: string;
  /** What is to be said now, or said again because a stop came between saying and sending; undefined for nothing. */
  afterTurn(events: readonly EventBody[]): Said | undefined;
  /** Whether an answer ends the run. */
  closing(
    text: string,
    events: readonly EventBody[],
  ): Promise<{ readonly do: 'complete'; readonly answer: string } | Said>;
  cap(text: string, succeeded: boolean): { readonly text: string; readonly cut: boolean };
}

export interface PolicySeat {
  /** Whether a tool is one that changes something outside. */
  readonly changes: (tool: string) => boolean;
  /** The text of a stored message. */
  readonly recall: (digest: string) => Promise<string>;
}

const stallRetriesUsual = 1;

/** How often a request is sent again after its answer stood still; none where the policy is not named. */
export function stallRetries(options: Policies): number {
  const named = options['stall-recovery'];
  return named === undefined ? 0 : (named.retries ?? stallRetriesUsual);
}

/** Opens the policies of a session. */
export function openPolicies(options: Policies, { changes, recall }: PolicySeat): SessionPolicies {
  const completion =
    options.completion === undefined ? undefined : { ...completionUsual, ...options.completion };
  const idle = options['idle-done'] === undefined ? undefined : { ...idleDoneUsual, ...options['idle-done'] };
  const policies: Policy[] = [];
  if (options.starvation !== undefined)
    policies.push(starvation({ turns: options.starvation.turns ?? starvationTurnsUsual, changes }));
  if (options.repetition !== undefined)
    policies.push(repetition({ ...repetitionUsual, ...options.repetition }));
  const capBytes = options['result-cap'] === undefined ? 0 : resultCapBytes(options['result-cap']);
  // Idle-done may only find a run idle that was let be so for its number of turns.
  const challengesMax = Math.max(completion?.challenges ?? 0, idle === undefined ? 0 : idle.turns);

  return {
    terms: completion === undefined ? '' : completionTerms(completion),
    afterTurn(events) {
      const unsent = unsentSpeech(events);
      if (unsent !== undefined) return { do: 'speak', text: unsent, event: undefined };
      // Every turn of every run asks; most have no policy that would look at them.
      if (policies.length === 0) return undefined;
      const turns = policyTurns(events);
      const last = turns.at(-1);
      if (last?.answered !== true || last.calls.some(({ status }) => status === undefined)) return undefined;
      const found = arbitrate(policies, turns);
      if (found === undefined) return undefined;
      if (found.do === 'stop') return stopped(found.policy, found.text);
      return speak(found.policy, found.text);
    },
    async closing(text, events) {
      if (completion === undefined) return { do: 'complete', answer: text };
      if (asserts(text, completion.token)) {
        return { do: 'complete', answer: withoutToken(text, completion.token) };
      }
      const unsent = unsentSpeech(events);
      if (unsent !== undefined) return { do: 'speak', text: unsent, event: undefined };
      const turns = policyTurns(events);
      if (idle !== undefined) {
        const seen = await withExits(turns, recall);
        if (idleDone(seen, { ...idle, changes, command })) return { do: 'complete', answer: text };
      }
      const challenges = trailingChallenges(turns);
      if (challenges < challengesMax) return speak('completion', completionChallenge(completion));
      return stopped(
        'completion',
        `The answer did not end with the line ${completion.token}, and was questioned ${challenges} times.`,
      );
    },
    cap: (text, succeeded) => capResult(text, succeeded, capBytes),
  };
}

function speak(policy: string, text: string): Said {
  return { do: 'speak', text, event: { type: 'policy-speak', policy, text } };
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

/** Challenges since the model last did something. */
function trailingChallenges(turns: readonly PolicyTurn[]): number {
  const lastWork = turns.findLastIndex(({ calls }) => calls.length > 0);
  return turns.slice(lastWork + 1).filter(({ spoken }) => spoken.includes('completion')).length;
}

const shellTool = 'command_start';

function command({ tool, arguments: args }: PolicyCall): string | undefined {
  if (tool !== shellTool) return undefined;
  const given: unknown = JSON.parse(args);
  const found = typeof given === 'object' && given !== null && 'command' in given ? given.command : undefined;
  return typeof found === 'string' ? found : undefined;
}

/** A command that was run is no success of its own: its head line says with which code it ended. */
async function withExits(
  turns: readonly PolicyTurn[],
  recall: PolicySeat['recall'],
): Promise<readonly PolicyTurn[]> {
  const exited = async (call: PolicyCall): Promise<PolicyCall> => {
    if (call.tool !== shellTool || call.status !== 'ok' || call.message === null) return call;
    const text = await recall(call.message);
    // The first one is the head line; what stands below it is output, and may say anything.
    const [, end] = /\[command \S+ (running|lost|ended exit=\w+)\]/.exec(text) ?? [];
    return end === 'ended exit=0' ? call : { ...call, status: 'failed' };
  };
  return Promise.all(
    turns.map(async (turn) => ({ ...turn, calls: await Promise.all(turn.calls.map(exited)) })),
  );
}
