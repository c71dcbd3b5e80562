/** What a session keeps of how it was started, so that `writ runs resume` can build the same harness again. */
import { z } from 'zod';
import type { Json } from '../../protocol/json.ts';
import type { SessionRecord } from '../../protocol/record.ts';
import { CliError } from '../errors.ts';

const rate = z.number().min(0);
const text = z.string();
const texts = z.array(text);

const originSchema = z.object({
  agentFolder: text,
  workspace: text,
  model: text,
  baseUrl: text.optional(),
  /** The name of the variable that holds the key; never the key. */
  keyEnv: text.optional(),
  maxTokens: z.int().positive().optional(),
  price: z
    .object({
      prompt: rate,
      completion: rate,
      cached: rate.optional(),
      cacheWrite: rate.optional(),
    })
    .optional(),
  /** Files that the model may look into, as they were when the session began. */
  contexts: z
    .array(z.object({ alias: text, path: text, bytes: z.number(), mtimeMs: z.number(), head: text }))
    .optional(),
  tools: z.array(z.object({ name: text, options: z.record(text, z.custom<Json>()) })),
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
  }),
});

/** Paths are absolute. Nothing in it is a secret. */
export type Origin = z.output<typeof originSchema>;

/** As the session's record stores it: closed JSON, with what is undefined left out. */
export function originRecord(origin: Origin): SessionRecord['origin'] {
  return JSON.parse(JSON.stringify(origin));
}

/** Throws `cli.not-rebuildable` for a session that another program started in its own way. */
export function readOrigin(session: SessionRecord): Origin {
  const read = originSchema.safeParse(session.origin);
  if (read.success) return read.data;
  throw new CliError(
    'cli.not-rebuildable',
    `Session ${session.id} expected to say how it was started; it was not started by writ run.`,
    {
      next: 'Resume it with the program that started it.',
      details: { session: session.id },
    },
  );
}
