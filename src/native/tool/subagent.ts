/** `subagent`: gives a part of the work to a child run, waits for it inside the child's limits, and ends it. */
import type { ChildEnd } from '../../harness.ts';
import type { BudgetLimits } from '../../protocol/budget.ts';
import type { ExactJson } from '../../protocol/json.ts';
import { childCapability } from '../child-request.ts';
import { defineTool, failed } from './define-tool.ts';
import { readOptions } from './options.ts';
import type { Tool } from './tool.ts';

export interface SubagentOptions {
  /** In place of the agent's own instructions, which a child gets whole where this is left out. */
  readonly instructions?: string;
  /** Names with commas between; all tools of the session where left out. */
  readonly tools?: string;
  /** The same for capabilities. */
  readonly capabilities?: string;
  /** Limits of each child beside those of the run. */
  readonly turns?: number;
  readonly tokens?: number;
  readonly timeoutMs?: number;
}

const usualTimeoutMs = 600_000;
/** The child ends by its own limit, which says more than the end of the call would. */
const graceMs = 10_000;

/** Makes the tool. The child is an ordinary run: what it does and uses is recorded under its own id. */
export function subagent(options: SubagentOptions & { readonly workspace?: string } = {}): Tool {
  readOptions('subagent', options, {
    workspace: 'string?',
    instructions: 'string?',
    tools: 'string?',
    capabilities: 'string?',
    turns: 'number?',
    tokens: 'number?',
    timeoutMs: 'number?',
  });
  const { instructions, turns, tokens, timeoutMs = usualTimeoutMs } = options;
  const limits: BudgetLimits = {
    wallTimeMs: timeoutMs,
    ...(turns === undefined ? {} : { turns }),
    ...(tokens === undefined ? {} : { tokens }),
  };
  return defineTool<{ readonly query: string }>({
    name: 'subagent',
    description:
      'Gives one self-contained part of the work to a helper that starts without this conversation, and returns its ' +
      'answer. Write all that it has to know into query. Its rights and its budget are a part of yours. ' +
      'Returns status, answer, child, usage; a failure says which limit or guard ended it.',
    parameters: {
      type: 'object',
      properties: {
        query: {
          type: 'string',
          minLength: 1,
          maxLength: 65_536,
          description: 'The whole task of the helper.',
        },
      },
      required: ['query'],
      additionalProperties: false,
    },
    capability: childCapability,
    access: 'read',
    // A model wrote it, after whatever it had read.
    untrusted: true,
    limits: { timeoutMs: timeoutMs + graceMs, outputBytesMax: 64 * 1024 },
    async execute({ query }, { child }) {
      if (child === undefined) return failed('tool.unavailable', 'No run is here that could have a child.');
      const end = await child({
        task: query,
        reason: 'Its parent called the tool subagent.',
        ...(instructions === undefined ? {} : { instructions }),
        ...(options.tools === undefined ? {} : { tools: namesIn(options.tools) }),
        ...(options.capabilities === undefined ? {} : { capabilities: namesIn(options.capabilities) }),
        limits,
      });
      return end.status === 'completed' ? envelope(end) : failure(end);
    },
  });
}

function namesIn(text: string): readonly string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function envelope({ answer, child, usage }: ChildEnd & { readonly status: 'completed' }): ExactJson {
  const { modelCalls, totalTokens, costUsd } = usage;
  return { status: 'completed', answer, child, usage: { modelCalls, totalTokens, costUsd } };
}

function failure(end: Exclude<ChildEnd, { readonly status: 'completed' }>) {
  const who = end.child === null ? 'No helper was begun' : `The helper ${end.child} ended as ${end.status}`;
  const { modelCalls, totalTokens } = end.usage;
  const used =
    end.child === null ? '' : ` It made ${modelCalls} requests (${totalTokens ?? 'unknown'} tokens).`;
  const why = end.error;
  return failed(why?.code ?? 'tool.not-run', `${who}. ${why?.message ?? ''}${used}${next(why?.next)}`);
}

function next(text: string | undefined): string {
  return text === undefined ? '' : ` ${text}`;
}
