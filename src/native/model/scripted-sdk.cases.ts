/** A model of the AI SDK's own port that a test scripts part by part. */
import type {
  LanguageModelV3,
  LanguageModelV3CallOptions,
  LanguageModelV3StreamPart,
} from '@ai-sdk/provider';

const usage = {
  inputTokens: { total: 1000, noCache: 400, cacheRead: 600, cacheWrite: 0 },
  outputTokens: { total: 50, text: 40, reasoning: 10 },
};
export const finish: Extract<LanguageModelV3StreamPart, { type: 'finish' }> = {
  type: 'finish',
  usage,
  finishReason: { unified: 'stop', raw: 'stop' },
};
export const start: LanguageModelV3StreamPart = { type: 'stream-start', warnings: [] };
export const text = (...deltas: string[]): LanguageModelV3StreamPart[] => [
  { type: 'text-start', id: '0' },
  ...deltas.map((delta) => ({ type: 'text-delta' as const, id: '0', delta })),
  { type: 'text-end', id: '0' },
];

/** A model of the SDK's own port that answers by these parts, and the calls that it got. */
export function scripted(parts: readonly LanguageModelV3StreamPart[] | (() => never) | 'silent' | 'endless') {
  const calls: LanguageModelV3CallOptions[] = [];
  const sdk: LanguageModelV3 = {
    specificationVersion: 'v3',
    provider: 'scripted.chat',
    modelId: 'm',
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('never asked')),
    doStream: async (options) => {
      calls.push(options);
      if (parts === 'silent') return new Promise(() => {});
      if (typeof parts === 'function') parts();
      const stream = new ReadableStream<LanguageModelV3StreamPart>({
        start(controller) {
          for (const part of typeof parts === 'string'
            ? [start, ...text('Half')]
            : (parts as LanguageModelV3StreamPart[]))
            controller.enqueue(part);
          if (parts !== 'endless') controller.close();
        },
      });
      return { stream, request: { body: { sent: true } } };
    },
  };
  return { sdk, calls };
}
