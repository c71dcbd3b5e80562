/** The lock of a journal's folder: one process at a time writes. */
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import { systemCode } from '../errors.ts';
import { isHeld, thisHolder } from '../ledger/holder.ts';
import { ProveError } from './errors.ts';

/** Takes the folder for this process; what is returned gives it back. A lock whose process is gone is taken over. Throws `prove.busy`. */
export async function lockFolder(folder: string, clock: Clock): Promise<() => Promise<void>> {
  const path = join(folder, 'lock');
  const draft = `${path}.${clock.id('lock')}`;
  await writeFile(draft, thisHolder(clock));
  try {
    for (let attempt = 0; attempt < 5; attempt += 1) {
      // A link appears whole or not at all, and only where nothing is.
      const taken = await link(draft, path).then(
        () => true,
        (cause: unknown) => {
          if (systemCode(cause) === 'EEXIST') return false;
          throw cause;
        },
      );
      if (taken) return () => rm(path, { force: true });
      await removeDead(path, `${draft}.dead`, clock);
    }
  } finally {
    await rm(draft, { force: true });
  }
  throw busy('other processes');
}

// The lock is moved before it is removed: of two processes that find it dead, only one moves it, and what it moved is looked
// at again, because the other may have taken the lock meanwhile.
async function removeDead(path: string, aside: string, clock: Clock): Promise<void> {
  mustBeDead(await holderIn(path), clock);
  try {
    await rename(path, aside);
  } catch (cause) {
    if (systemCode(cause) === 'ENOENT') return;
    throw cause;
  }
  try {
    mustBeDead(await holderIn(aside), clock);
  } catch (fault) {
    await link(aside, path).catch(() => {});
    throw fault;
  } finally {
    await rm(aside, { force: true });
  }
}

function mustBeDead(holder: string, clock: Clock): void {
  const lease = { epoch: 1, holder, expires: Number.MAX_SAFE_INTEGER };
  if (isHeld(lease, clock.now())) throw busy(holder);
}

async function holderIn(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '');
}

function busy(holder: string): ProveError {
  return new ProveError('prove.busy', `The experiment should be free, found ${holder} at work on it.`, {
    next: 'Wait until it has ended.',
    details: { holder },
  });
}
