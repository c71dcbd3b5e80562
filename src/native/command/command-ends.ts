/** How commands of runs are ended: each by its call or with its run, behind a fence that stays shut until they are gone. */
import { messageOf } from '../../errors.ts';
import { type Fenced, openFence } from '../../sandbox/fence.ts';
import { type Locator, locatorText } from '../../sandbox/locator.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';

/** A start that was let in. */
export interface Begun {
  /** It ended by itself, or is left to the end of its run. */
  leave(): void;
  /** Ends it, as its call was cancelled. True only with proof that nothing of it runs. */
  stop(): Promise<boolean>;
}

export interface CommandEnds {
  /** Lets a start in. `held` says what is not proven gone that should be, even after another try to end it. */
  begin(owner: string, locator: Locator): Promise<Begun | { readonly held: string }>;
  /** Told of an owner whose commands are to be ended by `close`. */
  own(owner: string): void;
  /** Ends all that an owner started. Resolves with a sentence for each thing that is not proven gone. */
  end(owner: string): Promise<readonly string[]>;
  /** The same for every owner that is left. */
  close(): Promise<void>;
}

// Within the time that a cancelled call has to settle.
const graceMs = 300;
export const endMs = 1_700;

/** Over the commands of one sandbox. */
export function commandEnds(sandbox: Pick<Sandbox, 'cancel' | 'list' | 'neverStarts'>): CommandEnds {
  const fence = openFence();
  const owners = new Set<string>();
  /** By owner: starts whose call has not told yet what became of them. */
  const starts = new Map<string, Map<Fenced, Locator>>();
  /** By owner: what holds the fence shut in its name, the same thing to each later try. */
  const runs = new Map<string, Fenced>();
  /** By name of what was drained: what is not proven gone. */
  const left = new Map<string, readonly string[]>();

  function fenced(name: string, ending: () => Promise<readonly string[]>): Fenced {
    return {
      name,
      drain: async () => {
        const said = await ending();
        if (said.length === 0) left.delete(name);
        else left.set(name, said);
        return said.length === 0;
      },
    };
  }

  async function stop(locator: Locator): Promise<readonly string[]> {
    const signal = AbortSignal.timeout(endMs);
    try {
      const ended = await sandbox.cancel(locator, { graceMs }, signal);
      return ended.done ? [] : [mayRun(locator, ended.message)];
    } catch (thrown) {
      // Nothing may be there to be ended, and that can be proven too.
      const never = await sandbox.neverStarts(locator, { spend: true }, signal).catch(() => false);
      return never ? [] : [mayRun(locator, messageOf(thrown))];
    }
  }

  async function endRun(owner: string): Promise<readonly string[]> {
    try {
      const listed = await sandbox.list(owner, AbortSignal.timeout(endMs));
      const open = listed.filter(({ status }) => status.state !== 'ended').map(({ locator }) => locator);
      const ids = new Set(listed.map(({ locator }) => locator.id));
      // What was sent a moment ago may not be listed yet.
      const sent = [...(starts.get(owner)?.values() ?? [])].filter(({ id }) => !ids.has(id));
      return (await Promise.all([...open, ...sent].map(stop))).flat();
    } catch (thrown) {
      return [`Commands of the run may still be running; they could not be listed: ${messageOf(thrown)}`];
    }
  }

  async function end(owner: string): Promise<readonly string[]> {
    const one = runs.get(owner) ?? fenced(owner, () => endRun(owner));
    runs.set(owner, one);
    await fence.drain([one]);
    const said = left.get(owner) ?? [];
    if (said.length > 0) return said;
    owners.delete(owner);
    runs.delete(owner);
    starts.delete(owner);
    return [];
  }

  return {
    async begin(owner, locator) {
      if (fence.state !== 'open') await fence.drain([]);
      const one = fenced(locator.id, () => stop(locator));
      const inside = fence.enter(one);
      if (!inside.entered) return { held: [...left.values()].flat().join(' ') };
      owners.add(owner);
      const own = starts.get(owner) ?? new Map<Fenced, Locator>();
      starts.set(owner, own.set(one, locator));
      return {
        leave() {
          own.delete(one);
          inside.leave();
        },
        async stop() {
          await fence.drain([one]);
          if (left.has(one.name)) return false;
          own.delete(one);
          return true;
        },
      };
    },
    own: (owner) => void owners.add(owner),
    end,
    close: async () => void (await Promise.all([...owners].map(end))),
  };
}

function mayRun(locator: Locator, why: string): string {
  return `The command ${locatorText(locator)} may still be running. ${why}`;
}
