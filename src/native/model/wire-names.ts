/** The protocols that a model over HTTP can speak; apart, so that naming one loads none. */
export const wireNames = ['openai-chat', 'openai-responses', 'anthropic', 'gemini'] as const;
export type WireName = (typeof wireNames)[number];
