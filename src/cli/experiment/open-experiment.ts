/** Opens what an experiment.yaml names, as all commands about it need it. Nothing of the operator's own goes into an arm. */
import { readFile } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { allAdapters, graders, probes, vocabulary } from '../../catalog.ts';
import { plantedHome } from '../../deliver/verify/planted-home.ts';
import { wireNames } from '../../native/model/wire-names.ts';
import { type Arm, type AskedHarness, openArm } from '../../prove/arm.ts';
import type { Experiment } from '../../prove/experiment.ts';
import type { Grader, Judge } from '../../prove/grade/grader.ts';
import type { Canary } from '../../prove/measure.ts';
import { type Registration, registrationOf } from '../../prove/registration.ts';
import type { Build } from '../../prove/surroundings.ts';
import { configuredTexts, readConfigured } from '../compose/configured.ts';
import type { Context } from '../context.ts';
import { armHarness } from './outside-trial.ts';

export interface ExperimentFlags {
  readonly record?: string | undefined;
}

export interface OpenedExperiment {
  readonly experiment: Experiment;
  readonly arms: { readonly control: Arm; readonly treatment: Arm };
  readonly grader: Grader;
  readonly build: Build;
  readonly registration: Registration;
}

/** Where the journal and the reports are: `dir/experiment.yaml` is recorded in `dir/experiment.record`, unless `--record` names another folder. */
export function recordFolder(context: Context, file: string, { record }: ExperimentFlags): string {
  if (record !== undefined) return resolve(context.cwd, record);
  const path = resolve(context.cwd, file);
  return resolve(dirname(path), `${basename(path).replace(/\.ya?ml$/, '')}.record`);
}

/** Throws what is wrong with the experiment, mostly with its place. Executes nothing of an agent folder. */
export async function openExperiment(
  context: Context,
  experiment: Experiment,
  judge?: Judge,
): Promise<OpenedExperiment> {
  await mustNameWhatThereIs(experiment);
  const adapters = await allAdapters();
  const parts = {
    vocabulary,
    probes: await Promise.all(probes.map((probe) => probe.load())),
    harness: (asked: AskedHarness) => armHarness(asked, adapters),
  };
  const arms = {
    control: await openArm(experiment, 'control', parts),
    treatment: await openArm(experiment, 'treatment', parts),
  };
  const grader = await openGrader(context, experiment, judge);
  const build = await buildOf();
  const registration = await registrationOf(experiment, arms, grader, build);
  return { experiment, arms, grader, build, registration };
}

/** Models and a protocol that no run could take, refused where the file names them. */
async function mustNameWhatThereIs({ map, written }: Experiment): Promise<void> {
  const { server, model, arms, grader } = written;
  if (server?.wire !== undefined && wireNames.every((name) => name !== server.wire))
    throw map.error(
      map.valueOffset(['server', 'wire']),
      `there is no protocol '${server.wire}'`,
      `Write one of: ${wireNames.join(', ')}.`,
    );
  const { ModelError } = await import('../../native/model/errors.ts');
  const { parseSpec } = await import('../../native/model/providers.ts');
  const named: readonly (readonly [readonly string[], string | undefined])[] = [
    [['model'], model],
    [['arms', 'control', 'model'], arms.control.model],
    [['arms', 'treatment', 'model'], arms.treatment.model],
    [['grader', 'model'], grader.kind === 'judge' ? grader.model : undefined],
  ];
  for (const [path, spec] of named) {
    try {
      if (spec !== undefined) parseSpec(spec);
    } catch (thrown) {
      if (!(thrown instanceof ModelError)) throw thrown;
      throw map.error(map.valueOffset([...path]), sentence(thrown.message), thrown.next ?? 'Correct it.');
    }
  }
}

// What names a place ends with its own full stop.
function sentence(message: string): string {
  return message.replace(/\.$/, '');
}

async function openGrader(
  context: Context,
  { folder, written }: Experiment,
  judge: Judge | undefined,
): Promise<Grader> {
  // The form names the same kinds as the catalog, which the catalog's type holds.
  const part = graders.find(({ name }) => name === written.grader.kind) ?? graders[0];
  return (await part.load())(written.grader, { folder, path: context.env.PATH ?? '', judge });
}

/** This program, and where it runs. */
export async function buildOf(): Promise<Build> {
  const manifest = JSON.parse(await readFile(new URL('../../../package.json', import.meta.url), 'utf8')) as {
    readonly version: string;
  };
  return {
    writ: manifest.version,
    node: process.versions.node,
    platform: `${process.platform}-${process.arch}`,
    harness: 'native',
  };
}

/**
 * The canaries of the experiment, the texts that the operator's own configuration would put into a prompt, and what is
 * planted in the home that an agent program is given.
 */
export async function canariesOf(
  context: Context,
  { written, folder }: Experiment,
): Promise<readonly Canary[]> {
  const own = (written.canaries ?? []).map((text, at) => ({ name: `canary ${at + 1}`, text }));
  const configured = await readConfigured(context, folder);
  const { texts } = configuredTexts(configured, {}, {});
  const operators = Object.entries(texts).flatMap(([name, text]) =>
    text === undefined || text.trim().length < 8
      ? []
      : [{ name: `the operator's ${name}`, text: text.trim() }],
  );
  const planted = plantedHome.map(({ path, mark }) => ({ name: `~/${path} of its home`, text: mark }));
  return [...own, ...operators, ...planted];
}
