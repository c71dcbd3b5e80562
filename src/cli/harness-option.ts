/** The option that names a harness. */
import { Option } from '@commander-js/extra-typings';
import { adapters } from '../catalog.ts';

/** Takes any name: one that there is not is no misspelt option but a harness that honours nothing, and is refused as such. */
export function harnessOption(what: string) {
  const names = adapters.map(({ name }) => name).join(', ');
  return new Option('--harness <name>', `${what}: ${names}`);
}
