/** Any order of calls, crashes, zombies, late answers, decisions and forgetting over real stores does what a plain model of one page says. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sha256 } from '../digest.ts';
import { runRecord, sessionRecord } from '../ledger/store.cases.ts';
import type { Lease, Store } from '../ledger/store.ts';
import { memoryStore } from '../ledger/stores/memory.ts';
import { sqliteStore } from '../ledger/stores/sqlite.ts';
import type { EffectCall, EffectState, Lineage, Observation } from '../protocol/effect.ts';
import { forgetSession } from '../run/forget.ts';
import { reconcileEffect } from '../run/reconcile.ts';
import type { EffectDecisionKind } from '../run/unsettled.ts';
import { type EffectRecord, type EffectView, effectsOf } from './effects.ts';
import { effectCall } from './record.cases.ts';
import { type RunEffectOptions, runEffect } from './run-effect.ts';

/**
 * Places 1 and 2 are one call in the same words, 3 is the same effect in others, 4 is a call whose repetition does no harm, 5
 * and 6 are one call that means to act each time.
 */
const calls: readonly EffectCall[] = [
  effectCall({ position: 1, timeoutMs: 10 }),
  effectCall({ position: 2, timeoutMs: 10 }),
  effectCall({ position: 3, fingerprint: 'print-2', timeoutMs: 10 }),
  effectCall({ position: 4, key: 'other', fingerprint: 'print-3', repeat: 'idempotent', timeoutMs: 10 }),
  ...[5, 6].map((position) =>
    effectCall({ position, key: 'again', fingerprint: 'print-4', repeatable: true, timeoutMs: 10 }),
  ),
];

/** What is believed of one place. */
interface Place {
  state: EffectState | 'none';
  /** Attempts that reached the outside. */
  acted: number;
  /** How often somebody allowed another attempt, or proved that one was not sent. */
  allowed: number;
  text: string | null;
  /** Where each recorded attempt comes from. */
  modes: Lineage['mode'][];
}

const untouched = (): Place => ({ state: 'none', acted: 0, allowed: 0, text: null, modes: [] });

interface Model {
  readonly places: Place[];
}

interface Real {
  store: Store;
  lease: Lease;
  /** Leases of processes that are gone. */
  readonly zombies: Lease[];
  readonly reopen: (() => Store) | undefined;
  /** Attempts that may still answer, by place. */
  readonly late: Map<number, (value: Observation) => Promise<void>>;
  readonly acted: number[];
}

const ways = ['succeed', 'fail', 'throw', 'not-sent', 'hang', 'die-before', 'die-after'] as const;
type Way = (typeof ways)[number];

const isOpen = (state: Place['state']) => ['dispatching', 'cancel-requested', 'unknown'].includes(state);
const observation = (text: string, status: 'succeeded' | 'failed' = 'succeeded'): Observation => {
  return { status, text, truncated: false, bytes: text.length };
};

/** What the model expects of a call before it is made. */
function expected({ places }: Model, at: number): 'replay' | 'unknown' | 'held' | 'send' {
  const call = calls[at] as EffectCall;
  const here = places[at] as Place;
  if (here.text !== null) return 'replay';
  if (here.state === 'abandoned' || (isOpen(here.state) && call.repeat === 'once')) return 'unknown';
  const others = places
    .map((place, i) => ({ place, call: calls[i] as EffectCall }))
    .filter((_, i) => i !== at);
  const same = others.some(
    ({ place, call: one }) => one.fingerprint === call.fingerprint && place.text !== null,
  );
  if (call.repeat === 'once' && !call.repeatable && same) return 'replay';
  if (others.some(({ place, call: one }) => one.key === call.key && isOpen(place.state))) return 'held';
  return 'send';
}

async function believed({ places }: Model, { store, acted }: Real): Promise<void> {
  const events = await store.events('run_a');
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1));
  const view = effectsOf(events, new Map(), (await store.namespace()).id);
  for (const [i, place] of places.entries()) {
    const effect = view.get(`1.${i + 1}`);
    expect([i + 1, effect?.state ?? 'none']).toEqual([i + 1, place.state]);
    const seen = effect?.attempts.find((attempt) => attempt.observation !== null)?.observation?.text;
    expect(seen).toBe(place.text === null ? undefined : sha256(place.text));
    expect(acted[i]).toBe(place.acted);
    expect(effect?.attempts.map(({ lineage }) => lineage.mode) ?? []).toEqual(place.modes);
    if (effect !== undefined) parentsStand(view, effect);
    // The promise itself: once, and once more for each permission.
    if (calls[i]?.repeat === 'once') expect(place.acted).toBeLessThanOrEqual(1 + place.allowed);
  }
}

