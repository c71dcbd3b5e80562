/** The messages of a conversation, in no provider's dialect; each wire writes them in its own. */
import type { Json } from './json.ts';

export interface SystemMessage {
  readonly role: 'system' | 'developer';
  readonly text: string;
  /** How many bytes from the start are the same in other sessions too; a wire may let its provider cache up to there. */
  readonly stablePrefixBytes?: number;
}

export interface UserMessage {
  readonly role: 'user';
  readonly text: string;
}

/** A call as the model wrote it. `arguments` is the exact text, which is replayed digit for digit. */
export interface ToolCall {
  /** The provider's id. It pairs a result with its request and is never an identity of ours. */
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

export interface Reasoning {
  /** What may be shown to a person; may be empty where the provider only sends an opaque block. */
  readonly text: string;
  /** The provider's own block, sent back unaltered. */
  readonly opaque?: Json;
}

export interface AssistantMessage {
  readonly role: 'assistant';
  readonly text: string;
  readonly reasoning?: Reasoning;
  readonly calls: readonly ToolCall[];
}

export interface ToolMessage {
  readonly role: 'tool';
  readonly callId: string;
  readonly name: string;
  readonly text: string;
}

export type Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage;

/** What a model is told of a tool. `parameters` is a JSON Schema of type object. */
export interface ToolSchema {
  readonly name: string;
  readonly description: string;
  readonly parameters: { readonly [key: string]: Json };
}
