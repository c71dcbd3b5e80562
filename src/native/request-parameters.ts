/** The parameters of a request: what a caller gives by the protocol's own names, and what is set alike for all of them. */
import { isRecord } from '../protocol/json.ts';
import { type Settings, writeSettings } from '../wire/settings.ts';
import { ModelError } from './model/errors.ts';
import type { Model } from './model/model.ts';

interface Asked {
  readonly parameters: { readonly [name: string]: unknown };
  readonly settings?: Settings;
}

/** Throws `model.setting-unsupported` for a setting that the model's protocol has no words for. */
export function parametersOf(
  model: Pick<Model, 'id' | 'wire' | 'settings'>,
  { parameters, settings = {} }: Asked,
): Asked['parameters'] {
  const written = writeSettings(model.settings, settings);
  if (written.ok) return merged(parameters, written.parameters);
  const { setting } = written;
  throw new ModelError(
    'model.setting-unsupported',
    `Expected a setting that ${model.id} can be given over ${model.wire}; found ${setting}: ${JSON.stringify(settings[setting])}, for which it has no words.`,
    {
      next: 'Leave it out, or choose another value or another model.',
      details: { setting, wire: model.wire },
    },
  );
}

/** The second over the first, field by field: a setting must not take the other fields of its object along. */
function merged(under: Asked['parameters'], over: Asked['parameters']): { readonly [name: string]: unknown } {
  const joined: { [name: string]: unknown } = { ...under };
  for (const [name, value] of Object.entries(over)) {
    const below = joined[name];
    joined[name] = isRecord(below) && isRecord(value) ? merged(below, value) : value;
  }
  return joined;
}
