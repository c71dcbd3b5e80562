/** What makes a trial none of its experiment: it is not what was registered, or not what the first trial was. */
import type { Digest } from '../digest.ts';
import type { ArmRecord, Registration } from './registration.ts';
import type { Surroundings } from './surroundings.ts';
import type { Tried } from './trial.ts';

/** What earlier trials say of that which registration cannot know. */
export interface Precedents {
  /** Whether an earlier trial was answered with the same bytes. */
  answered(response: Digest): boolean;
  /** What the first valid trial of a kind had; undefined where there was none yet. */
  first(kind: string): Value | undefined;
  /** Adds a trial; one that is not valid is no example for others. */
  add(trial: Tried, valid: boolean): void;
}

/** A set of names, or one. Null is a value too: that nobody tells it. */
type Value = readonly (string | null)[];

export function openPrecedents(): Precedents {
  const responses = new Set<Digest>();
  const firsts = new Map<string, Value>();
  return {
    answered: (response) => responses.has(response),
    first: (kind) => firsts.get(kind),
    add(trial, valid) {
      for (const response of trial.responses) responses.add(response);
      if (!valid) return;
      for (const { kind, value } of heldToTheFirst(trial))
        if (value.length > 0 && !firsts.has(kind)) firsts.set(kind, value);
    },
  };
}

/** How a run ends whose requests were not those of its arm. */
const unproven = new Set(['deliver.not-proven', 'deliver.not-metered']);

/** Why a trial does not count, in words; undefined for one that does. */
export function invalidity(
  registration: Registration,
  trial: Tried,
  precedents: Precedents,
): string | undefined {
  const arm = registration.arms[trial.side];
  return (
    wrongText(arm, trial) ??
    wrongModel(registration, arm, trial) ??
    wrongFingerprint(registration, trial) ??
    wrongSurroundings(registration, arm, trial) ??
    drift(trial, precedents) ??
    contamination(trial, precedents)
  );
}

function wrongText(arm: ArmRecord, trial: Tried): string | undefined {
  if (trial.prompt !== arm.prompt) return 'its text is not the one of its arm';
  if (trial.promptSent !== null && trial.promptSent !== arm.prompt)
    return 'the text that was sent is not the one of its arm';
  if (trial.code !== null && unproven.has(trial.code))
    return `nothing shows that the text of its arm was sent (${trial.code})`;
  return undefined;
}

function wrongModel({ modelSeen }: Registration, arm: ArmRecord, trial: Tried): string | undefined {
  const model = arm.harness === undefined ? arm.model : arm.harness.model;
  if (trial.model !== model)
    return `its model is ${trial.model ?? 'unknown'}, registered was ${model ?? "the harness's own choice"}`;
  // A program may have been told one model and ask another, as a saved setting of its user says.
  const asked = model === null ? undefined : trial.modelsAsked?.find((one) => one !== model);
  if (asked !== undefined) return `it asked ${named(asked)}, registered was ${model}`;
  if (modelSeen !== null) {
    const other = trial.modelsSeen.find((one) => one !== modelSeen);
    return other === undefined ? undefined : `${named(other)} answered, registered was ${modelSeen}`;
  }
  // Our own wires read the name in every protocol. Of an agent program's answers it may not be known: see `drift`.
  return arm.harness === undefined && trial.modelsSeen.includes(null)
    ? 'an answer does not name its model'
    : undefined;
}

// A provider has several at a time and changes them at will, so that none is held to the first: the report tells them all.
function wrongFingerprint({ fingerprintSeen }: Registration, trial: Tried): string | undefined {
  if (fingerprintSeen === null) return undefined;
  const other = trial.fingerprintsSeen.find((one) => one !== fingerprintSeen);
  if (other === undefined) return undefined;
  return `the fingerprint of an answer is ${shown(other)}, registered was ${fingerprintSeen}`;
}

const whatSurrounds: Readonly<Record<keyof Surroundings, string>> = {
  writ: 'the version of Writ',
  node: 'the version of Node',
  platform: 'the platform',
  harness: 'the own harness',
  agent: 'the agent folder',
  workspace: 'the workspace',
};

function wrongSurroundings(
  { build, items }: Registration,
  arm: ArmRecord,
  { item, harness, surroundings }: Tried,
): string | undefined {
  const expected = arm.harness?.name ?? build.harness;
  if (harness !== expected) return `its harness is ${harness}, registered was ${expected}`;
  const workspace = items.find(({ id }) => id === item)?.workspace ?? '';
  const registered: Surroundings = { ...build, agent: arm.folderDigest, workspace };
  const part = (Object.keys(whatSurrounds) as (keyof Surroundings)[]).find(
    (one) => surroundings[one] !== registered[one],
  );
  if (part === undefined) return undefined;
  return `${whatSurrounds[part]} is ${shown(surroundings[part])}, registered was ${shown(registered[part])}`;
}

/** What no registration can know, so that the first valid trial says it for all that are alike in `kind`. */
function heldToTheFirst(trial: Tried): readonly { what: string; kind: string; value: Value }[] {
  const { item, side, harness, model, harnessVersion, projection, modelsSeen, modelsAsked } = trial;
  return [
    { what: 'the model that answered', kind: `seen ${harness} ${model}`, value: modelsSeen },
    { what: 'the model that was asked', kind: `asked ${harness} ${model}`, value: modelsAsked ?? [] },
    {
      what: `the version of ${harness}`,
      kind: `version ${harness}`,
      value: harnessVersion === undefined ? [] : [harnessVersion],
    },
    // Tools may be chosen by the task, so that those of one item are compared.
    { what: 'the set of tools', kind: `tools ${side} ${item}`, value: [projection] },
  ];
}

function drift(trial: Tried, precedents: Precedents): string | undefined {
  for (const { what, kind, value } of heldToTheFirst(trial)) {
    const first = precedents.first(kind);
    const other = first === undefined ? undefined : value.find((one) => !first.includes(one));
    if (first === undefined || other === undefined) continue;
    return `${what} is ${shown(other)}, in the first trial it was ${first.map(shown).join(' or ')}`;
  }
  return undefined;
}

function contamination(trial: Tried, precedents: Precedents): string | undefined {
  if (trial.canaries.length > 0) return `it was sent a canary: ${trial.canaries.join(', ')}`;
  if (trial.unread > 0)
    return `${trial.unread} texts of its requests are not on record, so that no canary can be looked for`;
  if (trial.responses.some((response) => precedents.answered(response)))
    return 'an answer is that of another trial to the last byte, as out of a cache';
  return undefined;
}

function named(model: string | null): string {
  return model ?? 'a model without a name';
}

/** A digest is cut: its beginning tells it apart. */
function shown(value: string | null): string {
  if (value === null) return 'unknown';
  return /^[0-9a-f]{64}$/.test(value) ? value.slice(0, 12) : value;
}
