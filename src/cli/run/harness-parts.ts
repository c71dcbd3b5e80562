/** Builds the native harness that a session's origin describes: its model, its tools, and the secrets among them. */
import { tools as catalogTools } from '../../catalog.ts';
import type { Harness } from '../../harness.ts';
import type { Secret } from '../../ledger/secrets.ts';
import { resolveModel } from '../../native/model/providers.ts';
import { native } from '../../native/native.ts';
import type { Tool } from '../../native/tool/tool.ts';
import type { Context } from '../context.ts';
import { CliError } from '../errors.ts';
import { givenContexts } from './context-files.ts';
import type { Origin } from './origin.ts';

export interface HarnessParts {
  readonly harness: Harness;
  /** What must be taken out of everything that is stored. */
  readonly secrets: readonly Secret[];
  close(): Promise<void>;
}

/** Throws a ModelError or ToolError for what cannot be used. Nothing is sent and no process is started yet. */
export async function openHarness(context: Context, origin: Origin): Promise<HarnessParts> {
  const model = resolveModel(origin.model, {
    env: context.env,
    baseUrl: origin.baseUrl,
    wire: origin.wire,
    keyEnv: origin.keyEnv,
    prices: pricesOf(origin),
    clock: context.clock,
  });
  const tools: Tool[] = [];
  const close = async () => {
    await Promise.all([model.close(), ...tools.map((tool) => tool.close())]);
  };
  try {
    for (const choice of origin.tools) tools.push(await openTool(choice, origin.workspace));
  } catch (error) {
    await close();
    throw error;
  }
  const request = { maxTokens: origin.maxTokens ?? null };
  return {
    harness: native({ model, tools, request, contexts: givenContexts(origin) }),
    secrets: model.secrets,
    close,
  };
}

/**
 * A harness that can only put an end to a run: it has no tools, no key, and an address at which nothing listens. The
 * run is cancelled before it could ask anything.
 */
export function endingHarness(origin: Origin): Harness {
  const model = resolveModel(origin.model, {
    env: {},
    baseUrl: 'http://127.0.0.1:9/v1',
    prices: pricesOf(origin),
  });
  return native({ model });
}

function pricesOf({ model, price }: Origin): Parameters<typeof resolveModel>[1]['prices'] {
  if (price === undefined) return undefined;
  const { prompt, completion, cached, cacheWrite } = price;
  return {
    [model]: {
      prompt,
      completion,
      ...(cached === undefined ? {} : { cached }),
      ...(cacheWrite === undefined ? {} : { cacheWrite }),
    },
  };
}

async function openTool({ name, options }: Origin['tools'][number], workspace: string): Promise<Tool> {
  const part = catalogTools.find((tool) => tool.name === name);
  if (part === undefined) {
    throw new CliError(
      'cli.unsupported',
      `The session uses the tool '${name}', which this Writ does not have.`,
      {
        next: 'Start the task in a new session.',
        details: { tool: name },
      },
    );
  }
  if (Object.hasOwn(options, 'workspace')) {
    throw new CliError('cli.bad-value', `The tool ${name} expected no option 'workspace' in agent.yaml.`, {
      next: 'Take it out; the workspace is given with --workspace.',
      details: { tool: name },
    });
  }
  return (await part.load())({ ...options, workspace });
}
