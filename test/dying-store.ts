/** A store whose process dies in the middle of a run: what was written stays, and nothing more is. */
import type { Store } from '../src/ledger/store.ts';
import type { EventBody } from '../src/protocol/events.ts';

/** A store that dies with its process before an event that `at` picks is written. */
export function dying(store: Store, at: (run: string, event: EventBody) => boolean): Store {
  let dead = false;
  return {
    ...store,
    append: async (lease, events, options) => {
      const cut = events.findIndex((event) => at(lease.run, event));
      if (cut > 0 && !dead) await store.append(lease, events.slice(0, cut), options);
      dead ||= cut >= 0;
      if (dead) throw new Error('the process was killed');
      return store.append(lease, events, options);
    },
  };
}

/** A store of a process that dies when an event of this type is to be stored, with all that was to be stored beside it. */
export function dyingAt(store: Store, type: EventBody['type']): Store {
  let dead = false;
  return {
    ...store,
    async append(lease, events, options) {
      dead ||= events.some((event) => event.type === type);
      if (dead) throw new Error('the process is gone');
      return store.append(lease, events, options);
    },
    close: async () => {},
  };
}
