/** Whether a harness can be led to a meter at all. */
import type { Adapter } from '../adapter.ts';
import { DeliverError } from '../errors.ts';

/** Throws `deliver.not-redirectable`: a program that goes its own way would spend and say what nobody sees. */
export function mustBeMeterable({ name, redirects }: Pick<Adapter, 'name' | 'redirects'>): void {
  if (redirects !== false) return;
  throw new DeliverError(
    'deliver.not-redirectable',
    `${name} cannot be led to a recorder, so its requests cannot be metered.`,
    { next: 'Leave --metered out, or choose another harness.', details: { harness: name } },
  );
}
