/** The journal of a report, where it stands in a folder. */
import { ProveError } from '../../prove/errors.ts';
import { readJournalAt } from '../../prove/journal.ts';
import type { Beside } from '../../prove/verify.ts';

/** The journal that the report was made of, at the line `hash`; undefined where there is none and none was named. */
export async function recordIn(folder: string, hash: string, named: boolean): Promise<Beside['record']> {
  try {
    const found = await readJournalAt(folder, hash);
    return found === undefined && named ? { fault: `there is no journal in ${folder}` } : found;
  } catch (thrown) {
    if (thrown instanceof ProveError) return { fault: thrown.message };
    throw thrown;
  }
}
