// One way to run the same tool loop, measured in a process of its own:
// node turn-loops.mjs WAY PORT TURNS RUNS ATONCE WARMUP, the last as a number of turns.
// Prints as JSON the CPU milliseconds that one turn took, user and system time of the whole process, and its peak memory.

import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const [way, port, ...amounts] = process.argv.slice(2);
const [turns, runs, atOnce, warmUpTurns] = amounts.map(Number);
const base = `http://127.0.0.1:${port}/v1`;
const system = 'You answer questions about parts. '.repeat(60);
const parameters = {
  type: 'object',
  properties: { name: { type: 'string', description: 'The name of the part.' } },
  required: ['name'],
  additionalProperties: false,
};
const description = 'Looks a part up by its name.';
const lookup = ({ name }) => ({ name, stock: name.length, place: 'shelf 7' });

// The floor: hand-written, each message serialised once, plain JSON answers, nothing checked and nothing recorded.
async function bareLoop(send) {
  const tools = JSON.stringify([{ type: 'function', function: { name: 'lookup', description, parameters } }]);
  const messages = [
    JSON.stringify({ role: 'system', content: system }),
    JSON.stringify({ role: 'user', content: 'Count.' }),
  ];
  for (;;) {
    const { choices } = JSON.parse(
      await send(`{"model":"bench","messages":[${messages.join(',')}],"tools":${tools}}`),
    );
    const message = choices[0].message;
    if (!message.tool_calls) return message.content;
    messages.push(JSON.stringify(message));
    for (const call of message.tool_calls) {
      const content = JSON.stringify(lookup(JSON.parse(call.function.arguments)));
      messages.push(JSON.stringify({ role: 'tool', tool_call_id: call.id, content }));
    }
  }
}

const ways = {
  async http() {
    const agent = new Agent({ keepAlive: true });
    const send = (body) =>
      new Promise((resolve, reject) => {
        const request = httpRequest(
          `${base}/chat/completions`,
          {
            method: 'POST',
            agent,
            headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
          },
          (response) => {
            const chunks = [];
            response.on('data', (chunk) => chunks.push(chunk));
            response.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
          },
        );
        request.on('error', reject);
        request.end(body);
      });
    return { run: () => bareLoop(send), close: () => agent.destroy() };
  },

  async fetch() {
    const send = async (body) =>
      (
        await fetch(`${base}/chat/completions`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body,
        })
      ).text();
    return { run: () => bareLoop(send), close: () => {} };
  },

  async generateText() {
    globalThis.AI_SDK_LOG_WARNINGS = false;
    const { generateText, tool, jsonSchema, stepCountIs } = await import('ai');
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
    const model = createOpenAICompatible({ name: 'bench', baseURL: base })('bench');
    const tools = {
      lookup: tool({
        description,
        inputSchema: jsonSchema(parameters),
        execute: async (args) => lookup(args),
      }),
    };
    return {
      run: async () =>
        (
          await generateText({
            model,
            system,
            prompt: 'Count.',
            tools,
            maxRetries: 0,
            stopWhen: stepCountIs(turns + 1),
          })
        ).text,
      close: () => {},
    };
  },

  'writ, memory ledger': () => writ((writLib) => writLib.memoryStore()),

  async 'writ, SQLite ledger'() {
    const folder = mkdtempSync(join(tmpdir(), 'writ-bench-'));
    const way = await writ((writLib) => writLib.sqliteStore({ path: join(folder, 'ledger.sqlite') }));
    return {
      run: way.run,
      close: async () => {
        await way.close();
        rmSync(folder, { recursive: true });
      },
    };
  },
};

async function writ(openStore) {
  const lib = await import('../dist/index.js');
  const model = lib.resolveModel('local/bench', { env: {}, baseUrl: base });
  const tool = lib.defineTool({
    name: 'lookup',
    description,
    parameters,
    capability: 'parts',
    access: 'read',
    repeat: 'safe',
    execute: async (args) => lookup(args),
  });
  const harness = lib.native({ model, tools: [tool] });
  const ledger = lib.openLedger({ store: openStore(lib), secrets: [] });
  const holder = lib.thisHolder();
  const composition = lib.plainComposition('bench', system);
  return {
    run: async () => {
      const result = await lib.startRun({
        harness,
        store: ledger,
        clock: lib.systemClock,
        holder,
        approve: 'deny',
        composition,
        capabilities: ['parts'],
        limits: { turns: turns + 1 },
        task: 'Count.',
        origin: {},
      });
      if (result.status !== 'completed') throw new Error(JSON.stringify(result.error));
      return result.answer;
    },
    close: async () => {
      await ledger.close();
      await model.close();
    },
  };
}

const { run, close } = await ways[way]();

async function runMany(amount) {
  let left = amount;
  const worker = async () => {
    while (left > 0) {
      left -= 1;
      if ((await run()) !== 'The total is 42.') throw new Error('wrong answer');
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, amount) }, worker));
}

await runMany(Math.ceil(warmUpTurns / turns));
const cpuBefore = process.cpuUsage();
const startedMs = performance.now();
await runMany(runs);
const { user, system: kernel } = process.cpuUsage(cpuBefore);
const measured = {
  cpuMs: (user + kernel) / 1000 / runs / turns,
  wallMs: performance.now() - startedMs,
  peakMb: process.resourceUsage().maxRSS / 1024,
};
process.stdout.write(`${JSON.stringify(measured)}\n`);
await close();
process.exit(0);
