/** Stands between an outside program and its model: admits each request by the run's budget, proves it, and charges its answer. */
import { sha256 } from '../../digest.ts';
import { type ErrorJson, messageOf } from '../../errors.ts';
import type { Host } from '../../harness.ts';
import { amountOf, type BudgetAmount, budgetExhausted } from '../../protocol/budget.ts';
import type { DeliveryPlan } from '../../protocol/delivery.ts';
import type { Usage } from '../../protocol/usage.ts';
import { DeliverError } from '../errors.ts';
import type { Exchange } from '../recorder/exchange.ts';
import { type Protocol, type ReadWithBody, readWithBody } from '../recorder/model-request.ts';
import { type GatedRequest, type HeldBack, type Recorder, startRecorder } from '../recorder/recorder.ts';
import { answerSaid } from './answer-usage.ts';
import { type Judgement, openProof, type Proof } from './proof.ts';
import { notHere, refusalOf } from './refusal-body.ts';
import { reservationOf, type Tariff } from './reservation.ts';

/** What a meter is opened with beside the run. */
export interface MeterOptions {
  /** The base URL that the program would have had. Its key is the program's own and only passes through. */
  readonly upstream: string;
  /** The price of a model as requests name it; null where it is not known. Left out, no money is counted. */
  readonly tariff?: (model: string | null) => Tariff | null;
  /** Whether the bodies of requests are kept in the record, for what else is to be looked for in them. */
  readonly keepBodies?: boolean;
}

export interface Meter {
  /** The program's base URL. */
  readonly url: string;
  /** Aborts a moment after a request was refused, for a program that does not end by itself. */
  readonly signal: AbortSignal;
  /** Why a request was refused first; undefined where none was. */
  error(): ErrorJson | undefined;
  /** Requests of the task that were let through. */
  admitted(): number;
  /** Frees the port. Requests that are still open are settled as unknown. Safe to call twice. */
  close(): Promise<void>;
}

/** A program that was refused gets this long to say so and end. */
const lastWordsMs = 3_000;

/** Opens it on a free port of this machine. Throws `recorder.bad-upstream` and `recorder.no-port`. */
export async function openMeter(
  options: MeterOptions,
  host: Host,
  delivery: Pick<DeliveryPlan, 'harness' | 'cell' | 'intent'> & { readonly text: string },
): Promise<Meter> {
  const gate = new Gate(options, host, delivery.harness, openProof(delivery.text, delivery));
  const recorder: Recorder = await startRecorder({
    upstream: options.upstream,
    clock: host.clock,
    gate: (request) => gate.decide(request),
    take: (exchange) => gate.settle(exchange),
  });
  host.note([{ type: 'meter-open', upstream: new URL(options.upstream).origin }]);
  return {
    url: recorder.url,
    signal: gate.ended.signal,
    error: () => gate.error,
    admitted: () => gate.main,
    async close() {
      gate.close();
      await recorder.close();
    },
  };
}

interface Open {
  readonly reservation: number;
  readonly reserved: BudgetAmount;
  readonly protocol: Protocol;
  readonly tariff: Tariff | null;
}

class Gate {
  error: ErrorJson | undefined;
  main = 0;
  readonly ended = new AbortController();
  readonly #options: MeterOptions;
  readonly #host: Host;
  readonly #harness: string;
  readonly #proof: Proof;
  readonly #open = new Map<number, Open>();
  readonly #passedOver = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: MeterOptions, host: Host, harness: string, proof: Proof) {
    this.#options = options;
    this.#host = host;
    this.#harness = harness;
    this.#proof = proof;
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  async decide(request: GatedRequest): Promise<HeldBack | undefined> {
    const body = { bytes: request.body, bytesSeen: request.body.length, complete: true };
    const reading = readWithBody({ ...request, request: { headers: request.headers, body } });
    if (reading.kind === 'other') return this.#other(request);
    if (reading.kind === 'unreadable')
      return this.#refuse(request.number, reading.protocol, this.#unreadable(reading.reason));
    const { protocol } = reading.request;
    // Of a run that has failed nothing more is asked.
    if (this.error !== undefined) return this.#refuse(request.number, protocol, this.error);
    const judged = this.#proof.judge(reading.request);
    if ('found' in judged) return this.#refuse(request.number, protocol, this.#notProven(judged.found));
    return this.#admit(request, reading, judged);
  }

