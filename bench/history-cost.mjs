// What a turn costs by the length of the history before it: long runs of tool turns, each turn's CPU beside the bytes that its
// request carried. All of a history is sent with each request, so that the best there can be is a straight line in those bytes.
import { serve } from './measure.mjs';

const turns = 800;
const bins = 8;
const rounds = 3;
const resultBytes = 1000;

/** One run: for each turn its CPU in microseconds and the bytes of its request. */
async function oneRun(writ, harness, length) {
  const taken = [];
  let before = process.cpuUsage();
  let bytes = 0;
  const result = await writ.startRun({
    harness,
    store: writ.memoryStore(),
    clock: writ.systemClock,
    holder: 'bench:1:1',
    approve: 'deny',
    composition: writ.plainComposition('bench', 'You look parts up.'),
    capabilities: ['parts'],
    limits: { turns: length + 1 },
    task: 'Count.',
    origin: {},
    onEvents: (events) => {
      for (const event of events) {
        if (event.type === 'model-request') bytes = event.bodyBytes;
        if (event.type !== 'turn-finish') continue;
        const { user, system } = process.cpuUsage(before);
        before = process.cpuUsage();
        taken.push({ cpu: user + system, bytes });
      }
    },
  });
  if (result.status !== 'completed') throw new Error(JSON.stringify(result.error));
  return taken;
}

const mean = (list) => list.reduce((sum, one) => sum + one, 0) / list.length;
const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];

/** The line of least squares through points, and how much of the scatter it explains. */
export function lineThrough(points) {
  const [x, y] = [mean(points.map(({ bytes }) => bytes)), mean(points.map(({ cpu }) => cpu))];
  const sum = (of) => points.reduce((total, point) => total + of(point), 0);
  const slope = sum(({ bytes, cpu }) => (bytes - x) * (cpu - y)) / sum(({ bytes }) => (bytes - x) ** 2);
  const at = (bytes) => y + slope * (bytes - x);
  const explained = 1 - sum(({ bytes, cpu }) => (cpu - at(bytes)) ** 2) / sum(({ cpu }) => (cpu - y) ** 2);
  return { slope, base: at(0), explained };
}

/**
 * Linear: a line explains nearly all of it, and the second half of the history is not much steeper than the first. What grew
 * with the square of the history would be three times as steep there.
 */
export function isLinear(points) {
  const half = points.length >> 1;
  const steeper = lineThrough(points.slice(half)).slope / lineThrough(points.slice(0, half + 1)).slope;
  return { ...lineThrough(points), steeper, linear: lineThrough(points).explained > 0.95 && steeper < 2 };
}

/** The mean turn of each part of the history: CPU in microseconds (the median of the rounds) and bytes sent. */
export async function historyCost(writ, length = turns) {
  const server = await serve(length);
  const model = writ.resolveModel('local/bench', { env: {}, baseUrl: `http://127.0.0.1:${server.port}/v1` });
  const tool = writ.defineTool({
    name: 'lookup',
    description: 'Looks a part up by its name.',
    parameters: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    capability: 'parts',
    access: 'read',
    execute: ({ name }) => `${name} ${'x'.repeat(resultBytes)}`,
  });
  const harness = writ.native({ model, tools: [tool] });
  try {
    await oneRun(writ, harness, length);
    const runs = [];
    for (let round = 0; round < rounds; round += 1) runs.push(await oneRun(writ, harness, length));
    const size = length / bins;
    return Array.from({ length: bins }, (_, bin) => {
      const parts = runs.map((run) => run.slice(bin * size, (bin + 1) * size));
      return {
        turn: Math.round((bin + 0.5) * size),
        bytes: mean(parts[0].map(({ bytes }) => bytes)),
        cpu: median(parts.map((part) => mean(part.map(({ cpu }) => cpu)))),
      };
    });
  } finally {
    await model.close();
    server.stop();
  }
}

export async function main() {
  const points = await historyCost(await import('../dist/index.js'));
  console.log(
    `CPU of a turn by its place in a run of ${turns} turns (median of ${rounds} runs, memory ledger):\n`,
  );
  console.log('turn   sent with it   CPU');
  for (const { turn, bytes, cpu } of points) {
    console.log(
      `${String(turn).padStart(4)}${`${(bytes / 1024).toFixed(0)} KiB`.padStart(15)}${`${cpu.toFixed(0)} µs`.padStart(11)}`,
    );
  }
  const { slope, base, explained, steeper, linear } = isLinear(points);
  console.log(
    `\n${base.toFixed(0)} µs a turn and ${(slope * 1024).toFixed(2)} µs for each KiB that the wire carries; a line explains ${(100 * explained).toFixed(1)} % of it, ` +
      `and the second half is ${steeper.toFixed(2)} × as steep as the first: ${linear ? 'linear' : 'NOT linear'}`,
  );
}
