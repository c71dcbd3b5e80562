// A process that runs or resumes one plan, for tests that kill it: node plan-parts.mjs BASE_URL FOLDER PLAN [RUN]
// Each act of a tool adds a line to NAME.log. A tool named in STALL acts and then never answers. Prints `acted NAME`, and
// the result as its last line.
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import * as writ from '../../dist/index.js';

const [baseUrl, folder, plan, run] = process.argv.slice(2);

function part(name, access) {
  return writ.defineTool({
    name,
    description: `Acts as ${name}.`,
    parameters: { type: 'object', properties: {}, additionalProperties: false },
    capability: 'parts',
    access,
    ...(access === 'write' ? { repeat: 'once' } : {}),
    execute: async () => {
      appendFileSync(join(folder, `${name}.log`), 'acted\n');
      process.stdout.write(`acted ${name}\n`);
      if (process.env.STALL === name) await new Promise(() => setInterval(() => {}, 1000));
      return `${name} done`;
    },
  });
}

const model = writ.resolveModel('local/scripted-1', { env: {}, baseUrl });
const ledger = writ.openLedger({
  store: writ.sqliteStore({ path: join(folder, 'ledger.sqlite') }),
  secrets: [],
});
const tools = [part('look', 'read'), part('wait', 'read'), part('book', 'write')];
const seat = {
  harness: writ.native({ model, tools, root: 'plan' }),
  store: ledger,
  clock: writ.systemClock,
  holder: writ.thisHolder(),
  approve: 'ask',
  ask: async () => ({ decision: 'approved', by: 'tester', reason: '' }),
};
const capabilities = [writ.planCapability, ...Object.values(writ.planCapabilities), 'parts'];
const result =
  run === undefined
    ? await writ.startRun({
        ...seat,
        composition: writ.plainComposition('parts', 'You book parts.'),
        capabilities,
        limits: { steps: 14, turns: 10 },
        task: writ.planTask(plan),
        origin: {},
      })
    : await writ.resumeRun({ ...seat, run, promptNow: null });
await ledger.close();
await model.close();
process.stdout.write(`${JSON.stringify(result)}\n`);