  // Reads what is left and sets it aside in one go, without an await between: nothing can slip in.
  async #admit(
    request: GatedRequest,
    { request: read, json }: Extract<ReadWithBody, { kind: 'model' }>,
    judged: Exclude<Judgement, { found: string }>,
  ): Promise<HeldBack | undefined> {
    const { protocol, model } = read;
    const tariff = this.#options.tariff?.(model) ?? null;
    if (tariff === null && this.#host.left('costUsd') !== null)
      return this.#refuse(request.number, protocol, this.#unpriced(model));
    const reserved = reservationOf(read, json, { isTurn: judged.lane === 'main', tariff });
    const reservation = this.#host.reserve(reserved);
    if (!reservation.granted) {
      const { granted: _, ...spent } = reservation;
      this.#host.note([{ type: 'budget-refuse', ...spent }]);
      return this.#refuse(request.number, protocol, budgetExhausted(spent));
    }
    this.#open.set(request.number, { reservation: reservation.id, reserved, protocol, tariff });
    const body = sha256(request.body);
    await this.#host.record(
      [
        {
          type: 'meter-admit',
          number: request.number,
          lane: judged.lane,
          protocol,
          model,
          body,
          bodyBytes: request.body.length,
          tools: read.tools.length,
          text: judged.lane === 'main' ? judged.text : null,
          reserved,
        },
      ],
      this.#options.keepBodies === true ? [{ digest: body, bytes: request.body }] : [],
    );
    if (judged.lane === 'main') this.main += 1;
    return undefined;
  }

  /** Charges what was admitted, however it ended. Must not throw. */
  settle(exchange: Exchange): void {
    const open = this.#open.get(exchange.number);
    if (open === undefined) return;
    this.#open.delete(exchange.number);
    const { usage: said, modelSeen, fingerprint } = answerSaid(open.protocol, exchange);
    const usage = open.tariff === null ? said : open.tariff.price(said);
    const { known, unknown } = chargeOf(usage, open.reserved, exchange.response?.status ?? null);
    this.#host.charge(open.reservation, known, unknown);
    this.#host.note([
      {
        type: 'meter-answer',
        number: exchange.number,
        httpStatus: exchange.response?.status ?? null,
        modelSeen,
        ...(fingerprint === undefined ? {} : { fingerprint }),
        usage,
        response: exchange.response === null ? null : sha256(exchange.response.body.bytes),
        fault: faultText(exchange.fault),
        elapsedMs: Math.round(exchange.durationMs),
      },
    ]);
  }

  // A list of models costs nothing. What is sent to an address that is not known may be anything.
  #other({ method, path }: GatedRequest): HeldBack | undefined {
    const plain = path.split('?', 1)[0] ?? '';
    if (method !== 'POST' || /[/:]count_?tokens$/i.test(plain)) return undefined;
    const message = `${method} ${plain} is no request to a model that can be metered, so it is not sent on.`;
    if (!this.#passedOver.has(plain)) {
      this.#passedOver.add(plain);
      this.#host.note([{ type: 'notice', code: 'deliver.not-metered', text: message }]);
    }
    return notHere(message);
  }

  #refuse(number: number, protocol: Protocol, error: ErrorJson): HeldBack {
    if (this.error === undefined) {
      this.error = error;
      this.#timer = setTimeout(() => this.ended.abort(), lastWordsMs);
    }
    this.#host.note([{ type: 'meter-refuse', number, error }]);
    return refusalOf(protocol, error.message);
  }

  #notProven(found: string): ErrorJson {
    return new DeliverError(
      'deliver.not-proven',
      `A request of ${this.#harness} was to hold the text once at ${this.#proof.expected}; ${found}. It was not sent.`,
      {
        next: 'Measure the program as it is now with: writ harness verify',
        details: { harness: this.#harness, expected: this.#proof.expected, found },
      },
    ).toJSON();
  }

  #unreadable(reason: string): ErrorJson {
    return new DeliverError(
      'deliver.not-proven',
      `A request of ${this.#harness} cannot be read, so nothing can be said of the text in it: ${reason}. It was not sent.`,
      { next: 'Run it without --metered.', details: { harness: this.#harness, reason } },
    ).toJSON();
  }

  #unpriced(model: string | null): ErrorJson {
    const name = model ?? 'a model that it does not name';
    return new DeliverError(
      'deliver.unpriced',
      `The budget limits costUsd, and ${this.#harness} asks ${name}, whose price is not known.`,
      {
        next: 'Add its price to prices in agent.yaml, or leave costUsd out of the budget (--budget costUsd=none).',
        details: { harness: this.#harness, model },
      },
    ).toJSON();
  }
}

/** What is charged; a turn that brought no answer is none. */
function chargeOf(usage: Usage, reserved: BudgetAmount, status: number | null) {
  const isAnswered = status !== null && status < 400;
  const { known, unknown } = amountOf(usage);
  return {
    known: reserved.turns === undefined ? known : { ...known, turns: isAnswered ? 1 : 0 },
    unknown: unknown.filter((counter) => reserved[counter] !== undefined),
  };
}

function faultText(fault: Exchange['fault']): string | null {
  if (fault === null) return null;
  return 'message' in fault ? `${fault.what}: ${messageOf(fault.message)}` : fault.what;
}
