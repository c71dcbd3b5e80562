/** The form of experiment.yaml: what must be said before the first trial. */
import { z } from 'zod';
import { budget, factValue, name, price, text, variable } from '../compose/load/schema.ts';
import { fidelities, intents } from '../protocol/intent.ts';

const share = z.number().gt(0, 'a number above 0').lt(1, 'a number below 1');
const above0 = z.number().gt(0, 'a number above 0');

/** What a trial can be asked for beside `calls.TOOL`. The first is the grade, from 0 to 1. */
const metricNames = [
  'score',
  'timeMs',
  'costUsd',
  'tokens',
  'promptTokens',
  'completionTokens',
  'turns',
  'modelCalls',
  'toolCalls',
  'answerBytes',
] as const;

const metricName = z
  .string()
  .regex(
    new RegExp(`^(${metricNames.join('|')}|calls\\.[A-Za-z0-9_.-]+)$`),
    `one of ${metricNames.join(', ')}, or calls.TOOL`,
  );

const estimand = z
  .union([z.literal('micro'), z.strictObject({ macro: name })], {
    error: 'micro, or { macro: GROUPING }; { macro: item } makes each item a group',
  })
  .describe('micro weighs every trial the same; macro is the mean over the groups of the named grouping.');

const metric = z.strictObject({
  metric: metricName,
  per: metricName.optional().describe('A ratio: the sum of metric by the sum of this, as in cost per score.'),
  estimand: estimand.optional(),
  better: z.enum(['higher', 'lower']).optional().describe('higher for score, lower for all others.'),
  margin: above0.optional().describe("What is still no loss, in the metric's unit."),
});

const primary = metric
  .extend({
    question: z
      .enum(['difference', 'non-inferiority', 'equivalence'])
      .optional()
      .describe('difference by default; the two others need a margin.'),
  })
  .refine((one) => (one.question ?? 'difference') === 'difference' || one.margin !== undefined, {
    path: ['margin'],
    error: 'a number above 0, which that question needs,',
  });

const arm = z.strictObject({
  agent: text.describe('The agent folder, from the folder of this file.'),
  label: text.optional(),
  profile: name.optional(),
  situation: name.optional().describe('A situation of agent.yaml.'),
  facts: z
    .record(z.string(), factValue)
    .optional()
    .describe('Facts by name, over those of the situation; `unknown` lists those that nobody knows.'),
  fragments: z
    .record(name, z.enum(['in', 'out']))
    .optional()
    .describe('Fragments that are in or out here, whatever their condition says.'),
  capabilities: z.record(name, z.boolean()).optional(),
  model: text.optional(),
  harness: name.optional().describe('An agent program in the place of our own loop.'),
  intent: z.enum(intents).optional().describe("What is done to the program's own prompt."),
  fidelity: z.enum(fidelities).optional(),
});

const item = z.strictObject({
  task: text.describe('Word for word what the agent is given.'),
  expect: z.json().optional().describe('What the grader compares with.'),
  groups: z.record(name, text).optional(),
  workspace: text.optional().describe('A folder of its own in place of the one of the experiment.'),
});

/** Items by id. */
export const itemsSchema = z.record(name, item, { error: 'a map of items by id' });

// A longer timer would fire at once.
const timeoutMs = z
  .int()
  .min(1, 'a whole number above 0')
  .max(2 ** 31 - 1, 'at most 2147483647')
  .optional();

const graderKinds = [
  z.strictObject({
    kind: z.literal('exact'),
    ignoreCase: z.boolean().optional(),
    line: z.enum(['whole', 'last']).optional().describe('The whole answer, or its last line with text.'),
  }),
  z.strictObject({
    kind: z.literal('numeric'),
    tolerance: z.number().min(0, 'a number of zero or more').optional(),
    relative: z.number().min(0, 'a number of zero or more').optional().describe('A share of the value.'),
  }),
  z.strictObject({ kind: z.literal('pattern'), ignoreCase: z.boolean().optional() }),
  z.strictObject({ kind: z.literal('json-schema') }),
  z.strictObject({
    kind: z.literal('sql'),
    database: text.describe("A SQLite file in the item's workspace as it was before the trial."),
    ordered: z.boolean().optional().describe('Whether the order of the rows counts; no by default.'),
    tolerance: z.number().min(0, 'a number of zero or more').optional(),
    timeoutMs,
  }),
  z.strictObject({
    kind: z.literal('command'),
    command: z.array(text).min(1, 'a program with its arguments'),
    files: z
      .array(text)
      .optional()
      .describe('Files that the command reads; their digests are registered with it.'),
    timeoutMs,
  }),
  z
    .strictObject({
      kind: z.literal('judge'),
      model: text,
      prompt: text.describe('A file: the instructions of the judge.'),
      version: text,
      lowest: z.number(),
      highest: z.number(),
      tries: z.int().min(1, 'a whole number above 0').max(10, 'at most 10').optional(),
    })
    .refine((judge) => judge.highest > judge.lowest, { path: ['highest'], error: 'a number above lowest' }),
] as const;

