// What the two ways to show tools make of a provider's prompt cache: ten fresh sessions with one long text and one catalogue of
// tools, each with a task of its own. `compiled` shows what the task needs, so that prompts are short and begin differently;
// `all_tools` shows all in one order, so that prompts are long and begin alike.
import { prefixCacheServer } from './prefix-cache-server.mjs';
import { labelledTasks, sampleCatalogue } from './selection-catalogue.mjs';

export const sessions = 10;
const catalogueSize = 200;
/** US dollars per million tokens, as such providers ask them: a cached token costs half of one, or a tenth. */
const protocols = [
  { wire: 'openai-chat', caches: 'by blocks', price: { prompt: 2.5, cached: 1.25, completion: 10 } },
  {
    wire: 'anthropic',
    caches: 'by breakpoints',
    price: { prompt: 3, cached: 0.3, cacheWrite: 3.75, completion: 15 },
  },
];
export const modes = ['compiled', 'all_tools'];
const text = `You work on tickets. ${'x'.repeat(6000)}`;

function toolsOf(writ) {
  return sampleCatalogue(catalogueSize).map((unit) =>
    writ.defineTool({
      name: `${unit.server}_${unit.name}`,
      description: unit.description,
      parameters: {
        type: 'object',
        properties: { id: { type: 'string', description: 'Which one.' } },
        additionalProperties: false,
      },
      capability: 'tickets',
      access: 'read',
      execute: () => 'none',
    }),
  );
}

/** The tasks of the sessions, each of which names a tool that there is. */
function tasksOf(tools) {
  const known = new Set(tools.map(({ schema }) => schema.name));
  // A label is `tool:service/name`.
  const nameOf = (label) => label.slice(label.indexOf(':') + 1).replace('/', '_');
  const fitting = labelledTasks().filter(([, label]) => known.has(nameOf(label)));
  return Array.from({ length: sessions }, (_, at) => `${fitting[at % fitting.length][0]} (ticket ${at})`);
}

async function oneMode(writ, tools, { wire, price }, mode) {
  const server = await prefixCacheServer();
  const model = writ.resolveModel('local/cached', {
    env: {},
    baseUrl: server.url,
    wire,
    prices: { 'local/cached': price },
  });
  const harness = writ.native({ model, offer: { tools, mode } });
  const usages = [];
  try {
    for (const task of tasksOf(tools)) {
      const result = await writ.startRun({
        harness,
        store: writ.memoryStore(),
        clock: writ.systemClock,
        holder: 'bench:1:1',
        approve: 'deny',
        composition: writ.plainComposition('bench', text),
        capabilities: ['tickets'],
        limits: {},
        task,
        origin: {},
      });
      if (result.status !== 'completed') throw new Error(JSON.stringify(result.error));
      usages.push(result.usage);
    }
  } finally {
    await model.close();
    await server.close();
  }
  return { usages, asked: server.asked };
}

/** For each protocol and mode: what ten fresh sessions used, by the usage in their results, and how many of nine warm ones hit. */
export async function cacheModes(writ) {
  const rows = [];
  const tools = toolsOf(writ);
  for (const protocol of protocols) {
    for (const mode of modes) {
      const { usages, asked } = await oneMode(writ, tools, protocol, mode);
      const sum = (name) => usages.reduce((total, usage) => total + (usage[name] ?? 0), 0);
      rows.push({
        wire: protocol.wire,
        caches: protocol.caches,
        mode,
        warm: usages.length - 1,
        hits: usages.slice(1).filter(({ cachedTokens }) => (cachedTokens ?? 0) > 0).length,
        promptTokens: sum('promptTokens'),
        cachedTokens: sum('cachedTokens'),
        cacheWriteTokens: sum('cacheWriteTokens'),
        costUsd: sum('costUsd'),
        asked,
      });
    }
  }
  return rows;
}

export async function main() {
  const rows = await cacheModes(await import('../dist/index.js'));
  console.log(`${sessions} fresh sessions with one text, ${catalogueSize} tools and tasks of their own:\n`);
  console.log('protocol     cache            mode       warm hits  prompt tokens  cached  written  cost');
  for (const row of rows) {
    const { wire, caches, mode, hits, warm, promptTokens, cachedTokens, cacheWriteTokens, costUsd } = row;
    console.log(
      `${wire.padEnd(12)} ${caches.padEnd(16)} ${mode.padEnd(10)} ${`${hits} of ${warm}`.padStart(9)}` +
        `${String(promptTokens).padStart(15)}${String(cachedTokens).padStart(8)}${String(cacheWriteTokens).padStart(9)}  $${costUsd.toFixed(4)}`,
    );
  }
  for (const { wire } of protocols) {
    const [compiled, all] = modes.map((mode) => rows.find((row) => row.wire === wire && row.mode === mode));
    const ratio = all.costUsd / compiled.costUsd;
    console.log(
      `\n${wire}: all_tools sends ${(all.promptTokens / compiled.promptTokens).toFixed(2)} × the prompt tokens of compiled, ` +
        `${((100 * all.cachedTokens) / all.promptTokens).toFixed(0)} % of them from the cache (compiled: ${((100 * compiled.cachedTokens) / compiled.promptTokens).toFixed(0)} %), and costs ${ratio.toFixed(2)} × as much.`,
    );
  }
  const gate = rows.filter(({ mode }) => mode === 'all_tools').every(({ hits, warm }) => hits >= 0.8 * warm);
  console.log(`\nall_tools: at least 80 % of the warm requests hit: ${gate ? 'yes' : 'NO'}`);
}
