/** One MCP server as its tools use it: what its tools are now, and a client that is connected again after an end. */
import { type Client, StreamableHTTPClientTransport, type Tool } from '@modelcontextprotocol/client';
import { type Digest, jsonDigest } from '../../digest.ts';
import { type ClientOptions, openClient, stoppable } from './open-client.ts';

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
  ready(): Promise<Client>;
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
  let current: Promise<Client> | undefined;

  const refresh = async (client: Client) => {
    definitions = await readTools(client, options.startTimeoutMs);
  };
  const hold = (opening: Promise<Client>): Promise<Client> => {
    current = opening;
    // Whatever failed is tried anew by whoever needs the server next.
    opening.catch(() => {
      if (current === opening) current = undefined;
    });
    return opening;
  };
  // From here on everybody waits until the new list is read. A server that does not give it is as good as gone.
  const onChanged = (client: Client) => {
    const before = current;
    if (before === undefined) return;
    const renewed = stoppable(
      before.then(() => refresh(client)),
      stop,
    ).then(() => client);
    hold(renewed).catch(() => closeClient(client));
  };
  const open = async (): Promise<Client> => {
    const client = await openClient({ ...options, signal: stop }, { prepare: refresh, onChanged });
    client.onclose = () => {
      current = undefined;
    };
    return client;
  };
  const ready = () => {
    if (stop.aborted) return Promise.reject(new Error('the run has ended'));
    return current ?? hold(open());
  };

  await ready();
  return {
    definitions: () => definitions,
    ready,
    async close() {
      const last = current;
      current = undefined;
      closing.abort();
      const client = await last?.catch(() => undefined);
      if (client !== undefined) await closeClient(client);
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
  return jsonDigest(JSON.parse(JSON.stringify(judged)));
}

async function closeClient(client: Client): Promise<void> {
  const { transport } = client;
  if (transport instanceof StreamableHTTPClientTransport) {
    const patience = AbortSignal.timeout(goodbyeMs);
    await stoppable(transport.terminateSession(), patience).catch(() => {});
  }
  await client.close().catch(() => {});
}
