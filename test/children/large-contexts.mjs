// A process with little memory whose model looks into a file of 50 MB and into a result of 50 MB. Prints what it was shown.
import { mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LLMock } from '@copilotkit/aimock';
import * as writ from '../../dist/index.js';

const folder = mkdtempSync(join(tmpdir(), 'writ-large-'));
const line = 'a line of filler that is in no way remarkable, with ünïcödé in it\n';
const block = line.repeat(16_000);
const blocks = Math.ceil(50e6 / Buffer.byteLength(block));
const file = openSync(join(folder, 'large.log'), 'w');
for (let i = 0; i < blocks; i += 1) writeSync(file, block);
writeSync(file, 'the needle at the end of the file\n');

const dump = writ.defineTool({
  name: 'dump',
  description: 'Dumps everything.',
  parameters: { type: 'object', properties: {} },
  capability: 'dump',
  access: 'read',
  execute: () => `${block.repeat(blocks)}the useful line at the end\n`,
});
const steps = [
  ['context_search', { query: 'needle' }],
  ['dump', {}],
  ['context_search', { query: 'useful l[a-z]+', regex: true, context: 'result_2_1' }],
];
const server = new LLMock({ port: 0, host: '127.0.0.1' });
let shown = [];
server.on({ predicate: () => true }, ({ messages }) => {
  shown = messages.filter((message) => message.role === 'tool').map((message) => message.content);
  const step = steps[shown.length];
  if (step === undefined) return { content: 'done' };
  return { content: '', toolCalls: [{ name: step[0], arguments: JSON.stringify(step[1]) }] };
});
await server.start();
const model = writ.resolveModel('local/large', { env: {}, baseUrl: `${server.url}/v1` });
const path = join(folder, 'ledger.sqlite');
const store = writ.openLedger({ store: writ.sqliteStore({ path }), secrets: [] });
const contexts = [{ alias: 'input', source: { kind: 'file', root: folder, path: 'large.log' } }];
const tools = [dump, writ.contextSearch(), writ.contextPeek()];
try {
  const { status, error } = await writ.startRun({
    harness: writ.native({ model, tools, contexts }),
    store,
    clock: writ.systemClock,
    holder: writ.thisHolder(),
    approve: 'deny',
    composition: writ.plainComposition('large', 'You look.'),
    capabilities: ['context', 'dump'],
    limits: {},
    task: 'Find it.',
    origin: {},
  });
  const [found, kept, useful] = shown;
  console.log(
    JSON.stringify({
      status,
      error,
      file: found,
      kept,
      found: useful,
      rssMb: process.memoryUsage.rss() >> 20,
    }),
  );
} finally {
  await store.close();
  await model.close();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
