/** From `provider/name` to an address, a key and a price; every refusal before anything is sent. */
import { afterEach, describe, expect, test } from 'vitest';
import { WritError } from '../../errors.ts';
import { answerChunks, loopback, never, stream } from './loopback.cases.ts';
import { type ResolveOptions, resolveModel } from './providers.ts';

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

function resolve(spec: string, options: Partial<ResolveOptions> = {}) {
  const model = resolveModel(spec, { env: {}, ...options });
  open.push(model);
  return model;
}

function refusal(spec: string, options: Partial<ResolveOptions> = {}) {
  try {
    resolve(spec, options);
  } catch (thrown) {
    if (thrown instanceof WritError) return thrown.toJSON();
    throw thrown;
  }
  throw new Error(`Expected a refusal of ${spec}.`);
}

const env = { OPENAI_API_KEY: 'sk-openai-1', OPENROUTER_API_KEY: 'sk-or-1', MY_KEY: ' sk-mine-1\n' };

describe('what a spec leads to', () => {
  test.each<[string, Partial<ResolveOptions>, object]>([
    [
      'openai/gpt-x',
      { env },
      {
        name: 'gpt-x',
        url: 'https://api.openai.com/v1/chat/completions',
        secrets: [{ name: 'OPENAI_API_KEY', value: 'sk-openai-1' }],
      },
    ],
    [
      'openai/gpt-x',
      { env: { ...env, OPENAI_BASE_URL: 'https://proxy.example/v1/' } },
      { url: 'https://proxy.example/v1/chat/completions' },
    ],
    [
      'openai/gpt-x',
      { env: { ...env, OPENAI_BASE_URL: '' } },
      { url: 'https://api.openai.com/v1/chat/completions' },
    ],
    [
      'openai/gpt-x',
      { env: { OPENAI_BASE_URL: 'http://127.0.0.1:4010/v1' } },
      { url: 'http://127.0.0.1:4010/v1/chat/completions', secrets: [] },
    ],
    [
      'openrouter/vendor/name:free',
      { env },
      {
        name: 'vendor/name:free',
        url: 'https://openrouter.ai/api/v1/chat/completions',
        secrets: [{ name: 'OPENROUTER_API_KEY', value: 'sk-or-1' }],
      },
    ],
    ['local/m', { baseUrl: 'http://localhost:11434/v1' }, { name: 'm', secrets: [] }],
    ['local/m', { baseUrl: 'http://[::1]:1/v1' }, { url: 'http://[::1]:1/v1/chat/completions' }],
    [
      'local/m',
      { baseUrl: 'https://models.example' },
      { url: 'https://models.example/chat/completions', secrets: [] },
    ],
    [
      'lab/m',
      { baseUrl: 'http://10.0.0.5/v1', plainHttp: true },
      { url: 'http://10.0.0.5/v1/chat/completions' },
    ],
    [
      'lab/m',
      { baseUrl: 'https://lab.example/v1', keyEnv: 'MY_KEY', env },
      { secrets: [{ name: 'MY_KEY', value: 'sk-mine-1' }] },
    ],
    [
      'ollama/qwen3:8b',
      { baseUrl: 'http://localhost:11434/v1', keyEnv: 'MY_KEY', env: { MY_KEY: 'ollama' } },
      { secrets: [] },
    ],
    [
      'ollama/qwen3:8b',
      { baseUrl: 'http://localhost:11434/v1', keyEnv: 'MY_KEY', env: { MY_KEY: 'ollama-7f3a' } },
      { secrets: [{ name: 'MY_KEY', value: 'ollama-7f3a' }] },
    ],
  ])('%s %o', (spec, options, expected) => {
    expect(resolve(spec, options)).toMatchObject({ id: spec, wire: 'openai-chat', price: null, ...expected });
  });

  const claude = { ANTHROPIC_API_KEY: 'sk-ant-1' };
  test.each<[string, Partial<ResolveOptions>, object]>([
    [
      'anthropic/claude-x',
      { env: claude },
      {
        url: 'https://api.anthropic.com/v1/messages',
        secrets: [{ name: 'ANTHROPIC_API_KEY', value: 'sk-ant-1' }],
        maxTokensDefault: 8192,
      },
    ],
    [
      'anthropic/claude-x',
      { env: { ...claude, ANTHROPIC_BASE_URL: 'https://proxy.example/' } },
      { url: 'https://proxy.example/v1/messages' },
    ],
    [
      'anthropic/claude-x',
      { env: { ...claude, ANTHROPIC_BASE_URL: 'https://proxy.example/a/v1' } },
      { url: 'https://proxy.example/a/v1/messages' },
    ],
    [
      'lab/m',
      { baseUrl: 'https://lab.example/anthropic', wire: 'anthropic' },
      { url: 'https://lab.example/anthropic/v1/messages', secrets: [] },
    ],
  ])('of a server of Anthropic Messages: %s %o', (spec, options, expected) => {
    expect(resolve(spec, options)).toMatchObject({ id: spec, wire: 'anthropic', ...expected });
  });

  test('a known provider may be asked in another protocol', () => {
    expect(resolve('anthropic/claude-x', { env: claude, wire: 'openai-chat' })).toMatchObject({
      wire: 'openai-chat',
      url: 'https://api.anthropic.com/v1/chat/completions',
    });
  });

  test('a price is found by the whole id, and is unknown otherwise', () => {
    const prices = { 'openai/gpt-x': { prompt: 1, completion: 2 } };
    expect(resolve('openai/gpt-x', { env, prices }).price).toEqual({ prompt: 1, completion: 2 });
    expect(resolve('openai/gpt-y', { env, prices }).price).toBeNull();
  });

  test('OpenAI gets the newer name of the output limit, others the older, unless told', () => {
    const parts = { messages: [], tools: '', maxTokens: 9, parameters: {} };
    const limit = (...from: Parameters<typeof resolve>) =>
      Object.keys(JSON.parse(resolve(...from).body(parts))).find((field) => field.startsWith('max_'));
    expect(limit('openai/m', { env })).toBe('max_completion_tokens');
    expect(limit('openrouter/a/m', { env })).toBe('max_tokens');
    expect(limit('openai/m', { env, baseUrl: 'https://x.example' })).toBe('max_tokens');
    expect(limit('local/m', { baseUrl: 'https://x.example', outputLimit: 'max_completion_tokens' })).toBe(
      'max_completion_tokens',
    );
  });
});

