import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type EffectState, effectStates } from '../protocol/effect.ts';
import { type EffectStep, effectSteps, isOpen, next, stepOf } from './lifecycle.ts';
import { answered, asked, faulted } from './record.cases.ts';

// The table once more, written as one reads it: state, step → state. Whatever is not here is refused.
const allowed = `
admitted         dispatch             dispatching
admitted         dispatch-again       dispatching
admitted         ask-again            dispatching
admitted         ask-person           dispatching
dispatching      dispatch-again       dispatching
dispatching      ask-again            dispatching
dispatching      observe              observed
dispatching      prove-not-dispatched not-dispatched
dispatching      lose-sight           unknown
dispatching      request-cancel       cancel-requested
dispatching      reconcile            unknown
dispatching      authorize-retry      retry-authorized
dispatching      abandon              abandoned
cancel-requested dispatch-again       dispatching
cancel-requested ask-again            dispatching
cancel-requested observe              observed
cancel-requested prove-not-dispatched not-dispatched
cancel-requested lose-sight           unknown
cancel-requested request-cancel       cancel-requested
cancel-requested reconcile            unknown
cancel-requested authorize-retry      retry-authorized
cancel-requested abandon              abandoned
unknown          dispatch-again       dispatching
unknown          ask-again            dispatching
unknown          observe              observed
unknown          prove-not-dispatched not-dispatched
unknown          reconcile            unknown
unknown          authorize-retry      retry-authorized
unknown          abandon              abandoned
not-dispatched   dispatch             dispatching
not-dispatched   dispatch-again       dispatching
not-dispatched   ask-again            dispatching
retry-authorized dispatch             dispatching
retry-authorized dispatch-again       dispatching
retry-authorized observe              observed
retry-authorized prove-not-dispatched not-dispatched
retry-authorized reconcile            retry-authorized
retry-authorized abandon              abandoned
observed         ask-again            dispatching
abandoned        observe              observed
abandoned        prove-not-dispatched abandoned
abandoned        reconcile            abandoned
`
  .trim()
  .split('\n')
  .map((line) => line.split(/ +/));

test.each(effectStates.flatMap((state) => effectSteps.map((step) => [state, step] as const)))(
  'from %s, %s',
  (state, step) => {
    const to = allowed.find(([from, by]) => from === state && by === step)?.[2];
    expect(next(state, step)).toEqual(
      to === undefined ? { ok: false, state, step } : { ok: true, state: to },
    );
  },
);

/** A life as it is told, with what a careful reader would remember of it. */
const steps = fc.array(fc.constantFrom(...effectSteps), { maxLength: 30 });
function live(taken: readonly EffectStep[]): {
  state: EffectState;
  path: { step: EffectStep; from: EffectState }[];
} {
  let state: EffectState = 'admitted';
  const path = [];
  for (const step of taken) {
    const to = next(state, step);
    if (!to.ok) continue;
    path.push({ step, from: state });
    state = to.state;
  }
  return { state, path };
}

describe('law', () => {
  test('a once-effect is sent again only after proof that it was not sent, or a decision of a person', () => {
    fc.assert(
      fc.property(steps, (taken) => {
        const { path } = live(taken.filter((step) => step !== 'dispatch-again' && step !== 'ask-again'));
        for (const [i, { step }] of path.entries()) {
          if (step !== 'dispatch' || i === 0) continue;
          const since = path.slice(path.findLastIndex((one, at) => at < i && one.step === 'dispatch') + 1, i);
          expect(since.map((one) => one.step)).toContainEqual(
            expect.stringMatching(/^(prove-not-dispatched|authorize-retry)$/),
          );
        }
      }),
    );
  });

  test('an open effect stays open until something was learned or decided', () => {
    fc.assert(
      fc.property(steps, (taken) => {
        for (const { step, from } of live(taken.filter((one) => one !== 'ask-again')).path) {
          const to = next(from, step);
          if (isOpen(from) && to.ok && !isOpen(to.state)) {
            expect(['observe', 'prove-not-dispatched', 'authorize-retry', 'abandon']).toContain(step);
          }
        }
      }),
    );
  });

  test('what was observed stays observed, unless it is only a model that is asked again', () => {
    fc.assert(
      fc.property(steps, (all) => {
        const taken = all.filter((step) => step !== 'ask-again');
        const at = taken.indexOf('observe');
        fc.pre(at >= 0 && live(taken.slice(0, at + 1)).state === 'observed');
        expect(live(taken).state).toBe('observed');
      }),
    );
  });
});

test('events stand for steps', () => {
  const place = { turn: 1, position: 1 };
  const effect = {
    ...place,
    tool: 't',
    access: 'write',
    key: 'k',
    fingerprint: 'f',
    call: 'c',
    attempt: 1,
    lineage: { mode: 'initial', parent: null },
    ticket: null,
  } as const;
  expect([
    stepOf({ type: 'effect-dispatch', ...effect, repeat: 'once' }),
    stepOf({ type: 'effect-dispatch', ...effect, repeat: 'idempotent' }),
    stepOf({
      type: 'effect-observe',
      ...place,
      attempt: 1,
      status: 'failed',
      text: 'd',
      truncated: false,
      bytes: 0,
      late: false,
    }),
    stepOf({ type: 'effect-not-dispatched', ...place, attempt: 1, reason: '' }),
    stepOf({ type: 'effect-unknown', ...place, attempt: 1, reason: '' }),
    stepOf({ type: 'effect-reconcile', ...place, attempt: 1, answer: 'unknown', by: null, reason: '' }),
    stepOf({ type: 'effect-resolve', ...place, decision: 'abandoned', by: 'p', reason: '' }),
    stepOf({ type: 'effect-resolve', ...place, decision: 'retry-authorized', by: 'p', reason: '' }),
    stepOf({ type: 'cancel-request', by: 'p', reason: '' }),
    stepOf({ type: 'turn-start', turn: 1 }),
    stepOf(asked({})),
    stepOf(answered({})),
    stepOf(faulted({ httpStatus: 503 })),
    stepOf(faulted({ dispatched: 'no' })),
    stepOf(faulted({ dispatched: 'unknown' })),
    stepOf(faulted({ dispatched: 'yes' })),
  ]).toEqual([
    'dispatch',
    'dispatch-again',
    'observe',
    'prove-not-dispatched',
    'lose-sight',
    'reconcile',
    'abandon',
    'authorize-retry',
    'request-cancel',
    undefined,
    'ask-again',
    'observe',
    'observe',
    'prove-not-dispatched',
    'lose-sight',
    'lose-sight',
  ]);
});
