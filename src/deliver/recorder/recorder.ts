/** The recording proxy: an HTTP server on one machine that hands every byte on in both directions and keeps a copy. */
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../../clock.ts';
import { messageOf, systemCode } from '../../errors.ts';
import { BodyCopy } from './body-copy.ts';
import { RecorderError } from './errors.ts';
import {
  type Exchange,
  type ExchangeFault,
  type HeaderLines,
  headerLines,
  type RecordedResponse,
  redactHeaders,
  redactPath,
} from './exchange.ts';

/** An answer in the upstream's place. */
export interface HeldBack {
  readonly status: number;
  /** JSON text for the client. */
  readonly body: string;
  /** Why, for the record. */
  readonly message: string;
}

export interface RecorderOptions {
  /** Where the requests go: `http:` or `https:`; a path of it stands before the path of each request. */
  readonly upstream: string;
  readonly clock: Clock;
  /** Called once for each exchange, when it is over however it ended; it must not throw. */
  readonly take: (exchange: Exchange) => void;
  /** By default a free one. */
  readonly port?: number;
  /** By default 127.0.0.1. A host beyond loopback gets a token. */
  readonly host?: string;
  /**
   * Decides about a request whose body has arrived, before any of it is sent on; undefined lets it pass. With a gate a
   * request is no longer handed on while it arrives.
   */
  readonly gate?: (request: GatedRequest) => Promise<HeldBack | undefined> | HeldBack | undefined;
  /** What is kept of one body, by default 64 MiB. More still passes. */
  readonly bodyBytesMax?: number;
}

export interface GatedRequest {
  readonly number: number;
  readonly method: string;
  readonly path: string;
  readonly headers: HeaderLines;
  readonly body: Uint8Array;
}

export interface Recorder {
  /** What a client takes as its base URL, without a slash at the end. Beyond loopback it holds the token. */
  readonly url: string;
  /** Ends open exchanges, hands them to `take`, and frees the port. Safe to call twice. */
  close(): Promise<void>;
}

const bodyBytesMaxDefault = 64 * 1024 * 1024;
const loopback = new Set(['127.0.0.1', '::1', 'localhost']);
// These speak about one connection and not about the message (RFC 9110, section 7.6.1); `host` is the upstream's own.
const ofOneHop = new Set([
  'connection',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Throws `recorder.bad-upstream` and `recorder.no-port`. The caller closes it. */
export async function startRecorder(options: RecorderOptions): Promise<Recorder> {
  const upstream = upstreamOf(options.upstream);
  const host = options.host ?? '127.0.0.1';
  const token = loopback.has(host) ? '' : `/${options.clock.id('token')}`;
  const open = new Set<Passage>();
  let count = 0;
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    if (!isBelow(path, token)) {
      request.resume();
      response.writeHead(403, { 'content-type': 'application/json' });
      response.end(
        '{"error":{"message":"The base URL of this recorder holds a token, and this path does not."}}',
      );
      return;
    }
    count += 1;
    const passage = new Passage(options, upstream, count, path.slice(token.length) || '/', request, response);
    open.add(passage);
    void passage.over.then(() => open.delete(passage));
  });
  // A model may think for longer than Node's defaults let a connection wait.
  server.requestTimeout = 0;
  server.keepAliveTimeout = 60_000;
  await listen(server, options.port ?? 0, host);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}${token}`,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const passage of open) passage.stop();
      await Promise.all([...open].map((passage) => passage.over));
      server.closeAllConnections();
      await closed;
    },
  };
}

function isBelow(path: string, token: string): boolean {
  return token === '' || path === token || path.startsWith(`${token}/`) || path.startsWith(`${token}?`);
}

function upstreamOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // These have no place in what is handed on, and may hold a secret, so they are neither dropped nor repeated.
  const extra = url !== undefined && `${url.username}${url.password}${url.search}${url.hash}` !== '';
  if (url !== undefined && !extra && (url.protocol === 'http:' || url.protocol === 'https:')) return url;
  throw new RecorderError(
    'recorder.bad-upstream',
    `Expected an upstream like https://host or http://host:port/path${extra ? ', found one with a name, password, query or fragment' : ''}.`,
    {
      next: 'Give the base URL that the client had before.',
    },
  );
}

