/** The right name for a misspelt one. */
import { ComposeError } from './errors.ts';

/** The candidate with the fewest edits, if they are few enough to be a slip of the hand; else undefined. */
export function nearest(name: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let fewest = Math.max(1, Math.floor(name.length / 3)) + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - name.length) >= fewest) continue;
    const edits = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (edits < fewest && edits < candidate.length) [best, fewest] = [candidate, edits];
  }
  return best;
}

/** `Write 'profiles'.`, or the list of what there is where nothing is near. */
export function namingMend(name: string, candidates: Iterable<string>): string {
  const all = [...candidates];
  const near = nearest(name, all);
  if (near !== undefined) return `Write '${near}'.`;
  return all.length === 0 ? 'Leave it out: there are none.' : `Use one of: ${all.join(', ')}.`;
}

/** The error for a name that there is not. */
export function unknownName(what: string, name: string, known: Iterable<string>): ComposeError {
  return new ComposeError('compose.unknown-name', `No ${what} is called '${name}'.`, {
    next: namingMend(name, known),
    details: { [what]: name },
  });
}

// Optimal string alignment: insert, delete, replace, and the swap of two neighbours, which is the commonest slip.
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1];
      let edits = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1));
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) edits = Math.min(edits, (before[j - 2] ?? 0) + 1);
      row.push(edits);
    }
    before = last;
    last = row;
  }
  return last[b.length] ?? 0;
}
