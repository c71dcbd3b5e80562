/** The forms of agent.yaml and of a fragment's header, and what is said where a file has another form. */
import { z } from 'zod';
import { type BudgetCounter, budgetCounters } from '../../protocol/budget.ts';
import { type LayerId, layerIds } from '../../protocol/composition.ts';
import { fidelities, intents } from '../../protocol/intent.ts';
import { isRecord } from '../../protocol/json.ts';
import { fragmentLayers } from '../agent.ts';
import type { ComposeError } from '../errors.ts';
import { factTypes } from '../facts.ts';
import { namingMend } from '../nearest.ts';
import { surfaceModes } from '../surface/mode.ts';
import { policiesForm } from './policies-form.ts';
import type { Path, YamlMap } from './yaml.ts';

/** Names of agents, fragments, profiles, capabilities and servers. */
export const namePattern = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;
const nameRule = 'a name of letters, digits, dot, underscore and hyphen that begins with a letter or digit';
/** A text with something in it. */
export const text = z.string().min(1, 'text that is not empty');
/** A name of an agent, a fragment, a profile, a capability or a server. */
export const name = z.string().regex(namePattern, nameRule);
/** Relative, without a way out. */
const innerPath = /^(?!\/)(?!(?:.*\/)?\.\.?(?:\/|$))[^\\\0]+$/;
const amount = z.number().min(0, 'a number of zero or more');
const count = z.int().min(0, 'a whole number of zero or more');
/** A value of a fact as YAML writes it. */
export const factValue = z.union([z.boolean(), z.string(), z.number(), z.array(z.string())], {
  error: 'true, false, a text, a number or a list of texts',
});
const options = z.record(z.string(), z.json({ error: 'a JSON value' }));

/** Limits by counter. */
export const budget = z.strictObject(
  Object.fromEntries(
    Object.entries(budgetCounters).map(([counter, about]) => [
      counter,
      (counter === 'costUsd' ? amount : count).optional().describe(about),
    ]),
  ) as Record<BudgetCounter, z.ZodOptional<typeof amount>>,
);

const fact = z.strictObject({
  type: z.enum(factTypes).describe('list is a list of texts.'),
  probe: name
    .optional()
    .describe('What finds the fact out; runs only if something cannot be decided without it.'),
  options: options.optional().describe('What the probe is told.'),
  default: factValue.optional().describe('The value where nothing gives another. Not together with a probe.'),
  volatile: z
    .boolean()
    .optional()
    .describe('May differ between two sessions without anything being changed.'),
});

const toolEntry = z
  .object({
    capability: z
      .union([name, z.record(name, name)])
      .optional()
      .describe(
        'Of a tool that a file of tools/ makes: the capability that its file asks for, or a map from each of its tools to its own. A run refuses a file that asks for another.',
      ),
  })
  .catchall(options.nullable());

/** The name of an environment variable. */
export const variable = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'the name of an environment variable, never its value');

const mcpServer = z
  .strictObject({
    command: text.optional().describe('A program; one that begins with ./ lies in the agent folder.'),
    args: z.array(z.string()).optional(),
    env: z.array(variable).optional().describe('Variables that the program gets beside PATH, HOME and LANG.'),
    url: text.optional().describe('A server over HTTP: https, or http on this machine.'),
    keyEnv: variable.optional().describe('The variable that holds the bearer token of a url.'),
    reads: z
      .array(text)
      .optional()
      .describe(
        'Tools that only read. A tool counts as one if the server says so too; any other asks first.',
      ),
  })
  .refine(
    (server) => (server.command === undefined) !== (server.url === undefined),
    'either a command or a url',
  )
  .refine(
    (server) => (server.args ?? server.env) === undefined || server.command !== undefined,
    'args and env only beside a command',
  )
  .refine((server) => server.keyEnv === undefined || server.url !== undefined, 'keyEnv only beside a url');

/** What a model costs. */
export const price = z
  .strictObject({
    prompt: amount,
    completion: amount,
    cached: amount.optional(),
    cacheWrite: amount.optional(),
  })
  .describe('US dollars per million tokens.');

const layerLimits = z.strictObject(
  Object.fromEntries(layerIds.map((id) => [id, count.optional()])) as Record<
    LayerId,
    z.ZodOptional<typeof count>
  >,
);

