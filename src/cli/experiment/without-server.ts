/** Models and agent programs of an experiment whose server nothing names, so that a run needs to be told one. */
import { allAdapters } from '../../catalog.ts';
import { parseSpec, providers } from '../../native/model/providers.ts';
import type { OpenedExperiment } from './open-experiment.ts';

/** Each once: a model as `provider/name`, an agent program by its name. Empty where experiment.yaml names a server. */
export async function withoutServer({
  experiment: { written },
  arms,
}: OpenedExperiment): Promise<readonly string[]> {
  const { server, grader } = written;
  if (server?.baseUrl !== undefined) return [];
  const adapters = await allAdapters();
  const names = [arms.control, arms.treatment].flatMap(({ model, harness }) => {
    if (harness === undefined) return model === null || isKnown(model) ? [] : [model];
    return adapters.find(({ name }) => name === harness.name)?.vendorUrl === undefined ? [harness.name] : [];
  });
  const judge = grader.kind === 'judge' && !isKnown(grader.model) ? [grader.model] : [];
  return [...new Set([...names, ...judge])];
}

function isKnown(model: string): boolean {
  return providers.has(parseSpec(model).provider);
}
