/** What is there now of an experiment that was measured. */
import { resolve } from 'node:path';
import type { Present } from '../../prove/report.ts';
import type { Context } from '../context.ts';

/** What the folder would register now; where it does not resolve any more, this program alone. */
export async function presentOf(context: Context, file: string | undefined): Promise<Present> {
  const [{ buildOf, openExperiment }, { loadExperiment }, { WritError }] = await Promise.all([
    import('./open-experiment.ts'),
    import('../../prove/experiment.ts'),
    import('../../errors.ts'),
  ]);
  if (file === undefined) return { build: await buildOf() };
  try {
    return (await openExperiment(context, await loadExperiment(resolve(context.cwd, file)))).registration;
  } catch (thrown) {
    if (thrown instanceof WritError) return { build: await buildOf() };
    throw thrown;
  }
}
