/** Any language model of the AI SDK as our model: its own connection, its own protocol, our rules about every end. */
import type { LanguageModelV3 } from '@ai-sdk/provider';
import { type Clock, systemClock } from '../../clock.ts';
import type { Json } from '../../protocol/json.ts';
import type { ToolSchema } from '../../protocol/messages.ts';
import { jsonText } from '../../wire/json-text.ts';
import { field, type Parameters, type ReasoningEffort } from '../../wire/settings.ts';
import { bodyText, messageText } from './ai-sdk-body.ts';
import { SdkFlight } from './ai-sdk-flight.ts';
import type { HttpLimits } from './http-model.ts';
import type { Model, Price } from './model.ts';
import { priceOf } from './price.ts';

export interface AiSdkOptions {
  /** What the record calls it; by default the SDK's own `provider/model`. */
  readonly id?: string | undefined;
  /** True where a setting that the SDK drops must fail the request instead of being told. */
  readonly strict?: boolean | undefined;
  /**
   * How its provider is told of a reasoning effort: options by the provider's own name, as the SDK's `providerOptions` takes
   * them. Only the provider's package knows, so without it an effort is refused.
   */
  readonly reasoning?: ((effort: ReasoningEffort) => Parameters) | undefined;
  /** By model id. */
  readonly prices?: Readonly<Record<string, Price>> | undefined;
  /** By default 300 s each: the SDK does not show the signs of life that a server sends between two parts. */
  readonly limits?: Partial<Omit<HttpLimits, 'responseBytesMax'>> | undefined;
  readonly clock?: Clock | undefined;
}

/**
 * Makes the model. The SDK asks once and never again: retries are ours. Throws `model.bad-price`. `close` cancels what is
 * under way; what else the SDK's provider holds belongs to whoever made it.
 */
export function aiSdkModel(model: LanguageModelV3, options: AiSdkOptions = {}): Model {
  const id = options.id ?? `${model.provider}/${model.modelId}`;
  const price = priceOf(id, options.prices);
  const { reasoning } = options;
  const asking = {
    model,
    id,
    url: `ai-sdk:${model.provider}`,
    price,
    strict: options.strict ?? false,
    limits: { firstByteTimeoutMs: 300_000, idleTimeoutMs: 300_000, ...options.limits },
    clock: options.clock ?? systemClock,
  };
  const underWay = new Set<SdkFlight>();
  let closed = false;
  return {
    id,
    name: model.modelId,
    wire: 'ai-sdk',
    url: asking.url,
    price,
    settings: {
      temperature: field('temperature'),
      top_p: field('topP'),
      seed: field('seed'),
      stop: field('stopSequences'),
      ...(reasoning === undefined
        ? {}
        : { reasoning_effort: (effort) => ({ providerOptions: { ...reasoning(effort) } }) }),
    },
    message: messageText,
    tools: (schemas) => (schemas.length === 0 ? '' : jsonText(schemas.map(toolJson))),
    body: (parts) => bodyText({ ...parts, model: model.modelId }),
    send: async (body, how) => {
      const flight = new SdkFlight(asking, how);
      underWay.add(flight);
      if (closed) flight.cancel();
      const reply = await flight.fly(body);
      underWay.delete(flight);
      return reply;
    },
    close: async () => {
      closed = true;
      for (const flight of underWay) flight.cancel();
    },
  };
}

function toolJson({ name, description, parameters }: ToolSchema): Json {
  return { name, description, parameters };
}
