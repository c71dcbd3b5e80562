/** What a plan is: a closed list of steps over values and references. Nothing in it can name code. */
import type { ExactJson } from '../../protocol/json.ts';
import type { Settings } from '../../wire/settings.ts';
import type { Mapping, Partition, Reduction, Selector } from '../context/operations.ts';

/** A value of a step: given in the plan, or found when the step runs. */
export type Expression =
  | { readonly kind: 'literal'; readonly value: ExactJson }
  /** What the plan was started with. */
  | { readonly kind: 'input'; readonly name: string }
  /** What an earlier step of this plan, or of one around it, has bound. */
  | { readonly kind: 'variable'; readonly name: string }
  /** A field of an object by name, or an item of a list by its place from 0. */
  | { readonly kind: 'field'; readonly of: Expression; readonly key: string | number }
  | { readonly kind: 'list'; readonly items: readonly Expression[] }
  | { readonly kind: 'object'; readonly fields: readonly (readonly [string, Expression])[] };

export type ContextAction =
  | {
      readonly type: 'search';
      readonly pattern: Expression;
      readonly regex: boolean;
      readonly from: number;
    }
  | { readonly type: 'slice'; readonly start: number; readonly length: number }
  | { readonly type: 'peek'; readonly selector: Selector }
  | { readonly type: 'partition'; readonly how: Partition }
  | { readonly type: 'map'; readonly how: Mapping }
  | { readonly type: 'reduce'; readonly how: Reduction };

/** What a model step may say of its requests. All else is the runtime's. */
export interface StepOptions extends Settings {
  /** Never more than the session's own. */
  readonly max_tokens?: number;
}

export type Step =
  /** One bounded look into a context, named by its alias. */
  | {
      readonly op: 'context';
      readonly handle: Expression;
      readonly action: ContextAction;
      readonly bind: string;
    }
  | { readonly op: 'tool'; readonly name: string; readonly args: Expression; readonly bind: string }
  /** A conversation of its own with the session's model, which may use the tools that the step may use. */
  | {
      readonly op: 'model';
      readonly provider: string | null;
      readonly prompt: Expression;
      readonly options: StepOptions;
      readonly bind: string;
    }
  /** A plan within the plan, with the capabilities of children. */
  | { readonly op: 'recurse'; readonly plan: Plan; readonly bind: string }
  | { readonly op: 'parallel'; readonly plans: readonly Plan[]; readonly bind: string }
  | { readonly op: 'retry'; readonly attempts: number; readonly plan: Plan; readonly bind: string }
  | { readonly op: 'checkpoint'; readonly label: string }
  | { readonly op: 'final'; readonly value: Expression };

export type StepName = Step['op'];

export interface Plan {
  readonly steps: readonly Step[];
}

/** Each step with the fields that it has in JSON; those with a `?` may be left out. */
export const stepFields = {
  context: ['handle?', 'action', 'bind'],
  tool: ['name', 'args?', 'bind'],
  model: ['provider?', 'prompt', 'options?', 'bind'],
  recurse: ['plan', 'bind'],
  parallel: ['plans', 'bind'],
  retry: ['attempts', 'plan', 'bind'],
  checkpoint: ['label'],
  final: ['value'],
} as const satisfies { readonly [S in StepName]: readonly string[] };

/** Each action on a context with its fields. */
export const actionFields = {
  search: ['pattern', 'regex?', 'from?'],
  slice: ['start', 'length'],
  peek: ['selector'],
  partition: ['how'],
  map: ['how'],
  reduce: ['how'],
} as const satisfies { readonly [A in ContextAction['type']]: readonly string[] };

/** Each request option with the values that it takes. */
export const optionRanges = {
  temperature: [0, 2],
  top_p: [0, 1],
  seed: [0, 2 ** 31 - 1],
  max_tokens: [1, 10_000_000],
} as const;

/** Request options that belong to the runtime, whatever they say. */
export const reservedOptions: readonly string[] = ['messages', 'tools', 'tool_choice', 'stream', 'model'];

/** What a step binds where that is an object of the runtime: its fields, and the one that holds the result. */
export const envelopes = {
  context: { fields: ['value', 'truncated'], result: 'value' },
  tool: { fields: ['value', 'status', 'code', 'bytes', 'truncated', 'elapsed_ms'], result: 'value' },
  model: { fields: ['text', 'turns'], result: 'text' },
} as const;

export type Envelope = keyof typeof envelopes;

/** Bounds that no plan goes past, whoever wrote it. */
export const planBounds = {
  characters: 1_000_000,
  nesting: 64,
  nameCharacters: 64,
  attempts: 16,
} as const;

/** Names of variables, inputs and labels: a letter, then letters, digits, _ or -. */
export const namePattern = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;
