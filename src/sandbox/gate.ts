/** The gate before a workspace: operations pass side by side, and a capture of its state runs alone. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { SandboxError } from './errors.ts';
import type { Sandbox } from './sandbox.ts';

/**
 * What begins inside of an operation or a capture belongs to it: it waits for nobody, and whoever waits for the outer one
 * waits for it too. Only a capture inside of an operation cannot be: it would wait for what waits for it.
 */
export interface Gate {
  /**
   * Waits for captures that came before, then runs beside other operations. Rejects with the signal's reason if it aborts
   * while this still waits; then the work is not entered.
   */
  operate<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
  /**
   * Waits for what runs, holds back what comes after, and runs alone. Captures run in the order in which they came. Rejects
   * with `sandbox.capture-inside` where it is asked for inside of an operation.
   */
  capture<T>(work: () => Promise<T>): Promise<T>;
}

/** One passage through a gate. What an ended one left behind, such as a connection, is no longer inside of it. */
interface Passage {
  readonly kind: 'operation' | 'capture';
  over: boolean;
}

/** An open gate. Hold one for each workspace. */
export function openGate(): Gate {
  const passages = new AsyncLocalStorage<Passage>();
  const active = new Set<Promise<unknown>>();
  let last: Promise<unknown> = Promise.resolve();

  function around(): Passage | undefined {
    const passage = passages.getStore();
    return passage?.over === true ? undefined : passage;
  }

  async function pass<T>(kind: Passage['kind'], work: () => Promise<T>): Promise<T> {
    const passage: Passage = { kind, over: false };
    try {
      return await passages.run(passage, work);
    } finally {
      passage.over = true;
    }
  }

  return {
    async operate(work, signal) {
      if (around() !== undefined) return work();
      signal?.throwIfAborted();
      const turn = last.then(() => {
        signal?.throwIfAborted();
        return pass('operation', work);
      });
      const settled = turn.catch(() => {});
      // Counted from now on, and not from when it begins: a capture that comes next must wait for it.
      active.add(settled);
      void settled.then(() => active.delete(settled));
      return signal === undefined ? turn : enteredOrStopped(last, turn, signal);
    },
    async capture(work) {
      const outer = around();
      if (outer?.kind === 'capture') return work();
      if (outer !== undefined)
        throw new SandboxError(
          'sandbox.capture-inside',
          'Expected a capture beside operations on the workspace, found one inside of an operation, which it would wait for.',
          { next: 'Ask for the capture once the operation has ended.' },
        );
      const before = [last, ...active];
      const turn = Promise.all(before).then(() => pass('capture', work));
      last = turn.catch(() => {});
      return turn;
    },
  };
}

/** What an operation comes to, or at once the reason of a signal that aborts before its turn. */
async function enteredOrStopped<T>(
  before: Promise<unknown>,
  turn: Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  let stop = () => {};
  const stopped = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    await Promise.race([before, stopped]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
  return turn;
}

/**
 * The same sandbox, whose commands begin, and get their input, only while no capture runs. What runs already is not held:
 * whoever needs a quiet workspace ends it first.
 */
export function gatedSandbox(sandbox: Sandbox, gate: Gate): Sandbox {
  return {
    ...sandbox,
    dispatch: (...args) => gate.operate(() => sandbox.dispatch(...args)),
    release: (...args) => gate.operate(() => sandbox.release(...args)),
    write: (...args) => gate.operate(() => sandbox.write(...args)),
  };
}
