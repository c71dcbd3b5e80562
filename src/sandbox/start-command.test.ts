/** A start is sent at most once, and how it ended is said by proof: every fault at every point of it. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Clock } from '../clock.ts';
import { systemClock } from '../clock.ts';
import type { Locator } from './locator.ts';
import { never } from './sandbox.cases.ts';
import type { CancelReceipt, CommandSpec, CommandStatus, EndReceipt, Sandbox } from './sandbox.ts';
import { startCommand, startWithRecovery } from './start-command.ts';
import { rejectionCodes, type StartOutcome, type StartProof, startFault } from './start-outcome.ts';

const locator: Locator = { sandbox: 'scripted', id: 'c_12345678' };
const spec: CommandSpec = {
  argv: ['true'],
  cwd: '',
  env: {},
  stdin: false,
  lifetimeMs: 1000,
  outputBytesMax: 1000,
  owner: 'test',
};

type Step = 'prepare' | 'record' | 'dispatch' | 'retain' | 'release' | 'status' | 'cancel';
const steps: readonly Step[] = ['prepare', 'record', 'dispatch', 'retain', 'release'];

/** A sandbox whose steps do what a table says, and which counts them. */
function scripted(at: Partial<Record<Step, () => void>>, ran = true) {
  const done: Step[] = [];
  const step = (name: Step) => async () => {
    done.push(name);
    at[name]?.();
  };
  const receipt = { ran } as EndReceipt;
  let status: CommandStatus = ran
    ? { state: 'running', leader: 1, stdinBytes: 0, startedAtMs: 0 }
    : { state: 'idle' };
  const sandbox = {
    name: 'scripted',
    prepare: step('prepare'),
    dispatch: step('dispatch'),
    release: step('release'),
    status: async () => {
      at.status?.();
      return status;
    },
    cancel: async (): Promise<CancelReceipt> => {
      done.push('cancel');
      status = { state: 'ended', receipt };
      return { done: true, receipt };
    },
  } as unknown as Sandbox;
  const start = (signal: AbortSignal = never, more: Partial<CommandSpec> = {}) =>
    startCommand(
      sandbox,
      { ...spec, ...more },
      { locator, beforeDispatch: step('record'), retain: step('retain'), signal },
    );
  return { done, start };
}

const fail = (thrown: unknown) => () => {
  throw thrown;
};

test('all goes well, in this order, each step once', async () => {
  const { done, start } = scripted({});
  expect(await start()).toEqual({ outcome: 'started', locator });
  expect(done).toEqual(steps);
});

test.each([
  ['prepare', ['prepare']],
  ['record', ['prepare', 'record']],
] as const)(
  'a cancel that comes in %s is proof, and nothing of the start follows it',
  async (name, before) => {
    const stop = new AbortController();
    const { done, start } = scripted({ [name]: () => stop.abort() });
    expect(await start(stop.signal)).toMatchObject({ outcome: 'not-dispatched', why: 'cancelled' });
    expect(done).toEqual(before);
  },
);

describe('after it may have been sent', () => {
  test.each([...rejectionCodes])('a proven %s rejects it', async (code) => {
    const { start } = scripted({ dispatch: fail(startFault({ kind: 'rejected', code }, 'no')) });
    expect(await start()).toEqual({ outcome: 'rejected', code, message: 'no' });
  });

  test('a proof of the wire that nothing left it makes it unavailable', async () => {
    const { start } = scripted({ dispatch: fail(startFault({ kind: 'unavailable' }, 'no way')) });
    expect(await start()).toEqual({
      outcome: 'unavailable',
      nonDispatch: { proof: 'not-dispatched', reason: 'unavailable', message: 'no way' },
    });
  });

  test.each([
    ['a text about names', new Error('getaddrinfo ENOTFOUND box.example')],
    ['a code of the system', Object.assign(new Error('x'), { code: 'ECONNREFUSED' })],
    ['a name', Object.assign(new Error('x'), { name: 'StartRejected' })],
    ['a copied proof', { ...startFault({ kind: 'unavailable' }, 'x') }],
    ['an heir of a proof', Object.create(startFault({ kind: 'unavailable' }, 'x'))],
    [
      'a proof beside an unknown',
      new AggregateError([startFault({ kind: 'unavailable' }, 'x'), new Error('y')]),
    ],
    ['no object', 'a text'],
  ])('%s proves nothing: unknown, with its locator', async (_what, thrown) => {
    const { done, start } = scripted({ dispatch: fail(thrown) });
    expect(await start()).toMatchObject({ outcome: 'unknown', locator });
    expect(done.filter((step) => step === 'dispatch')).toHaveLength(1);
    expect(done).not.toContain('release');
  });

  test('a release that was not confirmed is looked at; only what still waits is taken back', async () => {
    const release = fail(new Error('lost'));
    const waiting = scripted({ release }, false);
    expect(await waiting.start()).toMatchObject({ outcome: 'not-dispatched', why: 'closed' });
    expect(waiting.done).toContain('cancel');
    const running = scripted({ release }, true);
    expect(await running.start()).toEqual({ outcome: 'started', locator });
    expect(running.done).not.toContain('cancel');
    const unseen = scripted({ release, status: fail(new Error('lost, too')) });
    expect(await unseen.start()).toMatchObject({ outcome: 'unknown', message: 'lost' });
  });
});

