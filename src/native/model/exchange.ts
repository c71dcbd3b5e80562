/** One HTTP exchange over node:http: sends a body once and says exactly how far it came and how it ended. */
import { setMaxListeners } from 'node:events';
import {
  type Agent,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestOptions,
  request as requestHttp,
} from 'node:http';
import { request as requestHttps } from 'node:https';
import { urlToHttpOptions } from 'node:url';
import type { Clock } from '../../clock.ts';

export interface Head {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
}

/** What reads a response's body. */
export interface Sink {
  readonly bytesMax: number;
  /** Returns true once nothing more is needed; the exchange then waits only a moment for the connection to end. */
  take(chunk: Buffer): boolean;
}

export interface ExchangeOptions {
  /** Where and how, the same for every exchange with one server. */
  readonly target: Target;
  readonly body: string;
  /** Until the first byte of the answer's body. */
  readonly firstByteTimeoutMs: number;
  /** Between two chunks of it. */
  readonly idleTimeoutMs: number;
  readonly signal: AbortSignal;
  /** Holds a way to cancel for as long as the exchange is under way. */
  readonly underWay: Set<() => void>;
  readonly clock: Clock;
  /** Called once, with the response's head. */
  onHead(head: Head): Sink;
}

export interface Target {
  readonly secure: boolean;
  readonly request: RequestOptions;
  readonly headers: Readonly<Record<string, string>>;
}

/** Takes a URL apart once; doing it for each request costs as much as writing its body. */
export function targetOf(url: URL, agent: Agent, headers: Readonly<Record<string, string>>): Target {
  return {
    secure: url.protocol === 'https:',
    request: { ...urlToHttpOptions(url), method: 'POST', agent },
    headers,
  };
}

export type ExchangeEnd =
  | { readonly how: 'whole' | 'oversized' | 'cancelled' | 'no-answer' | 'stalled' }
  | { readonly how: 'broken'; readonly error: Error };

export interface Exchange {
  readonly end: ExchangeEnd;
  /** `no` only where the connection was never made, so that not one byte can have been written. */
  readonly dispatched: 'no' | 'yes' | 'unknown';
  readonly head: Head | null;
  /** The body's bytes as they came. */
  readonly raw: Buffer;
  readonly firstByteMs: number;
  readonly elapsedMs: number;
}

/** How long a connection may stay open after everything needed was read. */
const lingerMs = 1_000;
/** A server that keeps idle connections for less than this gets a new one each time: reuse would race its closing. */
const keepAliveMinSeconds = 5;

/** Sends and reads. Never rejects; on abort the socket is destroyed at once. A redirect is an answer like any other. */
export function exchange(options: ExchangeOptions): Promise<Exchange> {
  return new Promise((resolve) => new Flight(options, resolve).start());
}

class Flight {
  readonly #options: ExchangeOptions;
  readonly #resolve: (done: Exchange) => void;
  readonly #startedMs: number;
  #request: ReturnType<typeof requestHttp> | null = null;
  #timer: NodeJS.Timeout | null = null;
  #reached = false;
  #settled = false;
  #enough = false;
  #head: Head | null = null;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #firstByteMs: number | null = null;

  constructor(options: ExchangeOptions, resolve: (done: Exchange) => void) {
    this.#options = options;
    this.#resolve = resolve;
    this.#startedMs = options.clock.monotonicMs();
  }

