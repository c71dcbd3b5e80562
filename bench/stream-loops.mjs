// One way to read the same stream, measured in a process of its own: node stream-loops.mjs WAY PORT RUNS.
// Prints the CPU milliseconds that one streamed turn took, user and system time of the whole process.
import { Agent, request as httpRequest } from 'node:http';

const [way, port, runsText] = process.argv.slice(2);
const runs = Number(runsText);
const base = `http://127.0.0.1:${port}/v1`;
const system = 'You answer questions about parts.';
let shown = 0;

const ways = {
  // The floor: hand-written, each event parsed and its text put behind the text so far; nothing checked, nothing kept.
  http() {
    const agent = new Agent({ keepAlive: true });
    const body = JSON.stringify({
      model: 'bench',
      messages: [
        { role: 'system', content: system },
        { role: 'user', content: 'Count.' },
      ],
      stream: true,
    });
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    return () =>
      new Promise((resolve, reject) => {
        const request = httpRequest(
          `${base}/chat/completions`,
          { method: 'POST', agent, headers },
          (response) => {
            let rest = '';
            let text = '';
            response.setEncoding('utf8');
            response.on('data', (chunk) => {
              rest += chunk;
              for (let end = rest.indexOf('\n\n'); end >= 0; end = rest.indexOf('\n\n')) {
                const data = rest.slice('data: '.length, end);
                rest = rest.slice(end + 2);
                if (data === '[DONE]') continue;
                const delta = JSON.parse(data).choices[0]?.delta.content;
                if (delta === undefined) continue;
                text += delta;
                shown += 1;
              }
            });
            response.on('end', () => resolve(text));
          },
        );
        request.on('error', reject);
        request.end(body);
      });
  },

  async streamText() {
    globalThis.AI_SDK_LOG_WARNINGS = false;
    const { streamText } = await import('ai');
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
    const model = createOpenAICompatible({ name: 'bench', baseURL: base })('bench');
    return async () => {
      const result = streamText({ model, system, prompt: 'Count.', maxRetries: 0 });
      let text = '';
      for await (const delta of result.textStream) {
        text += delta;
        shown += 1;
      }
      return text;
    };
  },

  'writ, model': () => sending({}),
  'writ, model, Anthropic': () => sending({ wire: 'anthropic' }),

  async 'writ, whole run'() {
    const lib = await import('../dist/index.js');
    const harness = lib.native({ model: lib.resolveModel('local/bench', { env: {}, baseUrl: base }) });
    const store = lib.openLedger({ store: lib.memoryStore(), secrets: [] });
    const holder = lib.thisHolder();
    const composition = lib.plainComposition('bench', system);
    return async () => {
      const result = await lib.startRun({
        harness,
        store,
        clock: lib.systemClock,
        holder,
        approve: 'deny',
        composition,
        capabilities: [],
        limits: { turns: 1 },
        task: 'Count.',
        origin: {},
        onLive: () => {
          shown += 1;
        },
      });
      if (result.status !== 'completed') throw new Error(JSON.stringify(result.error));
      return result.answer;
    };
  },
};

async function sending(options) {
  const lib = await import('../dist/index.js');
  const model = lib.resolveModel('local/bench', { env: {}, baseUrl: base, ...options });
  const messages = [
    model.message({ role: 'system', text: system }),
    model.message({ role: 'user', text: 'Count.' }),
  ];
  const { signal } = new AbortController();
  return async () => {
    const body = model.body({ messages, tools: '', maxTokens: null, parameters: {} });
    const onDelta = () => {
      shown += 1;
    };
    const reply = await model.send(body, { signal, onDelta });
    if (!reply.ok) throw new Error(JSON.stringify(reply.error));
    return reply.message.text;
  };
}

const run = await ways[way]();
const expected = await run();
for (let i = 0; i < 30; i += 1) await run();
shown = 0;
const before = process.cpuUsage();
for (let i = 0; i < runs; i += 1) {
  if ((await run()) !== expected || expected.length < 4000) throw new Error('wrong answer');
}
const { user, system: kernel } = process.cpuUsage(before);
if (shown !== runs * 2000) throw new Error(`Expected ${runs * 2000} deltas; ${shown} were shown.`);
process.stdout.write(`${JSON.stringify((user + kernel) / 1000 / runs)}\n`);
process.exit(0);
