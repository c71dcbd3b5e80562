/** What a metered program's models cost, from the prices of agent.yaml and configuration. */
import type { Tariff } from '../../deliver/meter/reservation.ts';
import type { Price } from '../../native/model/model.ts';
import { priceUsage } from '../../native/model/price.ts';
import type { OutsideOrigin } from './origin.ts';

type Prices = NonNullable<OutsideOrigin['outside']['prices']>;

/** A model that is not listed under the name that a request bears has no price. */
export function tariffOf(prices: Prices): (model: string | null) => Tariff | null {
  return (model) => {
    const found = model !== null && Object.hasOwn(prices, model) ? prices[model] : undefined;
    if (found === undefined) return null;
    const { prompt, completion, cached, cacheWrite } = found;
    const price: Price = {
      prompt,
      completion,
      ...(cached === undefined ? {} : { cached }),
      ...(cacheWrite === undefined ? {} : { cacheWrite }),
    };
    return {
      // To write into a cache costs more than to read past it.
      atMost: (promptTokens, outputTokens) =>
        (promptTokens * Math.max(prompt, cacheWrite ?? 0) + outputTokens * completion) / 1e6,
      price: (usage) => priceUsage(usage, price),
    };
  };
}