/** A retry follows its own attempt before; what acts again on purpose follows an equal call that was seen to act. */
function parentsStand(view: EffectView, { id, fingerprint, attempts }: EffectRecord): void {
  for (const { attempt, lineage } of attempts) {
    const { mode, parent } = lineage;
    if (mode === 'retry')
      expect(parent).toEqual({ turn: id.turn, position: id.position, attempt: attempt - 1 });
    if (mode !== 'resample') continue;
    const equal = view.get(`${parent.turn}.${parent.position}`);
    expect([equal?.fingerprint, equal?.id.position === id.position]).toEqual([fingerprint, false]);
    expect(equal?.attempts[parent.attempt - 1]?.observation).toBeTruthy();
  }
}

class Call implements fc.AsyncCommand<Model, Real> {
  readonly at: number;
  readonly way: Way;
  readonly looks: 'no' | 'observed' | 'not-dispatched' | 'unknown';
  constructor(at: number, way: Way, looks: Call['looks']) {
    this.at = at;
    this.way = way;
    this.looks = looks;
  }
  check = () => true;
  toString = () => `call ${this.at + 1} ${this.way}, looks ${this.looks}`;

  async run(model: Model, real: Real): Promise<void> {
    const { at, looks } = this;
    const place = model.places[at] as Place;
    let wants = expected(model, at);
    let asked = false;
    if (wants === 'unknown' && looks !== 'no' && place.state !== 'abandoned') {
      asked = true;
      if (looks === 'observed') Object.assign(place, { state: 'observed', text: `found ${at}` });
      else if (looks === 'not-dispatched') {
        Object.assign(place, { state: 'not-dispatched', allowed: place.allowed + 1 });
        wants = expected(model, at);
      } else place.state = 'unknown';
    } else if (wants === 'unknown' && place.state !== 'abandoned') place.state = 'unknown';
    const outcome = await runEffect(await this.#options(real)).catch((error: Error) => error);
    const found = asked && looks === 'observed';
    if (wants !== 'send') {
      const state =
        found || wants === 'replay' ? 'observed' : wants === 'held' ? 'not-dispatched' : 'unknown';
      expect(outcome).toMatchObject({ state });
    } else this.#sent(model, place);
    await believed(model, real);
  }

  /** What a call that is sent does to the model. */
  #sent({ places }: Model, place: Place): void {
    if (this.way === 'die-before') return;
    const equal = places.some(
      ({ text }, i) =>
        i !== this.at && text !== null && calls[i]?.fingerprint === calls[this.at]?.fingerprint,
    );
    place.modes.push(place.modes.length > 0 ? 'retry' : equal ? 'resample' : 'initial');
    if (this.way !== 'not-sent') place.acted += 1;
    const states = {
      succeed: 'observed',
      fail: 'observed',
      throw: 'unknown',
      hang: 'unknown',
      'not-sent': 'not-dispatched',
      'die-after': 'dispatching',
    } as const;
    place.state = states[this.way];
    if (this.way === 'not-sent') place.allowed += 1;
    if (place.state === 'observed') place.text = `${this.way} ${this.at}`;
  }

  async #options(real: Real): Promise<RunEffectOptions> {
    const { at, way, looks } = this;
    const { id } = await real.store.namespace();
    let events = await real.store.events('run_a');
    let dead = false;
    let sent = false;
    // The late part of a call belongs to the process that made it, with its lease.
    const { lease, store } = real;
    return {
      ...{ store: id, run: 'run_a', call: calls[at] as EffectCall },
      view: () => effectsOf(events, new Map(), id),
      async record(bodies, options) {
        const [first] = bodies;
        dead ||= way === 'die-before' && first?.type === 'effect-dispatch';
        dead ||= way === 'die-after' && sent;
        if (dead) throw new Error('the process is gone');
        sent ||= first?.type === 'effect-dispatch';
        events = [...events, ...(await store.append(lease, bodies, options))];
      },
      recall: (digest) => store.blob(digest),
      async dispatch() {
        if (way === 'not-sent') return { proof: 'not-dispatched', reason: 'unavailable', message: 'no line' };
        real.acted[at] = (real.acted[at] ?? 0) + 1;
        if (way === 'throw') throw new Error('cut');
        if (way !== 'hang') return observation(`${way} ${at}`, way === 'fail' ? 'failed' : 'succeeded');
        return await new Promise<Observation>((resolve) => {
          real.late.set(at, async (value) => {
            resolve(value);
            await new Promise((go) => setTimeout(go, 5));
          });
        });
      },
      ...(looks === 'no' ? {} : { reconcile: async () => this.#finding() }),
      signal: new AbortController().signal,
      settleGraceMs: 5,
    };
  }

  #finding() {
    const { at, looks } = this;
    if (looks === 'observed') return { answer: looks, observation: observation(`found ${at}`) } as const;
    if (looks === 'unknown') return { answer: looks, message: 'closed' } as const;
    const nonDispatch = { proof: 'not-dispatched', reason: 'unavailable', message: 'never' } as const;
    return { answer: 'not-dispatched', nonDispatch } as const;
  }
}