describe('a spec that names no model', () => {
  test.each([
    '',
    'gpt-x',
    '/gpt-x',
    'openai/',
    '-openai/x',
    'openai/-x',
    'openai//x',
    'openrouter/a/',
    'open ai/x',
    'openai/x\n',
    'openai/\u0000',
    'openai/\u202ex',
    'OpenAI/x',
    `openai/${'x'.repeat(300)}`,
  ])('%j', (spec) => {
    expect(refusal(spec, { env })).toMatchObject({
      code: 'model.bad-spec',
      kind: 'input',
      message: expect.stringContaining('found'),
      next: expect.stringContaining('openai/'),
    });
  });

  test('an unknown provider is not found among the properties that every object has', () => {
    expect(refusal('constructor/x').code).toBe('model.unknown-provider');
  });

  test('an unknown provider is told which are known', () => {
    expect(refusal('mistral/x')).toEqual({
      code: 'model.unknown-provider',
      kind: 'input',
      message:
        "Expected one of openai, anthropic, openai-responses, gemini, openrouter, or a base URL; found the provider 'mistral' and none.",
      next: "Give the base URL of 'mistral', or choose a known provider.",
      details: {
        provider: 'mistral',
        known: ['openai', 'anthropic', 'openai-responses', 'gemini', 'openrouter'],
      },
    });
  });
});

