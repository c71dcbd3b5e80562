/** The seam is really crossed: with it gone, requests that every adapter must refuse go through. */
import { afterAll, expect, test, vi } from 'vitest';
import { adapters as catalogued } from '../catalog.ts';
import { intents } from '../protocol/intent.ts';
import type { Resolved } from './adapter.ts';
import { intentsOf, requestFor } from './conformance.cases.ts';
import type { DeliveryRequest } from './request.ts';

// What deleting the guard leaves: whatever is asked for goes on to the adapter.
vi.mock('./permit.ts', async (original) => ({
  ...(await original<typeof import('./permit.ts')>()),
  permit: (_adapter: unknown, request: DeliveryRequest): Resolved => ({
    request,
    control: { control: 'none', transport: 'file', lands: 'nowhere' },
    cell: null,
  }),
}));
afterAll(() => vi.doUnmock('./permit.ts'));

const adapters = await Promise.all(catalogued.map((part) => part.load()));

test.each(adapters.map((adapter) => [adapter.name, adapter] as const))(
  'nothing but the seam refuses an intent of %s, a dimension, or a state that nobody measured',
  async (name, adapter) => {
    const { planDelivery } = await import('./plan-delivery.ts');
    const rules = { adapters, measured: [], unmeasured: 'refuse' } as const;
    const [unable = 'developer'] = intents.filter((intent) => !intentsOf(adapter).includes(intent));
    const unsupported = { temperature: 1, hooks: {}, tools: ['x'] };
    for (const changes of [{ intent: unable }, { version: '999.0.0' }, unsupported])
      expect(planDelivery(name, requestFor(adapter, changes), rules)).toMatchObject({ harness: name });
  },
);
