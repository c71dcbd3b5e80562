/** What a session keeps of how it was started, so that `writ runs resume` can build the same harness again. */
import { z } from 'zod';
import { policiesForm } from '../../compose/load/policies-form.ts';
import { surfaceModes } from '../../compose/surface/mode.ts';
import type { Store } from '../../ledger/store.ts';
import { wireNames } from '../../native/model/wire-names.ts';
import { fidelities, intents } from '../../protocol/intent.ts';
import type { Json } from '../../protocol/json.ts';
import type { SessionRecord } from '../../protocol/record.ts';
import { reasoningEfforts } from '../../wire/settings.ts';
import { CliError } from '../errors.ts';

const rate = z.number().min(0);
const text = z.string();
const texts = z.array(text);

const reads = texts.optional();
const mcpServer = z.union([
  z.object({ command: text, args: texts, env: texts.optional(), reads }),
  z.object({ url: text, keyEnv: text.optional(), reads }),
]);

const priceForm = z.object({
  prompt: rate,
  completion: rate,
  cached: rate.optional(),
  cacheWrite: rate.optional(),
});

const givenSkill = z.object({ name: text, text });

const originSchema = z.object({
  agentFolder: text,
  workspace: text,
  model: text,
  /** Where nothing of the task can ask a model, so that none is looked for; `model` is then `none`. */
  modelless: z.literal(true).optional(),
  baseUrl: text.optional(),
  wire: z.enum(wireNames).optional(),
  /** The name of the variable that holds the key; never the key. */
  keyEnv: text.optional(),
  maxTokens: z.int().positive().optional(),
  reasoningEffort: z.enum(reasoningEfforts).optional(),
  decisionEffort: z.enum(reasoningEfforts).optional(),
  /** What the task is worked on by, where that is not the loop. */
  root: z.enum(['decide', 'plan']).optional(),
  price: priceForm.optional(),
  /** Files that the model may look into, as they were when the session began. */
  contexts: z
    .array(z.object({ alias: text, path: text, bytes: z.number(), mtimeMs: z.number(), head: text }))
    .optional(),
  tools: z.array(
    z.object({
      name: text,
      options: z.record(text, z.custom<Json>()),
      own: z.literal(true).optional(),
      /** What agent.yaml said of the file. */
      capability: z.union([text, z.record(text, text)]).optional(),
    }),
  ),
  /** The folders of the skills that were chosen. */
  skills: z.record(text, text).optional(),
  /** How the session chose from the tools of its servers. */
  surface: z.object({ mode: z.enum(surfaceModes), tokens: z.int().min(0).nullable() }).optional(),
  /** What the session could hold, as it was resolved when it began. */
  resolved: z
    .object({
      version: z.literal(1),
      from: text,
      capabilities: texts.readonly(),
      unavailable: texts.readonly(),
    })
    .optional(),
  /** As the agent named them, less those that its mode leaves out. */
  policies: policiesForm.optional(),
  conversation: z.object({ hotTokens: z.int().positive() }).optional(),
  /** What has to be true in the end, as its file says it. */
  spec: z.custom<Json>().optional(),
  /** Skills of the session that plans are given whole, as they were when it began. */
  planSkills: z.object({ decision: z.array(givenSkill), steps: z.array(givenSkill) }).optional(),
  /** MCP servers by name; of variables only the names. */
  mcp: z.record(text, mcpServer).optional(),
  situation: z.object({
    profile: text.optional(),
    situation: text.optional(),
    fact: texts.readonly().optional(),
    unknown: texts.readonly().optional(),
    interactive: z.boolean().optional(),
    identity: text.optional(),
    governance: text.optional(),
    memory: text.optional(),
    sessionText: text.optional(),
    skill: texts.readonly().optional(),
    capability: texts.readonly().optional(),
  }),
});

/** Paths are absolute. Nothing in it is a secret. */
export type Origin = z.output<typeof originSchema>;

const level = z.enum(['observed', 'none']).optional();

/** How a session of an agent program was started. */
const outsideSchema = originSchema.pick({ agentFolder: true, workspace: true, situation: true }).extend({
  outside: z.object({
    harness: text,
    program: text,
    intent: z.enum(intents),
    fidelity: z.enum(fidelities),
    unmeasured: z.enum(['refuse', 'warn']),
    baseUrl: text.optional(),
    /** Its requests go through our recorder, on to `baseUrl`. */
    metered: z.literal(true).optional(),
    /** What models cost, by their name; only where it is metered. */
    prices: z.record(text, priceForm).optional(),
    dimensions: z.record(text, z.custom<Json>()),
    lowered: z.object({ budget: level, approval: level, effects: level, resume: level, cancel: level }),
  }),
});
export type OutsideOrigin = z.output<typeof outsideSchema>;
export type AnyOrigin = Origin | OutsideOrigin;

/** As the session's record stores it: closed JSON, with what is undefined left out. */
export function originRecord(origin: AnyOrigin): SessionRecord['origin'] {
  return JSON.parse(JSON.stringify(origin));
}

/** How a run was started; a later run of a session may have another server, workspace or limit than the first. */
export async function originOfRun(store: Store, run: string, session: SessionRecord): Promise<AnyOrigin> {
  const start = (await store.events(run)).find((event) => event.type === 'run-start');
  return readOrigin(start?.type === 'run-start' ? start.origin : session.origin, session.id);
}

/** Throws `cli.not-rebuildable` for what another program started in its own way. */
export function readOrigin(origin: SessionRecord['origin'], session: string): AnyOrigin {
  const read = z.union([outsideSchema, originSchema]).safeParse(origin);
  if (read.success) return read.data;
  throw new CliError(
    'cli.not-rebuildable',
    `Session ${session} expected to say how it was started; it was not started by writ run.`,
    { next: 'Resume it with the program that started it.', details: { session } },
  );
}
