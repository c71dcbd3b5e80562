/** Where a trial works, and how its answer is read without that. */
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { jsonDigest } from '../digest.ts';
import type { Journal } from './journal.ts';
import { keyOf, type TrialKey } from './trial.ts';

/** The folder that a trial works in, which is kept until it is graded. */
export function workFolder({ folder }: Pick<Journal, 'folder'>, trial: TrialKey): string {
  return join(folder, 'work', jsonDigest(keyOf(trial)).slice(0, 24));
}

/** The answer of a trial with `workspace` for the path of its folder: no two trials have the same one. */
export async function answerWithoutFolder(
  { folder }: Pick<Journal, 'folder'>,
  trial: TrialKey,
  answer: string,
): Promise<string> {
  const places = new Set([folder, await realpath(folder)]);
  return [...places].reduce(
    (text, place) => text.replaceAll(workFolder({ folder: place }, trial), 'workspace'),
    answer,
  );
}
