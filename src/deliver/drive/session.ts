/** One session of an agent program: each task is one start of it, recorded before it begins and never repeated. */
import { jsonDigest } from '../../digest.ts';
import { messageOf, WritError } from '../../errors.ts';
import type { Host, OpenSession, Session, TaskInput } from '../../harness.ts';
import { type BudgetAmount, type BudgetCounter, budgetExhausted } from '../../protocol/budget.ts';
import type { DeliveryPlan, SessionBinding } from '../../protocol/delivery.ts';
import type { EffectCall, EffectOutcome, NonDispatch, Observation } from '../../protocol/effect.ts';
import type { RunEvent } from '../../protocol/events.ts';
import type { HarnessOutcome } from '../../protocol/outcome.ts';
import { addUsage, noUsage, type Usage } from '../../protocol/usage.ts';
import { lookAround } from '../ambient.ts';
import { DeliverError, type DeliverErrorCode } from '../errors.ts';
import type { Meter } from '../meter/meter.ts';
import type { Observed } from '../observed.ts';
import { receiptOf } from '../receipt.ts';
import { shortText } from './diagnostics.ts';
import { inHome, markVariable, pastProxies, programEnvironment } from './environment.ts';
import { cleanAfterCrash, homeOf, prepareHome, sweepHomes } from './home.ts';
import type { OutsideOptions } from './options.ts';
import { type ProgramEnd, runProgram } from './program.ts';
import { openTranscript, type Transcript } from './transcript.ts';

export interface OutsideParts {
  readonly options: OutsideOptions;
  readonly binding: SessionBinding;
  /** Throws a refusal. `baseUrl` takes the place of the one that was asked for. */
  readonly plan: (input: TaskInput, baseUrl?: string) => DeliveryPlan;
}

/** The place of the whole start among the effects of a run: before its first turn. */
const place = { turn: 0, position: 0 } as const;

/** A start may take as long as its run may; timers hold no more. */
const timeoutMs = 2 ** 31 - 1;

export function openOutsideSession(session: Session, host: Host, parts: OutsideParts): OpenSession {
  return { turns: (input) => turns(input, session, host, parts), close: async () => {} };
}

async function* turns(
  input: TaskInput,
  session: Session,
  host: Host,
  parts: OutsideParts,
): AsyncGenerator<{ readonly turn: number }, HarnessOutcome, void> {
  const { adapter, homes } = parts.options;
  const call: EffectCall = {
    ...place,
    tool: adapter.name,
    access: 'write',
    repeat: 'once',
    key: adapter.name,
    fingerprint: jsonDigest([adapter.name, session.composition.digest, input.task]),
    repeatable: false,
    timeoutMs,
    look: 'Look at what it changed in the workspace.',
  };
  if (host.dispatched(place)) {
    // It was started by a Writ that died: what still runs of it is ended, and only a person's word starts it again.
    const survivors = await cleanAfterCrash(homeOf(homes, session.id));
    const settled = await host.settled(call);
    if (settled !== undefined) return replayed(adapter.name, settled, survivors.length);
  }
  let plan: DeliveryPlan;
  let found: readonly string[];
  try {
    plan = parts.plan(input);
    found = await lookAround(plan);
  } catch (thrown) {
    if (thrown instanceof WritError && thrown.kind === 'refused')
      return { status: 'refused', error: thrown.toJSON() };
    throw thrown;
  }
  await sweepHomes(homes);
  const start = new Start(input, host, parts, { plan, found, text: session.composition.text });
  const outcome = await host.effect(call, (signal) => start.dispatch(signal));
  for (let turn = 1; turn <= start.turns; turn += 1) yield { turn };
  return start.verdict ?? replayed(adapter.name, outcome, 0);
}