function listen(server: ReturnType<typeof createServer>, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) =>
      reject(
        new RecorderError(
          'recorder.no-port',
          `Nothing can listen on ${host}, port ${port}: ${messageOf(cause)}.`,
          {
            next: 'Name another port, or leave it out for a free one.',
            details: { host, port, code: systemCode(cause) ?? null },
            cause,
          },
        ),
      ),
    );
    server.listen(port, host, resolve);
  });
}

/** The words beside a status mean nothing to a client, so those that cannot be written are left out. */
function printable(reason = ''): string {
  return /[^ -~\x80-\xff]/.test(reason) ? '' : reason;
}

/** One request on its way: it ends exactly once, and then is handed to the recorder's owner. */
class Passage {
  /** Resolves when the exchange was handed over. */
  readonly over: Promise<void>;
  readonly #options: RecorderOptions;
  readonly #upstream: URL;
  readonly #number: number;
  readonly #path: string;
  readonly #client: IncomingMessage;
  readonly #answer: ServerResponse;
  readonly #sent: BodyCopy;
  readonly #got: BodyCopy;
  readonly #at: number;
  readonly #from: number;
  #head: { readonly status: number; readonly headers: HeaderLines } | undefined;
  #outgoing: ReturnType<typeof httpRequest> | undefined;
  #ended = false;
  #resolve: () => void = () => {};

