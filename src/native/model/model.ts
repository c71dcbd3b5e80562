/** The port of a model: it writes exact bytes, sends them once, and returns how that ended. */
import type { ErrorJson } from '../../errors.ts';
import type { AssistantMessage, Message, ToolSchema } from '../../protocol/messages.ts';
import type { Usage } from '../../protocol/usage.ts';
import type { SettingForms } from '../../wire/settings.ts';
import type { BodyParts, Finish, WireDelta } from '../../wire/wire.ts';

/** US dollars per million tokens. A cache rate that is left out is unknown, not zero and not the full rate. */
export interface Price {
  readonly prompt: number;
  readonly completion: number;
  readonly cached?: number;
  readonly cacheWrite?: number;
}

export type ModelReply =
  | {
      readonly ok: true;
      readonly message: AssistantMessage;
      readonly finish: Finish;
      readonly usage: Usage;
      readonly modelSeen: string | null;
      /** The state of the provider's service that answered, as it calls it; left out where it says nothing of it. */
      readonly fingerprint?: string;
      readonly requestId: string | null;
      /** Null where an SDK does not tell it. */
      readonly httpStatus: number | null;
      /** The response's exact bytes; of an SDK, which has none, what it gave instead. */
      readonly raw: Uint8Array;
      readonly firstByteMs: number;
      readonly elapsedMs: number;
      /** What an SDK warned of: settings that did not reach the model as they were given. */
      readonly warnings?: readonly string[];
    }
  | {
      readonly ok: false;
      readonly error: ErrorJson;
      /** Whether the request left this process; `no` only with proof. */
      readonly dispatched: 'no' | 'yes' | 'unknown';
      readonly usage: Usage;
      readonly httpStatus: number | null;
      readonly raw: Uint8Array | null;
      /** True where the same request may be sent again: nothing of an answer was seen and the fault is passing. */
      readonly retryable: boolean;
      /** What the provider asked for; null where it said nothing. */
      readonly retryAfterMs: number | null;
      /** The tool that the provider itself had begun to run; left out where there was none. */
      readonly began?: string;
      readonly warnings?: readonly string[];
    };

export interface SendOptions {
  readonly signal: AbortSignal;
  /** The same for every attempt at one request, and for no other: for a server that knows such keys. */
  readonly idempotencyKey?: string;
  readonly onDelta?: (delta: WireDelta) => void;
}

export interface Model {
  /** As it was asked for: `provider/name`. */
  readonly id: string;
  /** The provider's own name of the model. */
  readonly name: string;
  readonly wire: string;
  /** Where requests go, without credentials. */
  readonly url: string;
  /** Null where no price is known; then a money budget cannot be kept. */
  readonly price: Price | null;
  /** The output limit that a body carries where none is given; left out where that is the provider's matter. */
  readonly maxTokensDefault?: number;
  /** How it writes what is set of sampling and reasoning. */
  readonly settings: SettingForms;
  message(message: Message): string;
  tools(schemas: readonly ToolSchema[]): string;
  body(parts: Omit<BodyParts, 'model'>): string;
  /** Sends the body once, without retrying. Never rejects: every end is a reply, cancellation included. */
  send(body: string, options: SendOptions): Promise<ModelReply>;
  close(): Promise<void>;
}