/** The process dies, and another takes the run over; sometimes the file is opened anew. What the dead one writes is refused. */
class TakeOver implements fc.AsyncCommand<Model, Real> {
  check = () => true;
  toString = () => 'take over';
  async run(model: Model, real: Real): Promise<void> {
    await real.store.release(real.lease);
    real.zombies.push(real.lease);
    if (real.reopen !== undefined) {
      await real.store.close();
      real.store = real.reopen();
    }
    real.lease = await real.store.acquire('run_a', 'test:1:1', 60_000);
    real.late.clear();
    for (const zombie of real.zombies)
      await expect(real.store.append(zombie, [{ type: 'turn-start', turn: 9 }])).rejects.toMatchObject({
        code: 'ledger.fenced',
      });
    await believed(model, real);
  }
}

/** What nobody waited for any more answers after all. */
class Late implements fc.AsyncCommand<Model, Real> {
  readonly at: number;
  constructor(at: number) {
    this.at = at;
  }
  check = () => true;
  toString = () => `late answer of ${this.at + 1}`;
  async run(model: Model, real: Real): Promise<void> {
    const answer = real.late.get(this.at);
    const place = model.places[this.at] as Place;
    real.late.delete(this.at);
    // One that was sent again since, or settled, takes nothing late of an earlier attempt in this model.
    const takes = isOpen(place.state) || ['retry-authorized', 'abandoned'].includes(place.state);
    if (answer === undefined || !takes) return;
    await answer(observation(`late ${this.at}`));
    Object.assign(place, { state: 'observed', text: `late ${this.at}` });
    await believed(model, real);
  }
}

class Cancel implements fc.AsyncCommand<Model, Real> {
  check = () => true;
  toString = () => 'cancel';
  async run(model: Model, real: Real): Promise<void> {
    await real.store.append(real.lease, [{ type: 'cancel-request', by: 'ana', reason: '' }]);
    for (const place of model.places) if (place.state === 'dispatching') place.state = 'cancel-requested';
    await believed(model, real);
  }
}

/**
 * The session is forgotten, and one of the same names begun: refused while anything is unknown; then nothing of it is left, and
 * no lease of before, however new, writes the run that has its name now.
 */
class Forget implements fc.AsyncCommand<Model, Real> {
  check = () => true;
  toString = () => 'forget';
  async run(model: Model, real: Real): Promise<void> {
    const { store } = real;
    await expect(forgetSession(store, 'test:3:3', 'session_a')).rejects.toMatchObject({
      code: 'ledger.lease-held',
    });
    await store.release(real.lease);
    real.zombies.push(real.lease);
    real.late.clear();
    const before = await store.namespace();
    if (model.places.some(({ state }) => isOpen(state))) {
      await expect(forgetSession(store, 'test:3:3', 'session_a')).rejects.toMatchObject({
        code: 'run.effects-open',
      });
      expect(await store.namespace()).toEqual(before);
    } else {
      await forgetSession(store, 'test:3:3', 'session_a');
      expect([await store.run('run_a'), await store.events('run_a')]).toEqual([undefined, []]);
      const after = await store.namespace();
      expect([after.id, after.epoch > real.lease.epoch]).toEqual([before.id, true]);
      await store.createSession(sessionRecord('session_a'), []);
      await store.createRun(runRecord('run_a', 'session_a'));
      model.places.splice(0, calls.length, ...calls.map(untouched));
      real.acted.fill(0);
    }
    real.lease = await store.acquire('run_a', 'test:1:1', 60_000);
    for (const zombie of real.zombies)
      await expect(store.append(zombie, [{ type: 'turn-start', turn: 9 }])).rejects.toMatchObject({
        code: 'ledger.fenced',
      });
    await believed(model, real);
  }
}

