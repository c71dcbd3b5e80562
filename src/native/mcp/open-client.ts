/** Opens the SDK's client on one MCP server, over the pipes of a process or over HTTP, in time or not at all. */
import {
  Client,
  SdkError,
  SdkErrorCode,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import type { McpServer } from '../../compose/agent.ts';
import { messageOf } from '../../errors.ts';
import { wellFormed } from '../tool/result-text.ts';
import { McpError } from './errors.ts';
import { serverProcess } from './server-process.ts';

export interface ClientOptions {
  readonly name: string;
  readonly server: McpServer;
  readonly cwd: string;
  /** The whole environment of a server's process. */
  readonly env: Readonly<Record<string, string>>;
  /** The bearer token of a url. */
  readonly token?: string | undefined;
  readonly startTimeoutMs: number;
  /** Aborting it ends a start. */
  readonly signal: AbortSignal;
  /** Takes known secrets out of what the server said. */
  readonly redact: (text: string) => string;
}

export interface OpenedClient {
  readonly client: Client;
  /** Why something failed: how the process ended and what it wrote last, if it ended; without known secrets. */
  explain(cause: unknown): string;
}

/** What its user does with a client. */
export interface ClientUse {
  /** Belongs to the start: it must be done in time too, and what it throws is a failed start. */
  prepare(client: Client): Promise<unknown>;
  /** The server says that its tools are others now. */
  onChanged(client: Client): void;
  /** The connection is gone, whoever ended it. */
  onClosed(client: Client): void;
}

/**
 * A connected and prepared client. The 2026 protocol is asked for first; a server that does not know it gets the handshake
 * of 2025. Throws `mcp.start-failed` or `mcp.start-timeout`, and leaves nothing running then.
 */
export async function openClient(options: ClientOptions, use: ClientUse): Promise<OpenedClient> {
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), options.startTimeoutMs);
  const stop = AbortSignal.any([options.signal, deadline.signal]);
  try {
    return await attempt(options, 'auto', stop, use).catch((fault: Failure) => {
      // Some older servers end at a request that comes before the handshake. They are started once more, without it.
      if (stop.aborted || !endedAtProbe(fault.cause)) throw fault;
      return attempt(options, 'legacy', stop, use);
    });
  } catch (fault) {
    throw deadline.signal.aborted ? late(options, fault as Failure) : failed(options, fault as Failure);
  } finally {
    clearTimeout(timer);
  }
}

/** Settles as the promise does, or rejects when the signal aborts. */
export function stoppable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(new Error('it was stopped'));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

/** What went wrong with one attempt, and the server's own words about it. */
class Failure extends Error {
  readonly said: string;

  constructor(reason: string, said: string, cause: unknown) {
    super(reason, { cause });
    this.said = said;
  }
}

async function attempt(
  options: ClientOptions,
  mode: 'auto' | 'legacy',
  stop: AbortSignal,
  use: ClientUse,
): Promise<OpenedClient> {
  const { startTimeoutMs: timeout } = options;
  const { transport, why } = transportFor(options);
  const client: Client = new Client(
    { name: 'writ', version: '1' },
    {
      versionNegotiation: { mode, probe: { timeoutMs: Math.ceil(timeout / 4) } },
      listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => use.onChanged(client) } },
    },
  );
  client.onclose = () => use.onClosed(client);
  try {
    const connected = client.connect(transport, { timeout, signal: stop });
    await stoppable(
      connected.then(() => use.prepare(client)),
      stop,
    );
    return {
      client,
      explain(cause) {
        const { reason, said } = why(cause);
        return `${options.redact(reason)}.${lastWords(options, said)}`;
      },
    };
  } catch (cause) {
    await transport.close().catch(() => {});
    const { reason, said } = why(cause);
    throw new Failure(reason, said, cause);
  }
}

interface Way {
  readonly transport: Transport;
  readonly why: (cause: unknown) => { readonly reason: string; readonly said: string };
}

function transportFor({ server, cwd, env, token }: ClientOptions): Way {
  if ('command' in server) {
    const transport = serverProcess({ command: server.command, args: server.args, env, cwd });
    return {
      transport,
      why: (cause) => ({ reason: transport.ended() ?? messageOf(cause), said: transport.said() }),
    };
  }
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  // No redirect at all: wherever it led, the token and the arguments of calls would go along.
  const transport = new StreamableHTTPClientTransport(new URL(server.url), {
    requestInit: { headers, redirect: 'error' },
  });
  return { transport, why: (cause) => ({ reason: messageOf(cause), said: '' }) };
}

function endedAtProbe(cause: unknown): boolean {
  return cause instanceof SdkError && cause.code === SdkErrorCode.EraNegotiationFailed;
}

function late(options: ClientOptions, { said }: Failure): McpError {
  const { name, startTimeoutMs } = options;
  return new McpError(
    'mcp.start-timeout',
    `The MCP server '${name}' was not ready within ${startTimeoutMs} ms.${lastWords(options, said)}`,
    { next: nextStep(options), details: { server: name } },
  );
}

function failed(options: ClientOptions, { message, said }: Failure): McpError {
  const { name, redact } = options;
  return new McpError(
    'mcp.start-failed',
    `The MCP server '${name}' did not start: ${redact(message).slice(0, 500)}.${lastWords(options, said)}`,
    { next: nextStep(options), details: { server: name } },
  );
}

function nextStep({ server, redact }: ClientOptions): string {
  if (!('command' in server)) return 'Check the url, the token, and that the server runs.';
  return `Run it by hand to see why: ${redact([server.command, ...server.args].join(' ')).slice(0, 300)}`;
}

// Redacted before it is cut, so that no half of a secret stays.
function lastWords({ redact }: ClientOptions, said: string): string {
  const words = wellFormed(redact(said).trim().slice(-500));
  return words === '' ? '' : ` It said last: ${words}`;
}
