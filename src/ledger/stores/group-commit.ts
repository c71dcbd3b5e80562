/** Group commit: all writes that are waiting at one turn of the event loop go into one transaction. */
import type { DatabaseSyncInstance } from '@photostructure/sqlite';
import type { Clock } from '../../clock.ts';
import { LedgerError } from '../errors.ts';
import { isBusy } from './sqlite-file.ts';

interface Waiting {
  readonly work: () => unknown;
  readonly power: boolean;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

export interface GroupCommit {
  /**
   * Runs `work` in a transaction and resolves with its value after the commit. Works run in the order of their calls. A
   * work that throws a LedgerError must not have written yet: it alone is rejected, its neighbours are kept.
   */
  write<T>(work: () => T, power?: boolean): Promise<T>;
  /** Runs a query as soon as the database is not locked. */
  read<T>(work: () => T): Promise<T>;
  /** Resolves when no write is waiting. */
  drain(): Promise<void>;
}

export interface GroupCommitOptions {
  readonly clock: Clock;
  /** How long a database locked by another process is waited for. */
  readonly busyMs: number;
  readonly fault: (error: unknown) => LedgerError;
  /** Called in each transaction before its first work. */
  readonly onBegin: () => void;
}

export function groupCommit(db: DatabaseSyncInstance, options: GroupCommitOptions): GroupCommit {
  const { clock, busyMs, fault, onBegin } = options;
  const begin = db.prepare('begin immediate');
  const commit = db.prepare('commit');
  let waiting: Waiting[] = [];
  let scheduled = false;
  let busySince: number | undefined;
  let drained: (() => void)[] = [];
  let full = false;

  // The level cannot change inside a transaction. NORMAL survives the death of the process, FULL that of the machine.
  function syncAs(power: boolean): void {
    if (power === full) return;
    db.exec(power ? 'pragma synchronous = full' : 'pragma synchronous = normal');
    full = power;
  }

  function flush(): void {
    scheduled = false;
    let groups: Waiting[][] = [waiting];
    waiting = [];
    while (groups.length > 0) {
      const [group = [], ...later] = groups;
      const end = transact(group);
      if (end === 'busy') {
        waitWith([group, ...later].flat());
        return;
      }
      // One broken work has undone its neighbours' too, so each gets a transaction of its own.
      groups = end === 'broken' ? [...group.map((one) => [one]), ...later] : later;
    }
    busySince = undefined;
    endDrain();
  }

  function endDrain(): void {
    for (const resolve of drained) resolve();
    drained = [];
  }

  function transact(group: readonly Waiting[]): 'done' | 'busy' | 'broken' {
    try {
      syncAs(group.some(({ power }) => power));
      begin.run();
      onBegin();
      const settle = group.map(outcomeOf);
      commit.run();
      for (const settled of settle) settled();
      return 'done';
    } catch (error) {
      // A full disk has already rolled back by itself.
      if (db.isTransaction) db.exec('rollback');
      if (isBusy(error)) return 'busy';
      if (group.length > 1) return 'broken';
      group[0]?.reject(fault(error));
      return 'done';
    }
  }

  function waitWith(group: readonly Waiting[]): void {
    waiting = [...group, ...waiting];
    busySince ??= clock.monotonicMs();
    if (clock.monotonicMs() - busySince < busyMs) {
      scheduled = true;
      void pause().then(flush);
      return;
    }
    busySince = undefined;
    const given = waiting;
    waiting = [];
    for (const { reject } of given) reject(lockedFor(busyMs));
    endDrain();
  }

  // Jitter keeps waiting processes from meeting again and again.
  const pause = () => clock.sleep(1 + 9 * clock.random());

  async function read<T>(work: () => T): Promise<T> {
    const since = clock.monotonicMs();
    for (;;) {
      try {
        return work();
      } catch (error) {
        if (!isBusy(error)) throw fault(error);
        if (clock.monotonicMs() - since >= busyMs) throw lockedFor(busyMs);
        await pause();
      }
    }
  }

  return {
    read,
    write: (work, power = false) =>
      new Promise((resolve, reject) => {
        waiting.push({ work, power, resolve, reject });
        if (scheduled) return;
        scheduled = true;
        setImmediate(flush);
      }),
    drain: () =>
      new Promise((resolve) => {
        if (!scheduled) resolve();
        else drained.push(resolve);
      }),
  };
}

function lockedFor(ms: number): LedgerError {
  return new LedgerError('ledger.busy', `Another process kept the ledger locked for ${ms} ms.`, {
    next: 'End the process that has it locked, then try again.',
  });
}

function outcomeOf({ work, resolve, reject }: Waiting): () => void {
  try {
    const value = work();
    return () => resolve(value as never);
  } catch (error) {
    if (!(error instanceof LedgerError)) throw error;
    return () => reject(error);
  }
}
