/** One MCP server as its tools use it: what its tools are now, and a client that is connected again after an end. */
import { type Client, StreamableHTTPClientTransport, type Tool } from '@modelcontextprotocol/client';
import { type Digest, jsonDigest } from '../../digest.ts';
import { wholeTexts } from '../tool/whole-text.ts';
import { type ClientOptions, type OpenedClient, openClient, stoppable } from './open-client.ts';

/** What a server says one of its tools is. */
export interface Definition {
  readonly tool: Tool;
  /** Of all that a model or its user judges the tool by. */
  readonly digest: Digest;
}

export interface Connection {
  /** The tools as the server told them last, by their name there. */
  definitions(): ReadonlyMap<string, Definition>;
  /** The client, once a reconnect or a new list that is due has been made. Rejects if the server cannot be reached. */
  ready(): Promise<OpenedClient>;
  /** Gives a client up, so that the next call opens another. */
  drop(client: Client): Promise<void>;
  /** Ends the session and the process. Safe to call twice. */
  close(): Promise<void>;
}

/** How long a server may take to end its session over HTTP. */
const goodbyeMs = 1_000;

/** Connects and reads the tools. Throws as `openClient` does. */
export async function connect(
  options: Omit<ClientOptions, 'signal'>,
  signal?: AbortSignal,
): Promise<Connection> {
  const closing = new AbortController();
  const stop = signal === undefined ? closing.signal : AbortSignal.any([signal, closing.signal]);
  let definitions: ReadonlyMap<string, Definition> = new Map();
  let current: Promise<OpenedClient> | undefined;
  let latest: Client | undefined;

  const refresh = async (client: Client) => {
    latest = client;
    definitions = await readTools(client, options.startTimeoutMs);
  };
  const hold = (opening: Promise<OpenedClient>): Promise<OpenedClient> => {
    current = opening;
    // Whatever failed is tried anew by whoever needs the server next.
    opening.catch(() => {
      if (current === opening) current = undefined;
    });
    return opening;
  };
  // The next call starts the server anew. A client that was given up long ago says nothing about the one that took over.
  const onClosed = (client: Client) => {
    if (client === latest) current = undefined;
  };
  // From here on everybody waits until the new list is read. A server that does not give it is as good as gone.
  const onChanged = (client: Client) => {
    const before = current;
    if (before === undefined) return;
    const renewed = before.then(async (opened) => {
      await refresh(client);
      return opened;
    });
    hold(stoppable(renewed, stop)).catch(() => closeClient(client));
  };
  const open = () => openClient({ ...options, signal: stop }, { prepare: refresh, onChanged, onClosed });
  const ready = () => {
    if (stop.aborted) return Promise.reject(new Error('the run has ended'));
    return current ?? hold(open());
  };

  await ready();
  return {
    definitions: () => definitions,
    ready,
    drop: closeClient,
    async close() {
      const last = current;
      current = undefined;
      closing.abort();
      await last?.catch(() => {});
      if (latest !== undefined) await closeClient(latest);
    },
  };
}

async function readTools(client: Client, timeout: number): Promise<ReadonlyMap<string, Definition>> {
  if (client.getServerCapabilities()?.tools === undefined) return new Map();
  const { tools } = await client.listTools(undefined, { timeout, cacheMode: 'refresh' });
  return new Map(tools.map((tool) => [tool.name, { tool, digest: digestOf(tool) }]));
}

function digestOf({ name, title, description, inputSchema, outputSchema, annotations }: Tool): Digest {
  const judged = { name, title, description, inputSchema, outputSchema, annotations };
  return jsonDigest(wholeTexts(JSON.parse(JSON.stringify(judged))));
}

async function closeClient(client: Client): Promise<void> {
  const { transport } = client;
  if (transport instanceof StreamableHTTPClientTransport) {
    const patience = AbortSignal.timeout(goodbyeMs);
    await stoppable(transport.terminateSession(), patience).catch(() => {});
  }
  await client.close().catch(() => {});
}