/** agent.yaml. */
export const agentSchema = z.strictObject({
  key: name.describe('What conditions and records know the agent by; never the display name.'),
  name: text.optional().describe('The display name; the key where it is left out.'),
  join: z
    .enum(['blocks', 'bare', 'verbatim'])
    .optional()
    .describe('How fragments are joined; blocks by default. bare is blocks without the newline at the end.'),
  profiles: z
    .record(name, z.array(name))
    .describe('Named, ordered lists of fragments; one must be called default.'),
  facts: z.record(z.string(), fact).optional(),
  situations: z
    .record(name, z.record(z.string(), factValue))
    .optional()
    .describe('Facts by name; `unknown` lists those that nobody knows in the situation.'),
  capabilities: z
    .union(
      [z.enum(['all', 'none']), z.array(name), z.record(z.string(), z.union([z.boolean(), z.string()]))],
      {
        error: 'all, none, a list of capabilities, or a map such as { from: none, sql: true }',
      },
    )
    .optional()
    .describe('none by default.'),
  tools: z
    .array(
      z.union([name, toolEntry], {
        error: 'a tool name, or one tool name with its options, and beside it the capability of an own tool',
      }),
    )
    .optional(),
  mcp: z.record(name, mcpServer).optional(),
  surface: z
    .strictObject({
      mode: z
        .enum(surfaceModes)
        .optional()
        .describe('compiled lets the task choose where not all fits; all_tools shows all that is allowed.'),
      tokens: count.optional().describe('What the tools of servers may take together.'),
    })
    .optional()
    .describe('How a session chooses from the tools of its servers; a listed tool is always shown.'),
  model: text.optional(),
  budget: budget.optional(),
  deliver: z
    .strictObject({ intent: z.enum(intents).optional(), fidelity: z.enum(fidelities).optional() })
    .optional(),
  skills: z
    .union([z.literal('all'), z.array(name)], { error: 'all, or a list of names of skills' })
    .optional()
    .describe('Skills that the model is told of: names, or all that its sources offer.'),
  limits: layerLimits.optional().describe('The most tokens of a layer; over it, nothing is composed.'),
  conversation: z
    .strictObject({
      hotTokens: z
        .int()
        .min(1, 'a whole number above zero')
        .describe('What the messages of a request may take before the oldest leave for a context.'),
    })
    .optional()
    .describe('How long conversations are kept small; without it all of one goes with each request.'),
  policies: policiesForm.optional().describe('What may speak to the model or stop the run, by name.'),
  plans: z
    .strictObject({
      decisionSkills: z.array(name).optional().describe('Read by the model that decides with --root decide.'),
      stepSkills: z.array(name).optional().describe('Read by each model step of a plan.'),
    })
    .optional()
    .describe('Skills of the session that are given whole, as system text.'),
  spec: z
    .string()
    .regex(innerPath, 'a path inside the folder of the agent')
    .optional()
    .describe('A file of the folder that says what has to be true in the end; --spec gives another.'),
  prices: z
    .record(text, price)
    .optional()
    .describe('A model as `model` writes it, to its price; needed to keep a budget of money.'),
});

/** The header of a fragment. */
export const headerSchema = z.strictObject({
  id: name.optional(),
  layer: z.enum(fragmentLayers).optional(),
  title: text.optional(),
  // YAML makes a bare true or false a boolean, which is a condition all the same.
  when: z.union([text, z.boolean()], { error: 'a condition as text' }).optional(),
  unknown: z.enum(['keep', 'drop']).optional(),
  template: z.boolean().optional(),
  evidence: z.union([text, z.array(text)], { error: 'text or a list of texts' }).optional(),
});

/** The header of a SKILL.md; what else it says is for other readers. */
export const skillHeaderSchema = z.looseObject({
  name: text,
  description: text.max(1_024, 'a text of at most 1,024 characters'),
});

/** A file with facts and their values, for `--situation FILE`. */
export const situationSchema = z.record(z.string(), factValue);

/** The JSON Schema of agent.yaml, for editors. */
export function agentJsonSchema(): Record<string, unknown> {
  return { title: 'agent.yaml of Writ', ...z.toJSONSchema(agentSchema, { io: 'input' }) };
}

/**
 * Checks a map against a form. Throws the error that stands first in the file; a misspelt key before all others, because
 * it explains what is missing, and what is missing last.
 */
export function readForm<S extends z.ZodType>(schema: S, map: YamlMap): z.output<S> {
  const result = schema.safeParse(map.value);
  if (result.success) return result.data;
  const rank = ({ code, path }: z.core.$ZodIssue) =>
    code === 'unrecognized_keys' ? 0 : valueAt(map.value, path) === undefined ? 2 : 1;
  const issues = [...result.error.issues].sort((a, b) => rank(a) - rank(b));
  const first = issues.filter((issue) => rank(issue) === rank(issues[0] ?? issue)).slice(0, errorsMax);
  const errors = first.flatMap((issue) => issueErrors(schema, map, issue));
  throw errors.sort((a, b) => order(a) - order(b))[0] ?? result.error;
}

