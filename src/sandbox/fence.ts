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
   * Closes the fence and drains these, at once, together with what an earlier drain left; all that is inside unless told
   * which. It opens once everything is proven gone; otherwise it stays shut, and a later call tries again. What two calls
   * drain at the same time is drained once.
   */
  drain(ones?: readonly Fenced[]): Promise<Drained>;
}

/** A fence that is open and has nothing inside. */
export function openFence(): Fence {
  const inside = new Set<Fenced>();
  // What holds the fence shut, with its drain while one is under way. What failed is not remembered as the answer.
  const shut = new Map<Fenced, Promise<void> | null>();

  function end(one: Fenced): Promise<void> {
    const running =
      shut.get(one) ??
      one
        .drain()
        .catch(() => false)
        .then((gone) => {
          if (gone) leave(one);
          else if (shut.has(one)) shut.set(one, null);
        });
    shut.set(one, running);
    return running;
  }

  function leave(one: Fenced): void {
    inside.delete(one);
    shut.delete(one);
  }

  function stateNow(): FenceState {
    if (shut.size === 0) return 'open';
    return [...shut.values()].some((running) => running !== null) ? 'draining' : 'stuck';
  }

  return {
    get state() {
      return stateNow();
    },
    enter(one) {
      const state = stateNow();
      if (state !== 'open') return { entered: false, state };
      inside.add(one);
      return { entered: true, leave: () => leave(one) };
    },
    async drain(ones = [...inside]) {
      const all = new Set([...shut.keys(), ...ones]);
      await Promise.all([...all].map(end));
      const names = [...all].filter((one) => shut.has(one)).map(({ name }) => name);
      return names.length === 0 ? { state: 'open' } : { state: 'stuck', names };
    },
  };
}