/** What the record alone says of a start. */
function replayed(harness: string, outcome: EffectOutcome, survivors: number): HarnessOutcome {
  if (outcome.state === 'observed') {
    const { status, text } = outcome.observation;
    if (status === 'succeeded') return { status: 'completed', answer: text };
    return failed('deliver.program-failed', text, 'Give the session its next task, or start a new one.');
  }
  if (outcome.state === 'not-dispatched') return notStarted(harness, outcome.nonDispatch);
  const left = survivors === 0 ? '' : ` ${survivors} of its processes could not be ended.`;
  const error = new DeliverError(
    'deliver.outcome-unknown',
    `${harness} was started, and how it ended is not known: ${outcome.reason}${left}`,
    { next: 'Look at what it changed in the workspace, then give the session its next task.' },
  );
  return { status: 'unknown', error: error.toJSON() };
}

function notStarted(harness: string, { reason, message }: NonDispatch): HarnessOutcome {
  if (reason === 'cancelled')
    return { status: 'cancelled', error: stopped(harness, 'It was ended before it began.').toJSON() };
  return failed(
    'deliver.not-started',
    `${harness} could not be started: ${message}`,
    'See whether it is installed with: writ doctor.',
  );
}

function failed(code: DeliverErrorCode, message: string, next: string): HarnessOutcome {
  return { status: 'failed', error: new DeliverError(code, message, { next }).toJSON() };
}

function stopped(harness: string, message: string): DeliverError {
  return new DeliverError('deliver.stopped', `${harness}: ${message}`, {
    next: 'Give the session another task.',
  });
}

/** One start and what is seen of it. */
class Start {
  /** Set once the program has ended and nothing of it runs. */
  verdict: HarnessOutcome | undefined;
  readonly #input: TaskInput;
  readonly #host: Host;
  readonly #options: OutsideOptions;
  readonly #parts: OutsideParts;
  readonly #found: readonly string[];
  readonly #text: string;
  readonly #transcript: Transcript;
  readonly #atFirst: ReadonlyMap<BudgetCounter, number>;
  readonly #overspent = new AbortController();
  #plan: DeliveryPlan;
  #meter: Meter | undefined;
  #spentError: ReturnType<typeof budgetExhausted> | undefined;

