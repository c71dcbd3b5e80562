/** What is said of bringing a composed text to a harness: the plan, the measurement behind it, and the receipt. All JSON. */
import type { Fidelity, Intent } from './intent.ts';
import type { Json } from './json.ts';

/** How a text travels. `request` is a field of the protocol that the harness speaks with us. */
export type Transport = 'file' | 'stdin' | 'argv' | 'env' | 'request';

/** How the harness shows its vendor who is asking: with a key of the caller, or with a login that it keeps itself. */
export const authModes = ['api-key', 'login'] as const;
export type AuthMode = (typeof authModes)[number];

/** What a request may ask for beside the text and the task. */
export const dimensions = [
  'model',
  'tools',
  'skills',
  'mcpServers',
  'permissions',
  'hooks',
  'subagents',
  'commands',
  'contextFiles',
  'reasoningEffort',
  'temperature',
  'outputTokensMax',
  'env',
  'json',
  'agent',
] as const;
export type Dimension = (typeof dimensions)[number];

/** What about a text may be mishandled on its way. A cell lists those that did not arrive byte for byte. */
export const textTraits = [
  'empty',
  'leading-dash',
  'leading-at',
  'leading-slash',
  'rule-line',
  'quotes',
  'braces',
  'dollar-brace',
  'backtick',
  'crlf',
  'bom',
  'nul',
  'blank-lines-around',
  'non-ascii',
  'large',
  'file-name',
] as const;
export type TextTrait = (typeof textTraits)[number];

/** Where a text stands in the request that the model gets: `system[2].text` is field `system`, index 2. */
export interface Position {
  readonly field: string;
  readonly role: string;
  /** Null where the field is no list. */
  readonly index: number | null;
}

/** Text of the vendor, of role system or developer, that stands beside ours. */
export interface Residue {
  readonly bytes: number;
  /** How the largest part of it begins; empty where there is none. */
  readonly firstWords: string;
}

/** One measurement: what one version of a harness did with one intent. */
export interface Cell {
  readonly harness: string;
  readonly version: string;
  readonly modelFamily: string;
  readonly authMode: AuthMode;
  readonly intent: Intent;
  readonly fidelity: Fidelity;
  /** The control that was measured, as the harness's table names it. */
  readonly control: string;
  readonly delivered: boolean;
  /** Null where nothing of ours arrived. */
  readonly position: Position | null;
  readonly residue: Residue;
  /** Bytes of the vendor's system and developer text in a request without us; null where it was not measured. */
  readonly builtInBytes: number | null;
  /** Whether every text arrived unaltered, but for those that `altered` names. */
  readonly byteEquality: boolean;
  readonly altered: readonly TextTrait[];
  /** ISO date of the measurement. */
  readonly date: string;
}

/** A file of the session's home. It is private to the user (mode 0600) and made exclusively. */
export interface PlannedFile {
  /** Relative to the home, with forward slashes. */
  readonly path: string;
  readonly text: string;
  /** Files of a run are removed when it ends; those of a session with its home. */
  readonly until: 'run' | 'session';
}

/** A file of the user's own login, copied into the home before the first run. Its content is never part of a plan. */
export interface Seed {
  /** Relative to the user's home folder, unless `variable` is set for the caller: then relative to what it names. */
  readonly from: string;
  readonly variable: string | null;
  /** Where it stands below `variable`, when that is set. */
  readonly below: string;
  /** Relative to the session's home. */
  readonly to: string;
}

/** A file that the harness reads on its own and that no switch keeps out. */
export interface AmbientFile {
  /** Below a folder; absolute for a file of the machine. */
  readonly path: string;
  /** In the workspace alone, or also in every folder above it; or set for all users by whoever runs the machine. */
  readonly where: 'workspace' | 'upward' | 'machine';
  /** `system`: it can change what stands in our place, so its presence refuses the run. `beside`: it is named as residue. */
  readonly touches: 'system' | 'beside';
}

/** How one wish of the request is honoured. */
export interface UsedControl {
  readonly wish: Intent | Dimension | 'task';
  readonly control: string;
  readonly transport: Transport;
  /** UTF-8 bytes of the text that travels this way, and their SHA-256; null for a wish that is no text. */
  readonly bytes: number | null;
  readonly sha256: string | null;
}

/** What an agent of the Agent Client Protocol is told, beside its start. */
export interface AcpTurn {
  /** Parameters of `session/new`. */
  readonly session: { readonly [name: string]: Json };
  /** Content of `session/prompt`. */
  readonly prompt: string;
}

/** All that is done to deliver one run, decided before anything is touched. Paths in it are final. */
export interface DeliveryPlan {
  readonly harness: string;
  readonly intent: Intent;
  readonly fidelity: Fidelity;
  /** The command's name; null where nothing is started. A driver may put a given path in its place. */
  readonly program: string | null;
  readonly argv: readonly string[];
  /** Set for the child. Never a secret. */
  readonly env: { readonly [name: string]: string };
  /** Names that the child takes from the caller's environment if they are set there, beside the driver's own few. */
  readonly inherit: readonly string[];
  /** Absolute folder that belongs to this session alone. */
  readonly home: string;
  /** Absolute folder in which the harness works. */
  readonly workspace: string;
  readonly files: readonly PlannedFile[];
  readonly seeds: readonly Seed[];
  /** Written whole, then closed; null for a closed input. */
  readonly stdin: string | null;
  readonly acp: AcpTurn | null;
  /** The intent's control first. */
  readonly controls: readonly UsedControl[];
  readonly ambient: readonly AmbientFile[];
  /** What of the vendor's, or of the surroundings, stays beside our text, in words. */
  readonly residue: readonly string[];
  /** The measurement that the plan rests on; null where the caller chose to go on without one. */
  readonly cell: Cell | null;
  readonly notices: readonly string[];
}

/** What was delivered, as the record keeps it. Never content, never values of the environment. */
export interface Receipt {
  readonly harness: string;
  readonly version: string | null;
  readonly intent: Intent;
  readonly fidelity: Fidelity;
  readonly control: string;
  readonly transport: Transport;
  readonly bytes: number;
  readonly sha256: string;
  /** The role in which the text landed when this was measured. */
  readonly role: string | null;
  readonly cell: Cell | null;
  readonly residue: readonly string[];
  readonly controls: readonly UsedControl[];
  /** SHA-256 of the plan's canonical JSON. */
  readonly plan: string;
  readonly notices: readonly string[];
}

/** What all runs of one vendor session have in common. A run that asks for something else is refused. */
export interface SessionBinding {
  readonly intent: Intent;
  readonly fidelity: Fidelity;
  /** SHA-256 of the canonical JSON of all dimensions that were asked for. */
  readonly dimensions: string;
}

/** What a refusal says as data, whatever its code. */
export interface RefusalDetails {
  readonly harness: string;
  /** The field of the request that cannot be honoured. */
  readonly field: 'intent' | 'fidelity' | 'text' | 'task' | Dimension;
  readonly requirement: string;
  readonly alternative: string;
  /** Names of the harnesses that can. */
  readonly able: readonly string[];
}
