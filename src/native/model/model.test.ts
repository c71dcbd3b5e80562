/** All models under one suite: our wires over HTTP, and the AI SDK over two of its providers. */
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { aiSdkModel } from './ai-sdk-model.ts';
import { anthropicDialect, geminiDialect, openaiDialect, responsesDialect } from './dialects.cases.ts';
import { modelCases } from './model.cases.ts';
import { resolveModel } from './providers.ts';

modelCases('openai-chat', {
  dialect: openaiDialect,
  open: (url) => resolveModel('local/m', { env: {}, baseUrl: url }),
  differs: {
    wholeWithoutMark: true,
    longInteger: '{"n":2512292042121000001}',
    emptyArguments: '',
    idTwice: true,
    exactBytes: true,
  },
});

modelCases('anthropic', {
  dialect: anthropicDialect,
  open: (url) => resolveModel('local/m', { env: {}, baseUrl: url, wire: 'anthropic' }),
  differs: {
    wholeWithoutMark: true,
    longInteger: '{"n":2512292042121000001}',
    // The block begins with an empty object and nothing is added to it.
    emptyArguments: '{}',
    idTwice: true,
    exactBytes: true,
  },
});

modelCases('openai-responses', {
  dialect: responsesDialect,
  open: (url) => resolveModel('local/m', { env: {}, baseUrl: url, wire: 'openai-responses' }),
  differs: {
    // The reason to stop stands in the end mark itself.
    wholeWithoutMark: false,
    longInteger: '{"n":2512292042121000001}',
    emptyArguments: '',
    idTwice: true,
    exactBytes: true,
  },
});

modelCases('gemini', {
  dialect: geminiDialect,
  open: (url) => resolveModel('local/m', { env: {}, baseUrl: url, wire: 'gemini' }),
  differs: {
    // The reason to stop is the end mark.
    wholeWithoutMark: false,
    longInteger: '{"n":2512292042121000001}',
    emptyArguments: '{}',
    idTwice: true,
    exactBytes: true,
  },
});

// The SDK takes arguments as values: a long integer goes back as a text of its digits. An id that comes twice is made another.
modelCases('AI SDK, openai-compatible', {
  dialect: openaiDialect,
  open: (url) => aiSdkModel(createOpenAICompatible({ name: 'local', baseURL: url, includeUsage: true })('m')),
  differs: {
    wholeWithoutMark: true,
    longInteger: '{"n":"2512292042121000001"}',
    emptyArguments: '',
    idTwice: false,
    exactBytes: false,
  },
});

// Its Anthropic provider tells the end only at the end mark.
modelCases('AI SDK, anthropic', {
  dialect: anthropicDialect,
  open: (url) => aiSdkModel(createAnthropic({ baseURL: url, apiKey: 'key-123456' })('m')),
  differs: {
    wholeWithoutMark: false,
    longInteger: '{"n":"2512292042121000001"}',
    emptyArguments: '{}',
    idTwice: true,
    exactBytes: false,
  },
});
