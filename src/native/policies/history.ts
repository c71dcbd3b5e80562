/** What the policies of a session look at: the turns of a run, as its events tell them. */
import { canonicalJson } from '../../digest.ts';
import type { CallStatus, EventBody } from '../../protocol/events.ts';

export interface PolicyCall {
  readonly tool: string;
  /** As the model wrote them, but for white space and the order of keys. */
  readonly arguments: string;
  /** Undefined while it has no result. */
  readonly status: CallStatus | undefined;
  readonly code: string | null;
  /** Digest of the result's message. */
  readonly message: string | null;
}

export interface PolicyTurn {
  readonly turn: number;
  readonly calls: readonly PolicyCall[];
  /** True once the model's message is here. */
  readonly answered: boolean;
  /** What was said to the model after this turn, by the name of the policy. */
  readonly spoken: readonly string[];
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
    compactions: number;
  }[] = [];
  let compactions = 0;
  for (const event of events) {
    const at = turns.at(-1);
    switch (event.type) {
      case 'turn-start':
        turns.push({ turn: event.turn, calls: [], answered: false, spoken: [], compactions });
        break;
      case 'message-finish':
        if (at !== undefined) at.answered = true;
        break;
      case 'tool-call':
        at?.calls.push({
          tool: event.tool,
          arguments: plain(event.arguments),
          status: undefined,
          code: null,
          message: null,
        });
        break;
      case 'tool-result': {
        const call = at?.calls[event.position - 1];
        if (at !== undefined && call !== undefined && at.turn === event.turn)
          at.calls[event.position - 1] = {
            ...call,
            status: event.status,
            code: event.code,
            message: event.message,
          };
        break;
      }
      case 'policy-speak':
        at?.spoken.push(event.policy);
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

function plain(text: string): string {
  try {
    return canonicalJson(JSON.parse(text));
  } catch {
    return text.trim();
  }
}