describe('before it is sent', () => {
  test('a start that cannot be recorded is not sent', async () => {
    const { done, start } = scripted({ record: fail(new Error('the disk is full')) });
    expect(await start()).toMatchObject({ outcome: 'not-dispatched', why: 'not-recorded' });
    expect(done).toEqual(['prepare', 'record']);
  });

  test.each<[string, Partial<CommandSpec>]>([
    ['no program', { argv: [] }],
    ['an empty program', { argv: [''] }],
    ['a NUL character', { argv: ['a\0b'] }],
    ['a NUL character in a value', { env: { A: '\0' } }],
    ['a name that is none', { env: { 'A=B': 'c' } }],
    ['an absolute folder', { cwd: '/etc' }],
    ['a folder above', { cwd: 'a/../..' }],
    ['no lifetime', { lifetimeMs: 0 }],
    ['no output', { outputBytesMax: Number.NaN }],
  ])('%s is found before the sandbox is asked', async (_what, more) => {
    const { done, start } = scripted({});
    expect(await start(never, more)).toMatchObject({ outcome: 'not-dispatched', why: 'invalid' });
    expect(done).toEqual([]);
  });

  test('a locator of another sandbox is found, too', async () => {
    const { start } = scripted({});
    const outcome = await startCommand({ name: 'other' } as unknown as Sandbox, spec, {
      locator,
      beforeDispatch: async () => {},
      signal: never,
    });
    expect(outcome).toMatchObject({ outcome: 'not-dispatched', why: 'invalid' });
    expect(await start()).toMatchObject({ outcome: 'started' });
  });
});

test('whatever goes wrong wherever: one end, at most one dispatch, and none is called unsent that may have been sent', async () => {
  const proofs: StartProof[] = [
    { kind: 'unavailable' },
    { kind: 'not-dispatched', why: 'cancelled' },
    { kind: 'rejected', code: 'not-found' },
    { kind: 'unknown', locator },
  ];
  const faults = fc.oneof(
    fc.constantFrom(...proofs).map((proof) => startFault(proof, 'proven')),
    fc
      .constantFrom('ECONNRESET', 'ENOTFOUND', undefined)
      .map((code) => Object.assign(new Error('plain'), { code })),
    fc.constant('text'),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...steps),
      fc.oneof(fc.record({ fault: faults }), fc.record({ abort: fc.constant(true) })),
      fc.boolean(),
      async (at, what, ran) => {
        const stop = new AbortController();
        const act = () => {
          if ('abort' in what) stop.abort();
          else throw what.fault;
        };
        const { done, start } = scripted({ [at]: act }, ran);
        const { outcome } = await start(stop.signal);
        expect(done.filter((step) => step === 'dispatch').length).toBeLessThanOrEqual(1);
        if (!done.includes('dispatch'))
          expect(['not-dispatched', 'unavailable', 'rejected']).toContain(outcome);
        const plain = 'fault' in what && !(what.fault instanceof Error && what.fault.message === 'proven');
        if (at === 'dispatch' && plain) expect(outcome).toBe('unknown');
        if (at === 'release' && plain) expect(outcome).toBe(ran ? 'started' : 'not-dispatched');
        if (done.length === steps.length && 'abort' in what) expect(outcome).toBe('started');
        const early = at === 'prepare' || at === 'record';
        if ('abort' in what && early) expect(done).not.toContain('dispatch');
      },
    ),
  );
});

describe('recovery', () => {
  const clock: Clock = { ...systemClock, sleep: async () => {} };
  const ends = async (thrown: () => unknown) => {
    let starts = 0;
    const { outcome, attempts, exhausted } = await startWithRecovery(
      () => {
        starts += 1;
        return scripted({ prepare: () => fail(thrown())() }).start();
      },
      { signal: never, clock },
    );
    return { starts, outcome: outcome.outcome, attempts, exhausted };
  };

  test('a sandbox that is proven unreachable is tried five times more; the sixth is left to a person', async () => {
    expect(await ends(() => startFault({ kind: 'unavailable' }, 'down'))).toEqual({
      starts: 6,
      outcome: 'unavailable',
      attempts: 6,
      exhausted: true,
    });
  });

  test.each<[string, () => unknown]>([
    ['a rejection', () => startFault({ kind: 'rejected', code: 'not-found' }, 'no')],
    ['a cancel', () => startFault({ kind: 'not-dispatched', why: 'cancelled' }, 'no')],
    ['a closed sandbox', () => startFault({ kind: 'not-dispatched', why: 'closed' }, 'no')],
    [
      'an outage beside an unknown start',
      () =>
        new AggregateError([
          startFault({ kind: 'unavailable' }, 'x'),
          startFault({ kind: 'unknown', locator }, 'y'),
        ]),
    ],
  ])('%s is not tried again', async (_what, thrown) => {
    expect(await ends(thrown)).toMatchObject({ starts: 1, exhausted: false });
  });

  test('an outcome that was copied or made up is no proof', async () => {
    const forged: StartOutcome = {
      outcome: 'unavailable',
      nonDispatch: { proof: 'not-dispatched', reason: 'unavailable', message: '' },
    };
    let starts = 0;
    const start = async () => {
      starts += 1;
      return forged;
    };
    await startWithRecovery(start, { signal: never, clock });
    expect(starts).toBe(1);
  });

  test('it goes on once the sandbox is back', async () => {
    let starts = 0;
    const { outcome, attempts } = await startWithRecovery(
      () => {
        starts += 1;
        return scripted(
          starts < 3 ? { prepare: fail(startFault({ kind: 'unavailable' }, 'down')) } : {},
        ).start();
      },
      { signal: never, clock },
    );
    expect({ outcome: outcome.outcome, attempts }).toEqual({ outcome: 'started', attempts: 3 });
  });
});
