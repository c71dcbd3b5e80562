/** What a harness is seen to do: every vendor's stream in one vocabulary, before it becomes events of the record. */

/** Tokens and money as one message or one whole run reports them. Null is unknown, never zero. */
export interface ObservedUsage {
  readonly promptTokens: number | null;
  readonly cachedTokens: number | null;
  readonly cacheWriteTokens: number | null;
  readonly completionTokens: number | null;
  readonly reasoningTokens: number | null;
}

export type Observed =
  /** The vendor's own session id. */
  | { readonly type: 'session'; readonly id: string }
  | { readonly type: 'model'; readonly name: string }
  | { readonly type: 'text-delta' | 'reasoning-delta'; readonly text: string }
  /** A finished text; `id` is the vendor's, null where it has none. Not repeated for what came as deltas. */
  | { readonly type: 'text'; readonly id: string | null; readonly text: string }
  /** Already executed by the harness, or denied by it: never ours to run. `arguments` is JSON text. */
  | {
      readonly type: 'tool-call';
      readonly callId: string;
      readonly tool: string;
      readonly arguments: string;
    }
  | {
      readonly type: 'tool-result';
      readonly callId: string;
      readonly status: 'ok' | 'failed' | 'denied';
      readonly text: string;
    }
  | {
      readonly type: 'usage';
      /** The vendor's message id; the last report of one id counts. Null where there is none. */
      readonly id: string | null;
      /** `message`: one model answer. `run`: all of this run. `session`: all since the session began. */
      readonly scope: 'message' | 'run' | 'session';
      readonly usage: ObservedUsage;
      readonly costUsd: number | null;
      /** A bill of the provider, or an estimate of the harness; the two never add up to one number. */
      readonly costLane: 'billed' | 'estimated' | null;
    }
  /** The harness asks its provider again. */
  | { readonly type: 'retry'; readonly reason: string }
  | { readonly type: 'turn-end' }
  /** The harness says how it ended; `answer` is null where it gives none here. */
  | { readonly type: 'finish'; readonly ok: true; readonly answer: string | null }
  | { readonly type: 'finish'; readonly ok: false; readonly message: string };
