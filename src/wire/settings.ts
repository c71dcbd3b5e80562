/** What a request may say of sampling and reasoning, by names of Writ's own, and how a protocol writes each. */
import type { Json } from '../protocol/json.ts';

/** From no reasoning at all to as much as the model can do. */
export const reasoningEfforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export type ReasoningEffort = (typeof reasoningEfforts)[number];

export interface Settings {
  readonly temperature?: number;
  readonly top_p?: number;
  readonly seed?: number;
  readonly stop?: readonly string[];
  readonly reasoning_effort?: ReasoningEffort;
}

/** Fields of a request by the protocol's own names. */
export type Parameters = { readonly [name: string]: Json };

/** How a protocol writes each setting. One that is left out, and a value that becomes null, it cannot say. */
export type SettingForms = {
  readonly [S in keyof Settings]?: (value: NonNullable<Settings[S]>) => Parameters | null;
};

export type WrittenSettings =
  | { readonly ok: true; readonly parameters: Parameters }
  /** The first setting that the protocol has no words for. */
  | { readonly ok: false; readonly setting: keyof Settings };

/** Writes settings as a protocol does, or names the one that it cannot say. */
export function writeSettings(forms: SettingForms, settings: Settings): WrittenSettings {
  const { temperature, top_p, seed, stop, reasoning_effort } = settings;
  const all = {
    temperature: written(forms.temperature, temperature),
    top_p: written(forms.top_p, top_p),
    seed: written(forms.seed, seed),
    stop: written(forms.stop, stop),
    reasoning_effort: isEffort(reasoning_effort) ? written(forms.reasoning_effort, reasoning_effort) : null,
  };
  const parameters: { [name: string]: Json } = {};
  for (const setting of ['temperature', 'top_p', 'seed', 'stop', 'reasoning_effort'] as const) {
    const fields = all[setting];
    if (fields === null) return { ok: false, setting };
    Object.assign(parameters, fields);
  }
  return { ok: true, parameters };
}

// A program without types may say anything.
function isEffort(value: Settings['reasoning_effort']): boolean {
  return value === undefined || reasoningEfforts.includes(value);
}

function written<V>(
  form: ((value: V) => Parameters | null) | undefined,
  value: V | undefined,
): Parameters | null {
  if (value === undefined) return {};
  return form === undefined ? null : form(value);
}

/** The form of a setting that goes as it is, under one name. */
export function field(name: string): (value: number | string | readonly string[]) => Parameters {
  return (value) => ({ [name]: typeof value === 'object' ? [...value] : value });
}
