/** An agent as it was read from its folder: what compose, deliver and run work with. */
import type { BudgetLimits } from '../protocol/budget.ts';
import type { LayerId } from '../protocol/composition.ts';
import type { Fidelity, Intent } from '../protocol/intent.ts';
import type { Json } from '../protocol/json.ts';
import type { Condition, FactTypes, ReadFact } from './conditions.ts';
import {
  environmentFact,
  type FactDeclaration,
  type FactType,
  type StatedFacts,
  type ToolOffer,
} from './facts.ts';
import type { Policies } from './policies.ts';
import type { Skill, WantedSkills } from './skills.ts';
import type { SurfaceMode } from './surface/mode.ts';
import type { Template } from './template.ts';

/** The layers that fragments make; the others are made of texts given for the session. */
export const fragmentLayers = ['identity', 'contract', 'directives', 'skills'] as const satisfies LayerId[];
type FragmentLayer = (typeof fragmentLayers)[number];

export interface Fragment {
  readonly id: string;
  /** The file's path below the agent folder. */
  readonly file: string;
  readonly layer: FragmentLayer;
  readonly title: string | null;
  readonly when: Condition | null;
  /** What an unknown condition does. */
  readonly unknown: 'keep' | 'drop';
  readonly evidence: readonly string[];
  /** The body exactly as it stands in the file. */
  readonly body: string;
  /** The body without outer blank space, as `blocks` joins it. */
  readonly trimmed: string;
  /** Null where the body is literal. */
  readonly template: Template | null;
  /** Of a fragment that a program defined with a function: what writes its text, and from which facts. */
  readonly render?: { readonly facts: readonly string[]; readonly write: (read: ReadFact) => string };
}

/** Every fact on which presence or text of a fragment may hang; one may stand twice. */
export function factsReadBy({ when, template, render }: Fragment): string[] {
  return [...(when?.facts ?? []), ...(template?.facts ?? []), ...(render?.facts ?? [])];
}

export interface ToolChoice {
  readonly name: string;
  readonly options: { readonly [name: string]: Json };
  /** True for a tool that `tools/<name>.mjs` of the agent folder makes. */
  readonly own?: true;
  /** What agent.yaml says of such a file; left out where it says nothing. */
  readonly capability?: OwnCapability;
}

/** The capability that every tool of a file needs, or each of its tools with its own. */
export type OwnCapability = string | { readonly [tool: string]: string };

/** `env` and `keyEnv` are names of environment variables; `reads` are the tools that the agent takes for reads. */
export type McpServer = { readonly reads?: readonly string[] | undefined } & (
  | {
      readonly command: string;
      readonly args: readonly string[];
      readonly env?: readonly string[] | undefined;
    }
  | { readonly url: string; readonly keyEnv?: string | undefined }
);

/** US dollars per million tokens. */
export interface Price {
  readonly prompt: number;
  readonly completion: number;
  readonly cached?: number | undefined;
  readonly cacheWrite?: number | undefined;
}

/** The most tokens of each layer, by the method of the composition; a layer without a number has no limit. */
export type LayerLimits = Readonly<Partial<Record<LayerId, number>>>;

export interface Agent {
  /** The folder as it was given. */
  readonly folder: string;
  readonly key: string;
  readonly name: string;
  readonly join: 'blocks' | 'bare' | 'verbatim';
  /** Fragment ids in order; `default` is always there. */
  readonly profiles: ReadonlyMap<string, readonly string[]>;
  /** What `tool.*` stands for in conditions, by that name. */
  readonly toolOffers: ReadonlyMap<string, ToolOffer>;
  /** Every fact that can be given or read: built-in, declared, and each `env.*` that something reads. */
  readonly facts: ReadonlyMap<string, FactDeclaration>;
  readonly situations: ReadonlyMap<string, StatedFacts>;
  /** What the agent holds, in the order of the names. */
  readonly capabilities: readonly string[];
  /** Every capability that it could hold. */
  readonly knownCapabilities: readonly string[];
  readonly tools: readonly ToolChoice[];
  readonly mcp: ReadonlyMap<string, McpServer>;
  /** How a session chooses from what its servers offer; null tokens are as many as is usual for the mode. */
  readonly surface: { readonly mode: SurfaceMode; readonly tokens: number | null };
  /** Null where all of a conversation goes with each request. */
  readonly conversation: { readonly hotTokens: number } | null;
  readonly policies: Policies;
  /** Names of skills that are given whole to whoever decides, and to the model steps of plans. */
  readonly plans: { readonly decisionSkills: readonly string[]; readonly stepSkills: readonly string[] };
  /** Path of the file that says what has to be true in the end; null for none. */
  readonly spec: string | null;
  readonly model: string | null;
  readonly budget: BudgetLimits;
  readonly deliver: { readonly intent: Intent | null; readonly fidelity: Fidelity | null };
  readonly skills: WantedSkills;
  /** Those of its own folder. */
  readonly ownSkills: readonly Skill[];
  readonly limits: LayerLimits;
  /** By the model as `model` writes it. */
  readonly prices: ReadonlyMap<string, Price>;
  readonly fragments: ReadonlyMap<string, Fragment>;
  /** Fragments that stand in no profile. */
  readonly unused: readonly string[];
}

/** All that a condition of the agent may name. */
export function factTypesOf({ facts, toolOffers }: Pick<Agent, 'facts' | 'toolOffers'>): FactTypes {
  const types = new Map<string, FactType | ToolOffer>(toolOffers);
  for (const [name, { type }] of facts) types.set(name, type);
  return types;
}

/** The declaration of a fact of the agent, any `env.NAME` included; undefined for no fact. */
export function declarationOf(agent: Pick<Agent, 'facts'>, name: string): FactDeclaration | undefined {
  return agent.facts.get(name) ?? environmentFact(name);
}