// One error is thrown, the first in the file; a file with thousands is not worth looking through for it.
const errorsMax = 20;

function order(error: ComposeError): number {
  return Number(error.details?.line) * 1e6 + Number(error.details?.column);
}

function issueErrors(schema: z.ZodType, map: YamlMap, issue: z.core.$ZodIssue): ComposeError[] {
  if (issue.code === 'unrecognized_keys') {
    const known = keysAt(z.toJSONSchema(schema, { io: 'input' }), issue.path);
    return issue.keys
      .slice(0, errorsMax)
      .map((key) =>
        map.source.error(
          'compose.unknown-key',
          map.keyOffset([...issue.path, key]),
          `the key '${key}' means nothing here`,
          namingMend(key, known),
        ),
      );
  }
  const found = valueAt(map.value, issue.path);
  const place = issue.path.length === 0 ? 'the file' : `'${issue.path.join('.')}'`;
  if (found === undefined) {
    return [
      map.error(
        map.valueOffset(issue.path),
        `${place} is missing: ${expectation(issue)} was expected`,
        `Write ${String(issue.path.at(-1))}: …`,
      ),
    ];
  }
  const offset = issue.code === 'invalid_key' ? map.keyOffset(issue.path) : map.valueOffset(issue.path);
  const shown =
    issue.code === 'invalid_key'
      ? `the key '${String(issue.path.at(-1))}'`
      : valueWords(found, map.written(issue.path));
  return [
    map.error(offset, `${place} should be ${expectation(issue)}, found ${shown}`, mendFor(issue, found, map)),
  ];
}

function expectation(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type') return typeWords[issue.expected] ?? issue.expected;
  if (issue.code === 'invalid_value') return `one of ${issue.values.map(String).join(', ')}`;
  if (issue.code === 'invalid_key') return nameRule;
  return issue.message;
}

const typeWords: Readonly<Record<string, string>> = {
  string: 'text',
  boolean: 'true or false',
  int: 'a whole number',
  number: 'a number',
  array: 'a list',
  record: 'a map',
  object: 'a map',
};

/** A value as a message shows it. */
export function valueWords(value: unknown, written?: string): string {
  if (value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a map';
  if (typeof value === 'string') return `the text ${JSON.stringify(value)}`;
  return `the ${typeof value === 'number' ? 'number' : 'value'} ${written ?? String(value)}`;
}

function mendFor(issue: z.core.$ZodIssue, found: unknown, map: YamlMap): string {
  if (issue.code === 'invalid_value' && typeof found === 'string')
    return namingMend(found, issue.values.map(String));
  const wanted = issue.code === 'invalid_type' ? issue.expected : undefined;
  return valueMend(wanted === 'boolean', wanted === 'string', found, map.written(issue.path));
}

/** How to write a value that YAML read as another type than the author meant. */
export function valueMend(wantsBool: boolean, wantsText: boolean, found: unknown, written?: string): string {
  if (found === null) return 'Give it a value, or leave the key out.';
  if (wantsBool && typeof found === 'string') {
    if (/^(yes|y|on)$/i.test(found)) return 'Write true: YAML reads yes and on as text.';
    if (/^(no|n|off)$/i.test(found)) return 'Write false: YAML reads no and off as text.';
    return 'Write true or false, without quotes.';
  }
  if (wantsText && typeof found !== 'object') return `Put it in quotes: "${written ?? String(found)}".`;
  if (wantsText) return 'Put the whole value in quotes if the bracket or colon belongs to it.';
  return 'Write a value of that form.';
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (at, step) =>
      Array.isArray(at)
        ? at[Number(step)]
        : isRecord(at) && Object.hasOwn(at, step)
          ? at[String(step)]
          : undefined,
    value,
  );
}

// The keys that a map at the path may have, read from the JSON Schema.
function keysAt(schema: unknown, path: Path): string[] {
  let at: unknown = schema;
  for (const step of path) {
    if (!isRecord(at)) return [];
    const properties = isRecord(at.properties) ? at.properties : {};
    at = properties[String(step)] ?? at.additionalProperties ?? at.items;
  }
  return isRecord(at) && isRecord(at.properties) ? Object.keys(at.properties) : [];
}
