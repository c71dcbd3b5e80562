/** What a caller asks to be delivered: the text and its intent, the task, and every other dimension of the run. */
import type { AuthMode } from '../protocol/delivery.ts';
import type { Fidelity, Intent } from '../protocol/intent.ts';
import type { Json } from '../protocol/json.ts';

/** Instructions that the harness itself finds and reads when they fit. */
export interface RequestedSkill {
  readonly name: string;
  readonly description: string;
  /** What stands below the header of SKILL.md. */
  readonly text: string;
}

/** `env` and `headers` hold plain values; a secret is a variable of the caller, given by its name alone. */
export type RequestedServer =
  | {
      readonly command: string;
      readonly args?: readonly string[];
      readonly env?: { readonly [name: string]: string };
      readonly envFrom?: readonly string[];
    }
  | {
      readonly url: string;
      readonly headers?: { readonly [name: string]: string };
      /** The variable of the caller that holds the bearer token. */
      readonly keyEnv?: string;
    };

/** What the harness may do without asking: `read` nothing that changes anything, `edit` files, or `all`. */
export const permissionModes = ['read', 'edit', 'all'] as const;
export type PermissionMode = (typeof permissionModes)[number];

export interface RequestedSubagent {
  readonly name: string;
  readonly description: string;
  readonly text: string;
}

/** A prompt of its own that a person calls by name. */
export interface RequestedCommand {
  readonly name: string;
  readonly description: string;
  readonly text: string;
}

/** A text for the harness's lower surface of project instructions. */
export interface RequestedContextFile {
  readonly name: string;
  readonly text: string;
}

export const reasoningEfforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'] as const;
export type ReasoningEffort = (typeof reasoningEfforts)[number];

/** Every dimension beside the text. Absent means: as the harness does it by itself, in isolation. */
export interface RequestedDimensions {
  readonly model?: string;
  /** Tools of Writ or of the agent folder, by name. Only our own harness has them. */
  readonly tools?: readonly string[];
  readonly skills?: readonly RequestedSkill[];
  readonly mcpServers?: { readonly [name: string]: RequestedServer };
  readonly permissions?: PermissionMode;
  /** In the vendor's own form. */
  readonly hooks?: { readonly [event: string]: Json };
  readonly subagents?: readonly RequestedSubagent[];
  readonly commands?: readonly RequestedCommand[];
  readonly contextFiles?: readonly RequestedContextFile[];
  readonly reasoningEffort?: ReasoningEffort;
  readonly temperature?: number;
  readonly outputTokensMax?: number;
  /** Variables for the harness and what it starts. Plain values. */
  readonly env?: { readonly [name: string]: string };
  /** True for any JSON object; else the schema that the answer keeps. */
  readonly json?: true | { readonly [key: string]: Json };
  /** The agent to start, where the harness is a protocol and not a program: its command and arguments. */
  readonly agent?: readonly string[];
}

/** A request. Closed JSON: everything that a plan depends on stands in it. */
export interface DeliveryRequest extends RequestedDimensions {
  readonly intent: Intent;
  readonly fidelity: Fidelity;
  /** The composition's text. An empty one is a text. */
  readonly text: string;
  readonly task: string;
  /** What the installed program says it is; null where nobody looked. */
  readonly version: string | null;
  readonly authMode: AuthMode;
  /** Absolute folder that belongs to this session alone; it need not exist yet. */
  readonly home: string;
  /** Absolute. */
  readonly workspace: string;
  readonly platform: NodeJS.Platform;
  /** The vendor's id of the session that is continued; null for a new one. */
  readonly resume: string | null;
  /** Where the harness sends its model requests instead of to its vendor; null for its own way. */
  readonly baseUrl: string | null;
}
