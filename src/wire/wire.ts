/** The port of a provider's protocol: pure functions from messages to exact bytes and from bytes to messages. */
import type { AssistantMessage, Message, ToolSchema } from '../protocol/messages.ts';
import type { Usage } from '../protocol/usage.ts';
import type { SettingForms } from './settings.ts';

/** Why the model stopped. `length`: cut off by the output limit, so its last call may be half a call. */
export type Finish = 'stop' | 'tool-calls' | 'length' | 'content-filter' | 'other';

export interface BodyParts {
  readonly model: string;
  /** Messages as `message` wrote them, joined as they are. */
  readonly messages: readonly string[];
  /** The tool block as `tools` wrote it; empty for none. */
  readonly tools: string;
  /** Output limit in tokens; null for the provider's own. */
  readonly maxTokens: number | null;
  /** Further parameters of the protocol by their own names, for instance `temperature`. */
  readonly parameters: { readonly [name: string]: unknown };
}

export type WireDelta = { readonly type: 'text' | 'reasoning'; readonly text: string };

/** What a whole response said. */
export type WireEnd =
  | {
      readonly kind: 'message';
      readonly message: AssistantMessage;
      readonly finish: Finish;
      readonly usage: Usage;
      readonly modelSeen: string | null;
      /** What the provider calls the state of its service that answered; left out where it says nothing of it. */
      readonly fingerprint?: string;
      readonly requestId: string | null;
    }
  /** The provider reported an error inside a stream that had begun with success. */
  | {
      readonly kind: 'error';
      readonly code: string | null;
      readonly message: string;
      readonly usage: Usage;
      /** True where the provider was only too busy and nothing of an answer had come. */
      readonly passing?: boolean;
    }
  /** The stream ended politely but without its end mark, or with nothing in it. */
  | { readonly kind: 'cut'; readonly message: string; readonly usage: Usage };

/** Reads one response, fed in chunks of any size; a character split over chunks is kept whole. */
export interface WireReader {
  push(chunk: Uint8Array): readonly WireDelta[];
  /**
   * True once nothing that follows can make the answer better: after the protocol's end mark, or after a fault. Whoever
   * reads may then wait a moment for the connection to end, but need not.
   */
  readonly finished: boolean;
  /** The tool that the provider itself has begun to run in this answer; null for none. To ask again could run it twice. */
  readonly began: string | null;
  end(): WireEnd;
}

export interface Wire {
  readonly name: string;
  /** Appended to the base URL. */
  readonly path: string;
  /** The output limit that a body carries where none is given; left out where the protocol needs none. */
  readonly maxTokensDefault?: number;
  /** How it writes what is set of sampling and reasoning. */
  readonly settings: SettingForms;
  /** Headers that carry the key and the protocol's version; `key` null where none is needed. */
  headers(key: string | null): Readonly<Record<string, string>>;
  /** The exact JSON text of one message. A message recorded once is sent again in these very bytes. */
  message(message: Message): string;
  /** The exact JSON text of the tool block, in the order given. */
  tools(schemas: readonly ToolSchema[]): string;
  body(parts: BodyParts): string;
  reader(): WireReader;
  /** What an error response says, as far as it can be read. */
  fault(httpStatus: number, body: string): { readonly code: string | null; readonly message: string };
}
