// A process that runs or resumes one task with a read and a write tool, for tests that kill it:
//   node run-parts.mjs BASE_URL FOLDER [RUN]
// Each real read adds a line to reads.log and each real write one to writes.log. With STALL=read or STALL=write the tool
// acts and then never answers. Prints `acted NAME` when a tool has acted, and the result as its last line.
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import * as writ from '../../dist/index.js';

const [baseUrl, folder, run] = process.argv.slice(2);
const parameters = { type: 'object', properties: {}, additionalProperties: false };

function part(name, access, repeat) {
  return writ.defineTool({
    name,
    description: `Acts as ${name}.`,
    parameters,
    capability: 'parts',
    access,
    repeat,
    look: 'Read writes.log.',
    execute: async () => {
      appendFileSync(join(folder, `${access}s.log`), 'acted\n');
      process.stdout.write(`acted ${access}\n`);
      if (process.env.STALL === access) await new Promise(() => setInterval(() => {}, 1000));
      return `${name} done`;
    },
  });
}

const model = writ.resolveModel('local/scripted-1', { env: {}, baseUrl });
const ledger = writ.openLedger({
  store: writ.sqliteStore({ path: join(folder, 'ledger.sqlite') }),
  secrets: [],
});
const seat = {
  harness: writ.native({ model, tools: [part('look', 'read', 'safe'), part('book', 'write', 'once')] }),
  store: ledger,
  clock: writ.systemClock,
  holder: writ.thisHolder(),
  approve: 'ask',
  ask: async () => ({ decision: 'approved', by: 'tester', reason: '' }),
};
const result =
  run === undefined
    ? await writ.startRun({
        ...seat,
        composition: writ.plainComposition('parts', 'You book parts.'),
        capabilities: ['parts'],
        limits: { turns: 10 },
        task: 'Book it.',
        origin: {},
      })
    : await writ.resumeRun({ ...seat, run, promptNow: null });
await ledger.close();
await model.close();
process.stdout.write(`${JSON.stringify(result)}\n`);