class Decide implements fc.AsyncCommand<Model, Real> {
  readonly at: number;
  readonly decision: EffectDecisionKind;
  constructor(at: number, decision: EffectDecisionKind) {
    this.at = at;
    this.decision = decision;
  }
  check = () => true;
  toString = () => `decide ${this.at + 1} ${this.decision}`;

  async run(model: Model, real: Real): Promise<void> {
    const { at, decision } = this;
    const place = model.places[at] as Place;
    const given = { run: 'run_a', turn: 1, position: at + 1, decision, by: 'ana', reason: 'because' };
    // While a process is at work nobody decides over its head.
    await expect(reconcileEffect(real.store, 'test:2:2', given)).rejects.toMatchObject({
      code: 'ledger.lease-held',
    });
    await real.store.release(real.lease);
    const decided = await reconcileEffect(real.store, 'test:2:2', given).then(
      () => 'done',
      (error: { code: string }) => error.code,
    );
    real.zombies.push(real.lease);
    real.lease = await real.store.acquire('run_a', 'test:1:1', 60_000);
    real.late.clear();
    const open = isOpen(place.state);
    const may =
      open ||
      (place.state === 'retry-authorized' && decision !== 'retry-authorized') ||
      (place.state === 'abandoned' && (decision === 'observed' || decision === 'not-dispatched'));
    const refusal = place.state === 'none' ? 'run.unknown-effect' : 'run.effect-settled';
    expect(decided).toBe(may ? 'done' : refusal);
    if (may) this.#decided(place);
    await believed(model, real);
  }

  #decided(place: Place): void {
    const { decision } = this;
    if (decision === 'observed')
      Object.assign(place, { state: 'observed', text: 'A person looked: it was carried out. because' });
    // Proof that comes after giving up undoes nothing.
    else if (decision === 'not-dispatched' && place.state === 'abandoned') return;
    else {
      place.state = decision;
      if (decision !== 'abandoned') place.allowed += 1;
    }
  }
}

const at = fc.integer({ min: 0, max: calls.length - 1 });
const decisions = ['observed', 'not-dispatched', 'abandoned', 'retry-authorized'] as const;
const looking = fc.constantFrom('no', 'no', 'observed', 'not-dispatched', 'unknown' as const);
const commands = [
  fc.tuple(at, fc.constantFrom(...ways), looking).map(([i, way, looks]) => new Call(i, way, looks)),
  fc.tuple(at, fc.constantFrom(...ways), looking).map(([i, way, looks]) => new Call(i, way, looks)),
  fc.constant(new TakeOver()),
  at.map((i) => new Late(i)),
  fc.constant(new Cancel()),
  fc.constant(new Forget()),
  fc.tuple(at, fc.constantFrom(...decisions)).map(([i, decision]) => new Decide(i, decision)),
];

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'writ-model-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let made = 0;
const kinds: Readonly<Record<string, () => { store: Store; reopen: Real['reopen'] }>> = {
  memory: () => ({ store: memoryStore(), reopen: undefined }),
  sqlite: () => {
    const path = join(folder, `${++made}.sqlite`);
    return { store: sqliteStore({ path }), reopen: () => sqliteStore({ path }) };
  },
};

test.each([
  ['memory', 150],
  ['sqlite', 25],
])(
  'over the %s store',
  async (kind, numRuns) => {
    await fc.assert(
      fc.asyncProperty(fc.commands(commands, { maxCommands: 18 }), async (taken) => {
        const opened = kinds[kind]?.();
        if (opened === undefined) throw new Error('no such store');
        const { store, reopen } = opened;
        await store.createSession(sessionRecord('session_a'), []);
        await store.createRun(runRecord('run_a', 'session_a'));
        const lease = await store.acquire('run_a', 'test:1:1', 60_000);
        const real: Real = { store, lease, zombies: [], reopen, late: new Map(), acted: calls.map(() => 0) };
        const places = calls.map(untouched);
        try {
          await fc.asyncModelRun(() => ({ model: { places }, real }), taken);
        } finally {
          await real.store.close();
        }
      }),
      { numRuns },
    );
  },
  60_000,
);
