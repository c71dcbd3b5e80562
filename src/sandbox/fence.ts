/** The fence around a turn's commands: closed by a cancel, and open again only on proof that nothing of them runs. */

export const fenceStates = ['open', 'draining', 'stuck'] as const;
export type FenceState = (typeof fenceStates)[number];

/** Something that a turn began and that has to be gone before another turn may begin anything. */
export interface Fenced {
  /** For a message. */
  readonly name: string;
  /** Ends it. True only with proof that nothing of it runs. */
  readonly drain: () => Promise<boolean>;
}

export type Drained =
  | { readonly state: 'open' }
  /** What could not be proven gone. */
  | { readonly state: 'stuck'; readonly names: readonly string[] };

export interface Fence {
  readonly state: FenceState;
  /** Lets something in, or refuses it while the fence is closed. `leave` when it ended by itself, with proof, or is handed to
   * whoever ends it later. */
  enter(
    one: Fenced,
  ): { readonly entered: true; leave(): void } | { readonly entered: false; readonly state: FenceState };
  /**
   * Closes the fence and drains all that is inside, at once. It opens if everything is proven gone; otherwise it stays
   * shut, and a later call tries again. Calls at the same time share one drain.
   */
  drain(): Promise<Drained>;
}

/** A fence that is open and has nothing inside. */
export function openFence(): Fence {
  const inside = new Set<Fenced>();
  let state: FenceState = 'open';
  let draining: Promise<Drained> | undefined;

  async function drainAll(): Promise<Drained> {
    state = 'draining';
    const all = [...inside];
    const gone = await Promise.all(all.map((one) => one.drain().catch(() => false)));
    for (const [i, one] of all.entries()) if (gone[i] === true) inside.delete(one);
    state = inside.size === 0 ? 'open' : 'stuck';
    return inside.size === 0
      ? { state: 'open' }
      : { state: 'stuck', names: [...inside].map(({ name }) => name) };
  }

  return {
    get state() {
      return state;
    },
    enter(one) {
      if (state !== 'open') return { entered: false, state };
      inside.add(one);
      return { entered: true, leave: () => void inside.delete(one) };
    },
    drain() {
      // What failed to drain is not remembered as the answer: the next call looks again.
      draining ??= drainAll().finally(() => {
        draining = undefined;
      });
      return draining;
    },
  };
}
