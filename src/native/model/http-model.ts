/** A model behind HTTP: pooled connections, one send without a retry, and every end as a typed reply. */
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { type Clock, systemClock } from '../../clock.ts';
import { cleanError } from '../../ledger/clean-record.ts';
import { type Redactor, redactor, type Secret } from '../../ledger/secrets.ts';
import { noUsage, type Usage, unknownUsage } from '../../protocol/usage.ts';
import type { Wire, WireDelta, WireEnd } from '../../wire/wire.ts';
import { type Exchange, exchange, type Head, type Target, targetOf } from './exchange.ts';
import {
  type Asked,
  answerFault,
  contentFault,
  exchangeFault,
  type Fault,
  statusFault,
  turnedAway,
} from './faults.ts';
import type { Model, ModelReply, Price, SendOptions } from './model.ts';
import { priceUsage } from './price.ts';
import { retryAfterMs } from './retry-after.ts';

export interface HttpLimits {
  /** From the start of a request to the first byte of its answer; by default 300 s. */
  readonly firstByteTimeoutMs: number;
  /** Between two parts of an answer; by default 120 s. */
  readonly idleTimeoutMs: number;
  /** By default 64 MiB. */
  readonly responseBytesMax: number;
}

export interface HttpModelOptions {
  readonly id: string;
  readonly name: string;
  readonly wire: Wire;
  /** Checked: http or https, without credentials, query, or a slash at its end. */
  readonly baseUrl: string;
  readonly key: Secret | null;
  readonly price: Price | null;
  /** Sent beside those of the wire. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The header in which the server takes an idempotency key; left out for one that takes none. */
  readonly idempotencyHeader?: string;
  readonly limits?: Partial<HttpLimits>;
  /** Certificates (PEM) to trust instead of the system's. */
  readonly ca?: string;
  readonly clock?: Clock;
}

const errorBytesMax = 64 * 1024;
/** Idle sockets are dropped before a server with the usual five seconds does it, so that none is reused while it closes. */
const idleSocketMs = 4_000;

/**
 * The key as a secret, unless it is a word of the model's own name: local servers are given such a word because they want
 * any, and to take it out of every text would only spoil the texts.
 */
export function secretsOf(id: string, key: Secret | null): readonly Secret[] {
  return key === null || id.split(/[/:]/).includes(key.value) ? [] : [key];
}

/** Makes the model. Its connections are its own until `close`, which cancels what is under way. */
export function httpModel(options: HttpModelOptions): Model {
  const { wire, key, name } = options;
  const url = new URL(options.baseUrl + wire.path);
  const limits = { firstByteTimeoutMs: 300_000, idleTimeoutMs: 120_000, responseBytesMax: 64 * 1024 * 1024 };
  const redact = redactor(secretsOf(options.id, key));
  const sender = new Sender(options, url, { ...limits, ...options.limits }, redact);
  return {
    id: options.id,
    name,
    wire: wire.name,
    url: url.href,
    price: options.price,
    ...(wire.maxTokensDefault === undefined ? {} : { maxTokensDefault: wire.maxTokensDefault }),
    settings: wire.settings,
    message: (message) => wire.message(message),
    tools: (schemas) => wire.tools(schemas),
    body: (parts) => wire.body({ ...parts, model: name }),
    send: (body, how) => sender.send(body, how),
    close: async () => sender.close(),
  };
}

class Sender {
  readonly #options: HttpModelOptions;
  readonly #limits: HttpLimits;
  readonly #asked: Asked;
  readonly #clock: Clock;
  readonly #agent: HttpAgent;
  readonly #target: Target;
  readonly #redact: Redactor;
  readonly #underWay = new Set<() => void>();
  #closed = false;

