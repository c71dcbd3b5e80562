/** What the policies of a session look at: the turns of a run, as its events tell them. */
import { canonicalJson } from '../../digest.ts';
import type { CallStatus, EventBody, SeenResult } from '../../protocol/events.ts';

export interface PolicyCall {
  readonly tool: string;
  /** As the model wrote them, but for white space and the order of keys. */
  readonly arguments: string;
  /** Undefined while it has no result. */
  readonly status: CallStatus | undefined;
  readonly code: string | null;
  /** How it really ended, and what it said; undefined while it has no result. */
  readonly seen: SeenResult | undefined;
}

export interface PolicyTurn {
  readonly turn: number;
  readonly calls: readonly PolicyCall[];
  /** True once the model's message is here. */
  readonly answered: boolean;
  /** What was said to the model after this turn, by the name of the policy. */
  readonly spoken: readonly string[];
  /** What was only noted of it, by the name of the policy. */
  readonly noted: readonly string[];
  /** What its calls changed in the workspace, where that is watched. */
  readonly touched: readonly string[];
  /** How many compactions came before its end. */
  readonly compactions: number;
}

/** The turns of a run in order. Events of a plan's lanes belong to other conversations and are not to be given. */
export function policyTurns(events: readonly EventBody[]): readonly PolicyTurn[] {
  const turns: {
    turn: number;
    calls: PolicyCall[];
    answered: boolean;
    spoken: string[];
    noted: string[];
    touched: readonly string[];
    compactions: number;
  }[] = [];
  let compactions = 0;
  for (const event of events) {
    const at = turns.at(-1);
    switch (event.type) {
      case 'turn-start':
        turns.push({
          turn: event.turn,
          calls: [],
          answered: false,
          spoken: [],
          noted: [],
          touched: [],
          compactions,
        });
        break;
      case 'message-finish':
        if (at !== undefined) at.answered = true;
        break;
      case 'tool-call':
        at?.calls.push({
          tool: event.tool,
          arguments: plainArguments(event.arguments),
          status: undefined,
          code: null,
          seen: undefined,
        });
        break;
      case 'tool-result': {
        const call = at?.calls[event.position - 1];
        if (at !== undefined && call !== undefined && at.turn === event.turn)
          at.calls[event.position - 1] = {
            ...call,
            status: event.status,
            code: event.code,
            seen: event.seen ?? { outcome: event.status === 'ok' ? 'ok' : 'failed', content: '' },
          };
        break;
      }
      case 'policy-speak':
        at?.spoken.push(event.policy);
        break;
      case 'policy-note':
        at?.noted.push(event.policy);
        break;
      case 'workspace-change':
        if (at?.turn === event.turn) at.touched = event.files;
        break;
      case 'session-compact':
        compactions += 1;
        if (at !== undefined) at.compactions = compactions;
        break;
      default:
    }
  }
  return turns;
}

/** Arguments without white space and in one order of keys, so that equal ones are one text. */
export function plainArguments(text: string): string {
  try {
    return canonicalJson(JSON.parse(text));
  } catch {
    return text.trim();
  }
}