  start(): void {
    const { target, body, signal, underWay, firstByteTimeoutMs } = this.#options;
    if (signal.aborted) {
      this.#settle({ how: 'cancelled' });
      return;
    }
    const { secure, headers } = target;
    const request = (secure ? requestHttps : requestHttp)({
      ...target.request,
      headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
    });
    this.#request = request;
    request.once('socket', (socket) => {
      if (request.reusedSocket || (!secure && !socket.connecting)) this.#reached = true;
      else socket.once(secure ? 'secureConnect' : 'connect', () => this.#connected());
    });
    request.once('response', (incoming) => this.#read(incoming));
    // A server that leaves HTTP has answered, and nothing of an answer follows; nobody else would end the connection.
    request.once('upgrade', ({ statusCode, headers }, socket) => {
      this.#head = { status: statusCode ?? 0, headers };
      socket.destroy();
      this.#settle({ how: 'broken', error: new Error('The server switched to another protocol.') });
    });
    // Once there is a response, its own events tell how it ended.
    request.on('error', (error) => {
      if (this.#head === null) this.#settle({ how: 'broken', error });
    });
    request.on('close', () => {
      if (this.#head === null)
        this.#settle({ how: 'broken', error: new Error('The connection was closed.') });
    });
    // One signal may stand over any number of requests; that is no leak, because each takes its listener away.
    setMaxListeners(0, signal);
    signal.addEventListener('abort', this.#cancel);
    underWay.add(this.#cancel);
    this.#timer = setTimeout(() => this.#stop({ how: 'no-answer' }), firstByteTimeoutMs);
    // A string leaves together with the head in one write; a buffer would take two.
    request.end(body);
  }

  readonly #cancel = (): void => this.#stop({ how: 'cancelled' });

  #connected(): void {
    this.#reached = true;
  }

  #read(incoming: IncomingMessage): void {
    this.#head = { status: incoming.statusCode ?? 0, headers: incoming.headers };
    const sink = this.#options.onHead(this.#head);
    // By the end of the response it has let go of its socket.
    const { socket } = incoming;
    incoming.on('data', (chunk: Buffer) => this.#take(chunk, sink));
    incoming.on('end', () => {
      // After a 101 without a word of where to, nobody can say what the connection speaks.
      if (closesSoon(incoming.headers) || incoming.statusCode === 101) socket.destroy();
      this.#settle({ how: 'whole' });
    });
    incoming.on('error', (error) => this.#broke(error));
    incoming.on('close', () => this.#broke(new Error('The connection was closed.')));
  }

  #take(chunk: Buffer, sink: Sink): void {
    if (this.#settled) return;
    this.#firstByteMs ??= this.#sinceStartMs();
    this.#bytes += chunk.length;
    if (this.#bytes > sink.bytesMax) {
      this.#stop({ how: 'oversized' });
      return;
    }
    this.#chunks.push(chunk);
    if (this.#enough) return;
    this.#enough = sink.take(chunk);
    if (this.#enough) this.#restart(lingerMs, { how: 'whole' });
    else if (this.#chunks.length === 1) this.#restart(this.#options.idleTimeoutMs, { how: 'stalled' });
    else this.#timer?.refresh();
  }

  #restart(ms: number, end: ExchangeEnd): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#stop(end), ms);
  }

  /** Ends it from our side: the socket is destroyed. What was whole by then stays whole. */
  #stop(end: ExchangeEnd): void {
    if (this.#settled) return;
    this.#settle(this.#enough ? { how: 'whole' } : end);
    this.#request?.destroy();
  }

  #broke(error: Error): void {
    this.#settle(this.#enough ? { how: 'whole' } : { how: 'broken', error });
  }

  #settle(end: ExchangeEnd): void {
    if (this.#settled) return;
    this.#settled = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#options.signal.removeEventListener('abort', this.#cancel);
    this.#options.underWay.delete(this.#cancel);
    const elapsedMs = this.#sinceStartMs();
    this.#resolve({
      end,
      dispatched: this.#head !== null ? 'yes' : this.#reached ? 'unknown' : 'no',
      head: this.#head,
      raw: Buffer.concat(this.#chunks),
      firstByteMs: this.#firstByteMs ?? elapsedMs,
      elapsedMs,
    });
  }

  #sinceStartMs(): number {
    return this.#options.clock.monotonicMs() - this.#startedMs;
  }
}

function closesSoon(headers: IncomingHttpHeaders): boolean {
  const seconds = /(?:^|[,\s])timeout=(\d+)/i.exec(String(headers['keep-alive'] ?? ''))?.[1];
  return seconds !== undefined && Number(seconds) < keepAliveMinSeconds;
}