describe('a key', () => {
  test.each([
    ['not set', {}],
    ['empty', { OPENAI_API_KEY: '  ' }],
  ])('that is %s is named', (found, given) => {
    expect(refusal('openai/x', { env: given })).toEqual({
      code: 'model.missing-key',
      kind: 'input',
      message: `Expected the key for openai/x in the variable OPENAI_API_KEY; it is ${found}.`,
      next: 'Set OPENAI_API_KEY to your key.',
      details: { variable: 'OPENAI_API_KEY' },
    });
  });

  test('that was asked for is needed on this machine too', () => {
    expect(refusal('local/x', { baseUrl: 'http://localhost/v1', keyEnv: 'NOPE' })).toMatchObject({
      code: 'model.missing-key',
      message: expect.stringContaining('NOPE'),
    });
  });

  test.each(['sk-live-123', 'gsk_abcdef', '', '1KEY'])(
    'given in place of its name (%j) is not repeated',
    (keyEnv) => {
      const found = refusal('local/x', { baseUrl: 'https://x.example', keyEnv });
      expect(found.code).toBe('model.bad-key');
      if (keyEnv !== '') expect(JSON.stringify(found)).not.toContain(keyEnv);
    },
  );

  test.each(['sk\nabc', 'sk abc', 'schlüssel', 'sk-\u200babc'])(
    'that cannot stand in a header (%j) is not repeated',
    (value) => {
      const found = refusal('openai/x', { env: { OPENAI_API_KEY: value } });
      expect(found).toMatchObject({ code: 'model.bad-key', details: { variable: 'OPENAI_API_KEY' } });
      expect(JSON.stringify(found)).not.toContain(JSON.stringify(value).slice(1, -1));
    },
  );
});

describe('a base URL', () => {
  test.each([
    ['', 'found ""'],
    ['localhost:8080', 'http or https'],
    ['ftp://x.example', 'http or https'],
    ['file:///etc/passwd', 'http or https'],
    ['https://me:pass@x.example/v1', 'before x.example'],
    ['https://token@x.example/v1', 'before x.example'],
    ['htps//me:pass@x', 'an @ in it'],
    ['https://x.example/v1?key=pass', 'query'],
    ['https://x.example/v1#pass', 'fragment'],
    ['https://x.example/v1/chat/completions', 'Expected the address before'],
    ['https://x.example/v1/messages', 'Expected the address before /v1/messages'],
    ['http://x.example/v1', 'Expected https for x.example'],
    ['http://127.0.0.1.evil.example/v1', 'Expected https'],
    ['http://localhost.evil.example/v1', 'Expected https'],
    ['http://0.0.0.0:1/v1', 'Expected https'],
  ])('%j is refused', (baseUrl, text) => {
    const found = refusal('local/x', { baseUrl });
    expect(found).toMatchObject({ code: 'model.bad-base-url', kind: 'input', next: expect.any(String) });
    expect(found.message).toContain(text);
    expect(JSON.stringify(found)).not.toMatch(/pass\b|token@/);
  });
});

describe('a price', () => {
  test.each([
    { prompt: -1, completion: 1 },
    { prompt: 1, completion: Number.NaN },
    { prompt: '1', completion: 1 },
    { prompt: 1, completion: 1, cached: null },
    { completion: 1 },
  ])('%o is refused', (price) => {
    const prices = { 'local/x': price as never };
    expect(refusal('local/x', { baseUrl: 'https://x.example', prices })).toMatchObject({
      code: 'model.bad-price',
    });
  });
});

describe('attribution', () => {
  test('is sent to OpenRouter only', async () => {
    const server = await loopback((response) => response.end(stream(...answerChunks('a'))));
    open.push(server);
    const attribution = { referer: 'https://app.example', title: 'My app', sessionId: 's'.repeat(256) };
    for (const spec of ['openrouter/a/m', 'local/m']) {
      await resolve(spec, { baseUrl: server.url, attribution }).send('{}', { signal: never });
    }
    const [router, other] = server.requests.map((request) => request.headers);
    expect(router).toMatchObject({
      'http-referer': 'https://app.example',
      'x-openrouter-title': 'My app',
      'x-session-id': 's'.repeat(256),
    });
    expect(Object.keys(other ?? {}).filter((name) => /referer|title|session/.test(name))).toEqual([]);
  });

  test.each([
    [{ title: 'a\r\nx-evil: 1' }, 'the character U+000D at position 2'],
    [{ title: 'Über' }, 'the character U+00DC at position 1'],
    [{ title: '  ' }, 'a blank text'],
    [{ referer: '' }, 'a blank text'],
    [{ sessionId: 's'.repeat(257) }, '257 characters'],
    [{ sessionId: 7 as never }, 'number'],
    [{ title: null as never }, 'null'],
    [{ title: ['a'] as never }, 'object'],
  ])('%o is refused', (attribution, found) => {
    expect(refusal('openrouter/a/m', { env, attribution })).toMatchObject({
      code: 'model.bad-attribution',
      kind: 'input',
      message: expect.stringContaining(`found ${found}`),
      details: { field: Object.keys(attribution)[0] },
    });
  });
});