  constructor(
    options: RecorderOptions,
    upstream: URL,
    number: number,
    path: string,
    client: IncomingMessage,
    answer: ServerResponse,
  ) {
    this.#options = options;
    this.#upstream = upstream;
    this.#number = number;
    this.#path = path;
    this.#client = client;
    this.#answer = answer;
    const max = options.bodyBytesMax ?? bodyBytesMaxDefault;
    this.#sent = new BodyCopy(max);
    this.#got = new BodyCopy(max);
    this.#at = options.clock.now();
    this.#from = options.clock.monotonicMs();
    this.over = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    answer.once('close', () => this.#clientClosed());
    client.on('error', () => {});
    if (options.gate === undefined) this.#forward();
    else void this.#forwardGated(options.gate);
  }

  /** Ends it from our side: the recorder closes. */
  stop(): void {
    this.#end({ what: 'client-left' });
    this.#outgoing?.destroy();
    this.#answer.destroy();
  }

  #clientClosed(): void {
    if (this.#answer.writableFinished) return;
    this.#end({ what: 'client-left' });
    this.#outgoing?.destroy();
  }

  async #forwardGated(gate: NonNullable<RecorderOptions['gate']>): Promise<void> {
    const chunks: Buffer[] = [];
    this.#client.on('data', (chunk: Buffer) => {
      this.#sent.add(chunk);
      chunks.push(chunk);
    });
    await new Promise((resolve) => {
      this.#client.once('end', resolve).once('close', resolve);
    });
    this.#sent.complete = this.#client.complete;
    if (this.#ended) return;
    const body = Buffer.concat(chunks);
    const headers = headerLines(this.#client.rawHeaders);
    const held = await this.#judge(gate, {
      number: this.#number,
      method: this.#client.method ?? 'GET',
      path: this.#path,
      headers,
      body,
    });
    if (this.#ended) return;
    if (held === undefined) this.#dial().end(body);
    else this.#refuse(held.status, held.body, { what: 'held-back', message: held.message });
  }

  // A gate that fails decided nothing, so nothing passes it.
  async #judge(
    gate: NonNullable<RecorderOptions['gate']>,
    request: GatedRequest,
  ): Promise<HeldBack | undefined> {
    try {
      return await gate(request);
    } catch (thrown) {
      const message = `the gate failed: ${messageOf(thrown)}`;
      return { status: 500, body: JSON.stringify({ error: { type: 'recorder', message } }), message };
    }
  }

  #forward(): void {
    const outgoing = this.#dial();
    this.#client.on('data', (chunk: Buffer) => {
      this.#sent.add(chunk);
      if (outgoing.write(chunk)) return;
      this.#client.pause();
      outgoing.once('drain', () => this.#client.resume());
    });
    this.#client.once('end', () => {
      this.#sent.complete = this.#client.complete;
      outgoing.end();
    });
  }

  #dial(): ReturnType<typeof httpRequest> {
    const { protocol, pathname } = this.#upstream;
    const dial = protocol === 'https:' ? httpsRequest : httpRequest;
    const url = new URL(this.#upstream.origin);
    const outgoing = dial(
      url,
      {
        method: this.#client.method ?? 'GET',
        path: `${pathname.replace(/\/$/, '')}${this.#path}`,
        // A flat list keeps order, spelling and repeats. Our own connection is closed after one exchange.
        headers: [
          'host',
          this.#upstream.host,
          ...headerLines(this.#client.rawHeaders)
            .filter(([name]) => !ofOneHop.has(name.toLowerCase()))
            .flat(),
          ...(this.#client.headers['transfer-encoding'] === undefined
            ? []
            : ['transfer-encoding', 'chunked']),
        ],
        agent: false,
      },
      (incoming) => this.#pass(incoming),
    );
    this.#outgoing = outgoing;
    outgoing.on('error', (error) => {
      const message = messageOf(error);
      if (this.#head === undefined) this.#unreachable(message);
      else this.#cut(message);
    });
    // A change of protocol is no answer, and Node then closes without an error.
    outgoing.once('close', () => {
      if (this.#head === undefined) this.#unreachable('it ended the connection without an answer');
    });
    return outgoing;
  }

  #pass(incoming: IncomingMessage): void {
    const headers = headerLines(incoming.rawHeaders).filter(([name]) => !ofOneHop.has(name.toLowerCase()));
    const status = incoming.statusCode ?? 502;
    this.#answer.sendDate = false;
    try {
      this.#answer.writeHead(status, printable(incoming.statusMessage), headers.flat());
    } catch (thrown) {
      // Node reads more than it lets us write, a status of 99 for instance.
      this.#unreachable(`its answer cannot be handed on: ${messageOf(thrown)}`);
      this.#outgoing?.destroy();
      return;
    }
    this.#head = { status, headers };
    // A client that waits for the first event must see that there is an answer at all.
    this.#answer.flushHeaders();
    incoming.on('data', (chunk: Buffer) => {
      this.#got.add(chunk);
      if (this.#answer.write(chunk)) return;
      incoming.pause();
      this.#answer.once('drain', () => incoming.resume());
    });
    incoming.once('end', () => {
      this.#got.complete = incoming.complete;
      this.#answer.end(() => this.#end(null));
    });
    incoming.once('error', (error) => this.#cut(messageOf(error)));
  }

  #unreachable(message: string): void {
    const body = JSON.stringify({
      error: { type: 'recorder', message: `The upstream did not answer: ${message}` },
    });
    this.#refuse(502, body, { what: 'upstream-unreachable', message });
  }

  #refuse(status: number, body: string, fault: ExchangeFault): void {
    if (this.#ended) return;
    this.#end(fault);
    this.#client.resume();
    const headers = { 'content-type': 'application/json', connection: 'close' };
    this.#answer.writeHead(status, STATUS_CODES[status] ?? '', headers);
    this.#answer.end(body);
  }

  // The client must see the same cut: a polite end would make half an answer look whole.
  #cut(message: string): void {
    this.#end({ what: 'upstream-cut', message });
    this.#answer.destroy();
  }

  #end(fault: ExchangeFault | null): void {
    if (this.#ended) return;
    this.#ended = true;
    const head = this.#head;
    const response: RecordedResponse | null =
      head === undefined
        ? null
        : { status: head.status, headers: redactHeaders(head.headers), body: this.#got.body() };
    this.#options.take({
      number: this.#number,
      at: this.#at,
      durationMs: this.#options.clock.monotonicMs() - this.#from,
      method: this.#client.method ?? 'GET',
      path: redactPath(this.#path),
      request: { headers: redactHeaders(headerLines(this.#client.rawHeaders)), body: this.#sent.body() },
      response,
      fault,
    });
    this.#resolve();
  }
}
