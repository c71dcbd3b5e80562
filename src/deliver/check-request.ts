/** The door of a request: every field is what it has to be, before anything else looks at it. */
import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { authModes } from '../protocol/delivery.ts';
import { fidelities, intents } from '../protocol/intent.ts';
import { DeliverError } from './errors.ts';
import { type DeliveryRequest, permissionModes, reasoningEfforts } from './request.ts';

/** Half of a UTF-16 pair has no UTF-8 form, so it cannot be delivered as it is. */
const text = z.string().refine((value) => !/\p{Surrogate}/u.test(value), 'text that UTF-8 can write');
// A name becomes a file or a word of a command: it can neither leave its folder nor be taken for an option.
const name = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'a name of letters, digits, dots, dashes and underscores')
  .refine((value) => !value.includes('..'), 'a name without two dots in a row');
const word = z
  .string()
  .regex(/^[^\s\p{Cc}-][^\s\p{Cc}]{0,255}$/u, 'one word that does not begin with a dash');
const line = z.string().regex(/^[^\p{Cc}]*$/u, 'one line of text');
const variable = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'the name of a variable');
const values = z.record(variable, text);
const path = z.string().refine(isAbsolute, 'an absolute path');
const json = z.record(z.string(), z.json());

const server = z.union([
  z.strictObject({
    command: text.min(1),
    args: z.array(text).optional(),
    env: values.optional(),
    envFrom: z.array(variable).optional(),
  }),
  z.strictObject({
    url: z.url({ protocol: /^https?$/ }),
    headers: z.record(word, line).optional(),
    keyEnv: variable.optional(),
  }),
]);
const described = z.strictObject({ name, description: line, text });

const request = z.strictObject({
  intent: z.enum(intents),
  fidelity: z.enum(fidelities),
  text,
  task: text.regex(/\S/, 'a task that is not blank'),
  version: line.min(1).nullable(),
  authMode: z.enum(authModes),
  home: path,
  workspace: path,
  platform: z.string(),
  resume: word.nullable(),
  baseUrl: z.url({ protocol: /^https?$/ }).nullable(),
  model: word.optional(),
  tools: z.array(name).optional(),
  skills: z.array(described).optional(),
  mcpServers: z.record(name, server).optional(),
  permissions: z.enum(permissionModes).optional(),
  hooks: json.optional(),
  subagents: z.array(described).optional(),
  commands: z.array(described).optional(),
  contextFiles: z.array(z.strictObject({ name, text })).optional(),
  reasoningEffort: z.enum(reasoningEfforts).optional(),
  temperature: z.number().min(0).max(2).optional(),
  outputTokensMax: z.number().int().positive().optional(),
  env: values.optional(),
  json: z.union([z.literal(true), json]).optional(),
  agent: z.array(text.min(1)).min(1).optional(),
});

/** Throws `deliver.bad-request` for the first field that is wrong. */
export function checkRequest(value: unknown): asserts value is DeliveryRequest {
  const read = request.safeParse(value);
  if (read.success) return;
  const [issue] = read.error.issues;
  const field = issue?.path.join('.') || 'the request';
  throw new DeliverError('deliver.bad-request', `${field} is not what it has to be: ${issue?.message}.`, {
    next: `Mend ${field}.`,
    details: { field },
  });
}
