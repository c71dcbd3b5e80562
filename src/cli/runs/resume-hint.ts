/** How a run that waits goes on: by our command, or by the program that started it in its own way. */
import type { OpenedStore } from '../run/open-store.ts';
import type { FoundRun } from './find-run.ts';

export interface ResumeHint {
  readonly text: string;
  /** False where `text` is no command, because the command line could not build the same harness again. */
  readonly command: boolean;
}

/** Looks whether the run was started by the command line. */
export async function resumeHint(
  { store, commandFor }: OpenedStore,
  { run, session }: FoundRun,
): Promise<ResumeHint> {
  const { originOfRun } = await import('../run/origin.ts');
  const ours = await originOfRun(store, run.id, session).then(
    () => true,
    () => false,
  );
  return ours
    ? { text: commandFor('runs', 'resume', run.id), command: true }
    : { text: 'resume it with the program that started it', command: false };
}
