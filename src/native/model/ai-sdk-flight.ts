/** One request through the AI SDK: sent once, stopped when it must be, and ended as a typed reply. */
import { setMaxListeners } from 'node:events';
import type { LanguageModelV3StreamPart } from '@ai-sdk/provider';
import { noUsage } from '../../protocol/usage.ts';
import { callsMax } from '../../wire/call-fault.ts';
import type { Finish } from '../../wire/wire.ts';
import { SdkAnswer } from './ai-sdk-answer.ts';
import { callOf } from './ai-sdk-body.ts';
import {
  droppedFault,
  endFault,
  type SdkAsking,
  type SdkState,
  stopFault,
  streamFault,
  thrownFault,
  tooManyFault,
} from './ai-sdk-faults.ts';
import type { Fault } from './faults.ts';
import type { ModelReply, SendOptions } from './model.ts';
import { priceUsage } from './price.ts';

type Stop = 'cancelled' | 'no-answer' | 'stalled';

export class SdkFlight {
  readonly #asking: SdkAsking;
  readonly #how: SendOptions;
  readonly #answer = new SdkAnswer();
  readonly #abort = new AbortController();
  readonly #startedMs: number;
  #settle: (reply: ModelReply) => void = () => {};
  #dispatched: SdkState['dispatched'] = 'no';
  #stopped: Stop | null = null;
  #firstPartMs: number | null = null;
  #timer: NodeJS.Timeout | undefined;
  #reader: ReadableStreamDefaultReader<LanguageModelV3StreamPart> | undefined;
  #watched = true;

  constructor(asking: SdkAsking, how: SendOptions) {
    this.#asking = asking;
    this.#how = how;
    this.#startedMs = asking.clock.monotonicMs();
  }

  /** Never rejects. After a stop it resolves at once, whether or not the SDK obeys. */
  async fly(body: string): Promise<ModelReply> {
    const { signal } = this.#how;
    const done = new Promise<ModelReply>((resolve) => {
      this.#settle = resolve;
    });
    if (signal.aborted) this.#stop('cancelled');
    if (this.#stopped !== null) return this.#stoppedReply(this.#stopped);
    // One signal may stand over any number of requests; that is no leak, because each takes its listener away.
    setMaxListeners(0, signal);
    signal.addEventListener('abort', this.cancel, { once: true });
    this.#wait('no-answer', this.#asking.limits.firstByteTimeoutMs);
    void this.#run(body).then(this.#settle);
    const reply = await done;
    clearTimeout(this.#timer);
    signal.removeEventListener('abort', this.cancel);
    return reply;
  }

  readonly cancel = (): void => this.#stop('cancelled');

  async #run(body: string): Promise<ModelReply> {
    try {
      const call = callOf(body);
      this.#dispatched = 'unknown';
      const result = await this.#asking.model.doStream({ ...call, abortSignal: this.#abort.signal });
      this.#dispatched = 'yes';
      if (result.request?.body !== undefined)
        this.#answer.keep({ type: 'request', body: result.request.body });
      const reader = result.stream.getReader();
      this.#reader = reader;
      // A stop before this one found no reader to let go of.
      if (this.#stopped !== null) this.#letGo();
      let part = await reader.read();
      // A part may be on its way when the stop comes.
      for (; !part.done && this.#stopped === null; part = await reader.read()) {
        // This one says only that there is a stream.
        if (part.value.type !== 'stream-start') this.#moved();
        const delta = this.#answer.take(part.value);
        if (delta !== undefined) this.#show(delta);
        if (this.#asking.strict && this.#answer.warnings.length > 0) {
          this.#letGo();
          return this.#failed(droppedFault(this.#asking, this.#answer.warnings));
        }
      }
      return this.#ended();
    } catch (thrown) {
      const told = thrownFault(this.#asking, thrown, this.#state());
      this.#dispatched = told.dispatched;
      const { httpStatus, retryAfterMs } = told;
      return { ...this.#failed(told.fault, told.turnedAway), httpStatus, retryAfterMs };
    }
  }

  #ended(): ModelReply {
    const answer = this.#answer;
    if (answer.error !== null)
      return this.#failed(streamFault(this.#asking, answer.error.value, this.#state()));
    const { finish } = answer;
    if (
      finish === null ||
      finish.unified === 'error' ||
      (finish.unified === 'other' && finish.raw === undefined)
    ) {
      return this.#failed(endFault(this.#asking, finish));
    }
    const message = answer.message();
    if (message.calls.length > callsMax) return this.#failed(tooManyFault(this.#asking));
    return {
      ok: true,
      message,
      finish: finishOf(finish.unified, message.calls.length > 0),
      usage: priceUsage(answer.usage(), this.#asking.price),
      modelSeen: answer.modelSeen,
      requestId: answer.requestId,
      httpStatus: null,
      raw: answer.raw(),
      firstByteMs: this.#firstPartMs ?? this.#sinceStartMs(),
      elapsedMs: this.#sinceStartMs(),
      warnings: answer.warnings,
    };
  }

  #failed(fault: Fault, usedNothing = this.#dispatched === 'no'): Extract<ModelReply, { ok: false }> {
    const answer = this.#answer;
    return {
      ok: false,
      error: fault.error.toJSON(),
      dispatched: this.#dispatched,
      usage: usedNothing ? { ...noUsage, modelCalls: 1 } : priceUsage(answer.usage(), this.#asking.price),
      httpStatus: null,
      raw: this.#dispatched === 'yes' ? answer.raw() : null,
      retryable: fault.retryable,
      retryAfterMs: null,
      ...(answer.began === null ? {} : { began: answer.began }),
      warnings: answer.warnings,
    };
  }

  #stop(how: Stop): void {
    if (this.#stopped !== null) return;
    this.#stopped = how;
    this.#settle(this.#stoppedReply(how));
    this.#letGo();
  }

  // An SDK that does not heed the signal would go on to send parts that nobody reads.
  #letGo(): void {
    this.#abort.abort();
    this.#reader?.cancel().catch(() => {});
  }

  #stoppedReply(how: Stop): ModelReply {
    return this.#failed(stopFault(this.#asking, how, this.#state()));
  }

  /** What the faults of a connection look at. */
  #state(): SdkState {
    return {
      dispatched: this.#dispatched,
      head: null,
      raw: this.#answer.begun ? this.#answer.raw() : Buffer.alloc(0),
      firstByteMs: this.#firstPartMs ?? 0,
      elapsedMs: this.#sinceStartMs(),
    };
  }

  #moved(): void {
    if (this.#firstPartMs !== null) {
      this.#timer?.refresh();
      return;
    }
    this.#firstPartMs = this.#sinceStartMs();
    this.#wait('stalled', this.#asking.limits.idleTimeoutMs);
  }

  #wait(how: Stop, ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#stop(how), ms);
  }

  // Whoever watches must not break a call that is paid for: a fault of theirs ends the watching only.
  #show(delta: Parameters<NonNullable<SendOptions['onDelta']>>[0]): void {
    if (!this.#watched) return;
    try {
      this.#how.onDelta?.(delta);
    } catch {
      this.#watched = false;
    }
  }

  #sinceStartMs(): number {
    return this.#asking.clock.monotonicMs() - this.#startedMs;
  }
}

function finishOf(unified: Finish | 'error', calls: boolean): Finish {
  if (unified === 'stop' && calls) return 'tool-calls';
  return unified === 'error' ? 'other' : unified;
}