const grader = z.discriminatedUnion('kind', graderKinds, {
  error: `one of ${graderKinds.map(({ shape }) => shape.kind.value).join(', ')}`,
});

/** experiment.yaml. */
export const experimentSchema = z.strictObject({
  question: text,
  arms: z.strictObject({ control: arm, treatment: arm }),
  cell: text.describe('A condition over facts: the situations for which the result is meant.'),
  scope: z.array(text).optional().describe('What else bounds the result, in words.'),
  items: z.union([text, itemsSchema], { error: 'a file with items, or a map of items by id' }),
  workspace: text.optional().describe('A folder that each trial gets a fresh copy of.'),
  repeats: z.int().min(1, 'a whole number above 0').max(1000, 'at most 1000'),
  blocking: z.literal('item').describe('The trials of an item belong together.'),
  seed: z.union([z.int(), text], { error: 'a whole number or a text' }),
  model: text.optional(),
  modelSeen: text.optional().describe('The name under which the provider must answer.'),
  fingerprintSeen: text
    .optional()
    .describe('The state of its service (system_fingerprint) that each answer must tell.'),
  server: z
    .strictObject({
      baseUrl: text.optional(),
      wire: text.optional(),
      keyEnv: variable.optional(),
      maxTokens: z.int().min(1, 'a whole number above 0').optional(),
    })
    .optional(),
  price: price.optional(),
  budget: budget.optional().describe("In place of the agents' own."),
  limits: z
    .strictObject({
      concurrency: z.int().min(1, 'a whole number above 0').max(256, 'at most 256').optional(),
      startsPerMinute: above0.optional(),
    })
    .optional()
    .describe('How many trials at once, and how many may begin in a minute.'),
  alpha: z
    .number()
    .gt(0, 'a number above 0')
    .lt(0.5, 'a number below 0.5: margins are held against the interval of 1 - 2 alpha')
    .optional(),
  resamples: z.int().min(20_000, 'at least 20000').max(10_000_000, 'at most 10000000').optional(),
  primary: primary
    .optional()
    .describe('The one metric that decides. Without one, nothing is decided by itself.'),
  secondary: z.array(metric).optional(),
  manipulation: z
    .strictObject({
      calls: name.describe('The tool that the treated text orders.'),
      zeroIn: z.enum(['control', 'treatment']),
      shareLeast: z.number().gt(0, 'a number above 0').max(1, 'at most 1').optional(),
    })
    .optional()
    .describe('What shows that the treatment acted.'),
  stopping: z.literal('all-trials').describe('The experiment ends when every trial has been run.'),
  errors: z
    .strictObject({
      outage: z.array(text).optional(),
      limit: share.optional(),
    })
    .optional()
    .describe("Codes of what was nobody's answer, and the share of lost pairs above which nothing is said."),
  grader,
  approvals: z
    .enum(['deny', 'grant'])
    .optional()
    .describe(
      'What our own harness is answered, in both arms, for a call that needs a person: deny by default.',
    ),
  canaries: z
    .array(text.min(8, 'at least 8 characters'))
    .optional()
    .describe("Texts of the operator's own surroundings that no trial may contain."),
  assume: z
    .strictObject({
      rate: share.optional(),
      deviation: z.number().min(0, 'a number of zero or more').optional(),
      noise: z.number().min(0, 'a number of zero or more').optional(),
      effect: z.number().optional().describe('Treatment minus control; 0 for a margin unless said.'),
    })
    .optional()
    .describe(
      'What the power is computed for: of passes rate, deviation and effect, of a quantity deviation, noise and effect.',
    ),
  notVerified: z.array(text).optional(),
});

export type ExperimentFile = z.output<typeof experimentSchema>;
export type ItemFile = z.output<typeof item>;
export type GraderFile = z.output<typeof grader>;
export type MetricFile = z.output<typeof metric>;

/** The JSON Schema of experiment.yaml, for editors. */
export function experimentJsonSchema(): Record<string, unknown> {
  return { title: 'experiment.yaml of Writ', ...z.toJSONSchema(experimentSchema, { io: 'input' }) };
}