  constructor(
    input: TaskInput,
    host: Host,
    parts: OutsideParts,
    {
      plan,
      found,
      text,
    }: { readonly plan: DeliveryPlan; readonly found: readonly string[]; readonly text: string },
  ) {
    const { options, binding } = parts;
    this.#input = input;
    this.#host = host;
    this.#parts = parts;
    this.#options = options;
    this.#plan = plan;
    this.#found = found;
    this.#text = text;
    this.#transcript = openTranscript({
      clock: host.clock,
      binding,
      before: usedBefore(input.earlier),
      live: host.live,
      spend: (amount) => this.#spend(amount),
    });
    const limits = watched.map((counter) => [counter, host.left(counter)] as const);
    this.#atFirst = new Map(limits.flatMap(([counter, left]) => (left === null ? [] : [[counter, left]])));
  }

  get turns(): number {
    return this.#transcript.turns();
  }

  async dispatch(signal: AbortSignal): Promise<Observation | NonDispatch> {
    const { env, adapter, userHome } = this.#options;
    const seen = inHome(env, userHome);
    const value = this.#input.run;
    const mark = `${markVariable}=${value}`;
    let home: Awaited<ReturnType<typeof prepareHome>>;
    try {
      await this.#openMeter();
    } catch (thrown) {
      return refused('unavailable', `its requests cannot be metered: ${messageOf(thrown)}`);
    }
    try {
      home = await prepareHome(this.#plan, mark, env);
    } catch (thrown) {
      await this.#meter?.close();
      return refused('unavailable', `its home could not be made: ${messageOf(thrown)}`);
    }
    let end: ProgramEnd;
    try {
      const reader = adapter.openStream?.();
      const { program, argv, workspace, stdin } = this.#plan;
      const take = async (observed: ReturnType<NonNullable<typeof reader>['line']>) => {
        for (const one of observed) this.#transcript.take(one);
        await this.#record();
      };
      end = await runProgram(
        {
          program: adapter.program === null ? (program ?? '') : this.#options.program,
          argv,
          cwd: workspace,
          env: programEnvironment(this.#plan, this.#meter === undefined ? seen : pastProxies(seen), value),
          stdin,
          mark,
        },
        {
          onStart: async (leader) => {
            this.#host.note([this.#receipt()]);
            await home.started(leader);
          },
          onLines: (lines) => take(lines.flatMap((line) => reader?.line(line) ?? [])),
          ...this.#conversation(),
          signal: AbortSignal.any([
            signal,
            this.#overspent.signal,
            ...(this.#meter === undefined ? [] : [this.#meter.signal]),
          ]),
        },
      );
      if (end.started) await take(reader?.end() ?? []);
    } finally {
      await this.#meter?.close();
      await home.clean();
    }
    if (!end.started) return refused(end.code === null ? 'cancelled' : 'unavailable', end.message);
    this.#transcript.finish();
    this.#tell(end);
    await this.#record();
    if (end.survivors.length > 0) throw new Error(`These could not be ended: ${namesOf(end.survivors)}.`);
    this.verdict = this.#judge(end, signal);
    return observationOf(this.verdict);
  }

  /** Stands between the program and its model, and plans it once more for this way. */
  async #openMeter(): Promise<void> {
    const { meter } = this.#options;
    if (meter === undefined) return;
    const { openMeter } = await import('../meter/meter.ts');
    const { harness, cell, intent } = this.#plan;
    this.#meter = await openMeter(meter, this.#host, { harness, cell, intent, text: this.#text });
    this.#plan = this.#parts.plan(this.#input, this.#meter.url);
  }

  /** For a program that is talked with. What it breaks off with is how it failed, and no fault of ours. */
  #conversation(): Pick<Parameters<typeof runProgram>[1], 'converse'> {
    const { converse } = this.#options.adapter;
    const { acp } = this.#plan;
    if (converse === undefined || acp === null) return {};
    return {
      converse: async (streams) => {
        let recorded = Promise.resolve();
        const tell = (observed: Observed) => {
          this.#transcript.take(observed);
          recorded = recorded.then(() => this.#record());
          recorded.catch(() => {});
        };
        await converse(acp, { ...streams, tell }).catch((thrown: unknown) =>
          tell({ type: 'finish', ok: false, message: messageOf(thrown) }),
        );
        await recorded;
      },
    };
  }

  async #record(): Promise<void> {
    const { events, blobs } = this.#transcript.drain();
    if (events.length > 0) await this.#host.record(events, blobs);
  }

  #receipt() {
    const receipt = receiptOf(this.#plan, this.#options.version);
    const beside = this.#found.map((file) => `${file}, which it reads by itself`);
    return {
      type: 'delivery-receipt',
      receipt: {
        ...receipt,
        residue: [...receipt.residue, ...beside],
        notices: [...receipt.notices, ...(this.#options.notices ?? [])],
      },
    } as const;
  }

  #tell({ leftovers, linesDropped }: Extract<ProgramEnd, { started: true }>): void {
    const { name } = this.#options.adapter;
    if (leftovers.length > 0)
      this.#notice(
        'deliver.leftovers',
        `${name} left processes behind, which were ended: ${namesOf(leftovers)}.`,
      );
    if (linesDropped > 0)
      this.#notice(
        'deliver.line-too-long',
        `${name} printed ${linesDropped} lines that were too long to be read.`,
      );
  }

  #notice(code: string, text: string): void {
    this.#host.note([{ type: 'notice', code, text }]);
  }

  /** Counts what was used. What goes beyond a limit ends the program, for it cannot be kept from going on. */
  #spend(used: BudgetAmount): void {
    // What goes through a meter is counted there.
    const { turns: _turns, modelCalls: _calls, tokens: _tokens, ...others } = used;
    const amount: BudgetAmount = this.#options.meter === undefined ? used : others;
    for (const counter of watched) {
      const [left, wanted] = [this.#host.left(counter), amount[counter] ?? 0];
      if (left === null || wanted <= left || this.#spentError !== undefined) continue;
      const spent = { counter, limit: this.#atFirst.get(counter) ?? left, left, wanted };
      this.#spentError = budgetExhausted(spent);
      this.#host.note([{ type: 'budget-refuse', ...spent }]);
      this.#overspent.abort();
    }
    this.#host.spend(amount);
  }

  #judge(end: Extract<ProgramEnd, { started: true }>, signal: AbortSignal): HarnessOutcome {
    const { name } = this.#options.adapter;
    // A program may make an answer out of anything: what it was refused decides.
    const unmet = this.#meter?.error();
    if (unmet !== undefined) return { status: 'failed', error: unmet };
    const said = this.#transcript.ending();
    const clean = (end.isDone || end.exit.code === 0) && end.inputFault === null;
    const answer = said?.ok === true ? (said.answer ?? this.#transcript.lastText()) : '';
    if (clean && answer.trim() !== '') {
      if (this.#meter?.admitted() !== 0) return { status: 'completed', answer };
      return failed(
        'deliver.not-metered',
        `${name} gave an answer, and none of its requests went through the recorder: its budget and its text are not proven.`,
        'See where it sends its requests, or run it without --metered.',
      );
    }
    if (this.#spentError !== undefined) return { status: 'failed', error: this.#spentError };
    if (signal.aborted)
      return {
        status: 'cancelled',
        error: stopped(name, 'It was ended with all that it had started.').toJSON(),
      };
    if (clean && said?.ok === true)
      return failed(
        'deliver.no-answer',
        `${name} ended well and gave no answer.`,
        'Try again, or look at what it did with: writ runs show last.',
      );
    const message = said?.ok === false ? said.message : (end.inputFault ?? silence(end));
    return failed(
      'deliver.program-failed',
      `${name} failed (${exitText(end.exit)}): ${shortText(message) || 'it does not say why'}`,
      'Mend what it names, or try again in a new session.',
    );
  }
}

/** Limits that a program can be stopped at while it works. */
const watched = [
  'turns',
  'modelCalls',
  'toolCalls',
  'tokens',
  'outputBytes',
] as const satisfies readonly BudgetCounter[];

function refused(reason: NonDispatch['reason'], message: string): NonDispatch {
  return { proof: 'not-dispatched', reason, message };
}

function observationOf(verdict: HarnessOutcome): Observation {
  const text =
    verdict.status === 'completed' ? verdict.answer : 'error' in verdict ? verdict.error.message : '';
  return {
    status: verdict.status === 'completed' ? 'succeeded' : 'failed',
    text,
    truncated: false,
    bytes: Buffer.byteLength(text),
  };
}

function silence({ exit, stderr }: Extract<ProgramEnd, { started: true }>): string {
  const last = shortText(stderr);
  if (exit.code === 0) return `its output ended without saying how it went${last === '' ? '' : `; ${last}`}`;
  return last;
}

function exitText({ code, signal }: Extract<ProgramEnd, { started: true }>['exit']): string {
  if (signal !== null) return `ended by ${signal}`;
  return code === null ? 'its end was not seen' : `exit code ${code}`;
}

function namesOf(processes: readonly { readonly pid: number; readonly name: string }[]): string {
  return processes.map(({ pid, name }) => `${name} (${pid})`).join(', ');
}

/** All that the session's earlier runs used, for programs that count on. */
function usedBefore(earlier: readonly RunEvent[]): Usage {
  return earlier
    .flatMap((event) => (event.type === 'usage-report' && event.turn === 0 ? [event.usage] : []))
    .reduce(addUsage, noUsage);
}
