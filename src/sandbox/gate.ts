/** The gate before a workspace: operations pass side by side, and a capture of its state runs alone. */
import type { Sandbox } from './sandbox.ts';

export interface Gate {
  /** Waits for captures that came before, then runs beside other operations. */
  operate<T>(work: () => Promise<T>): Promise<T>;
  /** Waits for what runs, holds back what comes after, and runs alone. Captures run in the order in which they came. */
  capture<T>(work: () => Promise<T>): Promise<T>;
}

/** An open gate. Hold one for each workspace. */
export function openGate(): Gate {
  const active = new Set<Promise<unknown>>();
  let last: Promise<unknown> = Promise.resolve();
  return {
    async operate(work) {
      const before = last;
      const turn = before.then(work);
      const settled = turn.catch(() => {});
      // Counted from now on, and not from when it begins: a capture that comes next must wait for it.
      active.add(settled);
      void settled.then(() => active.delete(settled));
      return turn;
    },
    async capture(work) {
      const before = [last, ...active];
      const turn = Promise.all(before).then(work);
      last = turn.catch(() => {});
      return turn;
    },
  };
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