  constructor(options: HttpModelOptions, url: URL, limits: HttpLimits, redact: Redactor) {
    this.#options = options;
    this.#redact = redact;
    this.#limits = limits;
    this.#asked = {
      id: options.id,
      url: url.href,
      path: options.wire.path,
      keyEnv: options.key?.name ?? null,
    };
    this.#clock = options.clock ?? systemClock;
    const pool = { keepAlive: true, timeout: idleSocketMs };
    const trust = options.ca === undefined ? {} : { ca: options.ca };
    this.#agent = url.protocol === 'https:' ? new HttpsAgent({ ...pool, ...trust }) : new HttpAgent(pool);
    this.#target = targetOf(url, this.#agent, {
      'content-type': 'application/json',
      accept: 'text/event-stream, application/json',
      'accept-encoding': 'identity',
      'user-agent': 'writ',
      ...options.headers,
      ...options.wire.headers(options.key?.value ?? null),
    });
  }

  async send(body: string, how: SendOptions): Promise<ModelReply> {
    const answer = new Answer(this.#options.wire, how.onDelta);
    let unreadable: Fault | null = null;
    const { idempotencyHeader } = this.#options;
    const keyed = idempotencyHeader !== undefined && how.idempotencyKey !== undefined;
    const headers = keyed ? { ...this.#target.headers, [idempotencyHeader]: how.idempotencyKey } : null;
    const done = await exchange({
      target: headers === null ? this.#target : { ...this.#target, headers },
      body,
      firstByteTimeoutMs: this.#limits.firstByteTimeoutMs,
      idleTimeoutMs: this.#limits.idleTimeoutMs,
      signal: this.#closed ? AbortSignal.abort() : how.signal,
      underWay: this.#underWay,
      clock: this.#clock,
      onHead: (head) => {
        if (!isSuccess(head)) return { bytesMax: errorBytesMax, take: () => false };
        unreadable = contentFault(this.#asked, head);
        if (unreadable !== null) return { bytesMax: errorBytesMax, take: () => true };
        return { bytesMax: this.#limits.responseBytesMax, take: (chunk) => answer.push(chunk) };
      },
    });
    return this.#reply(done, answer, unreadable);
  }

  close(): void {
    this.#closed = true;
    for (const cancel of [...this.#underWay]) cancel();
    this.#agent.destroy();
  }

  #reply(done: Exchange, answer: Answer, unreadable: Fault | null): ModelReply {
    const { head } = done;
    if (head === null) {
      // A request that never left used nothing; one that may have left used who knows what.
      const usage = done.dispatched === 'no' ? usedNothing : unknownUsage;
      return this.#failed(done, exchangeFault(this.#asked, done, this.#limits), usage);
    }
    if (!isSuccess(head) && done.end.how !== 'cancelled') {
      // Error bodies repeat what was sent, and what is said of them is cut: the key goes before it could be cut in half.
      const body = this.#redact.text(done.raw.toString('utf8'));
      const said = this.#options.wire.fault(head.status, body);
      const usage = turnedAway(head.status) ? usedNothing : unknownUsage;
      return this.#failed(done, statusFault(this.#asked, head, said), usage);
    }
    if (unreadable !== null && done.end.how !== 'cancelled')
      return this.#failed(done, unreadable, unknownUsage);
    const end = answer.end();
    const usage = priceUsage(end.usage, this.#options.price);
    if (done.end.how !== 'whole') {
      const reply = this.#failed(done, exchangeFault(this.#asked, done, this.#limits), usage);
      return answer.began === null ? reply : { ...reply, began: answer.began };
    }
    if (end.kind !== 'message') return this.#failed(done, answerFault(this.#asked, end), usage);
    return {
      ok: true,
      message: end.message,
      finish: end.finish,
      usage,
      modelSeen: end.modelSeen,
      ...(end.fingerprint === undefined ? {} : { fingerprint: end.fingerprint }),
      requestId: end.requestId,
      httpStatus: head.status,
      raw: done.raw,
      firstByteMs: done.firstByteMs,
      elapsedMs: done.elapsedMs,
    };
  }

  #failed(done: Exchange, fault: Fault, usage: Usage): Extract<ModelReply, { ok: false }> {
    return {
      ok: false,
      error: cleanError(fault.error.toJSON(), this.#redact),
      dispatched: done.dispatched,
      usage,
      httpStatus: done.head?.status ?? null,
      raw: done.head === null ? null : done.raw,
      retryable: fault.retryable,
      retryAfterMs: done.head === null ? null : retryAfterMs(done.head.headers, this.#clock.now()),
    };
  }
}

/** Reads one answer and shows its text as it comes. */
class Answer {
  readonly #reader: ReturnType<Wire['reader']>;
  #show: ((delta: WireDelta) => void) | undefined;
  #shown = false;

  constructor(wire: Wire, show: ((delta: WireDelta) => void) | undefined) {
    this.#reader = wire.reader();
    this.#show = show;
  }

  push(chunk: Uint8Array): boolean {
    for (const delta of this.#reader.push(chunk)) this.#tell(delta);
    return this.#reader.finished;
  }

  get began(): string | null {
    return this.#reader.began;
  }

  end(): WireEnd {
    const end = this.#reader.end();
    // A server that does not stream gives its text at once.
    if (end.kind === 'message' && !this.#shown) {
      const { text, reasoning } = end.message;
      if (reasoning !== undefined && reasoning.text !== '')
        this.#tell({ type: 'reasoning', text: reasoning.text });
      if (text !== '') this.#tell({ type: 'text', text });
    }
    return end;
  }

  // Whoever watches must not break a call that is paid for: a fault of theirs ends the watching only.
  #tell(delta: WireDelta): void {
    this.#shown = true;
    try {
      this.#show?.(delta);
    } catch {
      this.#show = undefined;
    }
  }
}

const usedNothing: Usage = { ...noUsage, modelCalls: 1 };

function isSuccess(head: Head): boolean {
  return head.status >= 200 && head.status < 300;
}
