// One process of the crash campaign:  node child.mjs PLACE.json
// Runs a task of some turns, an effect of each class in each, or resumes it, and announces every point of its life. At a point that is
// among those to die at it says so and kills itself, as the power or the kernel would. Prints the result as its last line.
import { readFileSync, writeSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../dist/clock.js';
import { plainComposition } from '../../dist/compose/plain.js';
import { thisHolder } from '../../dist/ledger/holder.js';
import { sqliteStore } from '../../dist/ledger/stores/sqlite.js';
import { commandsFolder } from '../../dist/native/command/command-seat.js';
import { commandStart } from '../../dist/native/command/command-start.js';
import { openMcpServers } from '../../dist/native/mcp/mcp-servers.js';
import { resolveModel } from '../../dist/native/model/providers.js';
import { native } from '../../dist/native/native.js';
import { defineTool, notDispatched, stillUnknown } from '../../dist/native/tool/define-tool.js';
import { resumeRun, startRun } from '../../dist/run/run.js';
import { local } from '../../dist/sandbox/sandboxes/local/local.js';

const {
  ledger,
  workspace,
  state,
  model: baseUrl,
  desk,
  run,
  dieAt,
} = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const deadly = new Set(dieAt);

function points(...names) {
  for (const name of names) writeSync(1, `point ${name}\n`);
  const name = names.find((one) => deadly.has(one));
  if (name === undefined) return;
  writeSync(1, `dies ${name}\n`);
  process.kill(process.pid, 'SIGKILL');
}

async function around(names, work) {
  points(...names.map((name) => `${name} before`));
  const value = await work();
  points(...names.map((name) => `${name} after`));
  return value;
}

/** The same object, each of these methods with a point before and after it. */
function announced(object, methods, nameOf) {
  const wrapped = Object.fromEntries(
    methods.map((method) => [
      method,
      (...args) => around(nameOf(method, args), () => object[method](...args)),
    ]),
  );
  return { ...object, ...wrapped };
}

const placeOf = (key) => key.split(':').slice(1).join('.');
const asked = new Map();
const eventName = ({ type, turn, position, ticket }) => {
  if (type === 'approval-request') asked.set(ticket.id, ticket);
  const at = { 'approval-request': ticket, 'approval-answer': asked.get(ticket) ?? {} }[type] ?? {
    turn,
    position,
  };
  return `${type}${at.turn === undefined ? '' : ` ${at.turn}`}${at.position === undefined ? '' : `.${at.position}`}`;
};
const store = announced(
  sqliteStore({ path: ledger }),
  ['createSession', 'createRun', 'acquire', 'append', 'release'],
  (method, args) => (method === 'append' ? args[1].map(eventName) : [method]),
);

function ask(method, path, headers = {}) {
  return new Promise((resolve, reject) => {
    const sent = request(`${desk}${path}`, { method, headers }, async (answer) => {
      let text = '';
      for await (const chunk of answer) text += chunk;
      resolve(text);
    });
    sent.once('error', reject).end();
  });
}

const parameters = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
function acting(name, repeat, more = {}) {
  return defineTool({
    ...{ name, repeat, parameters, capability: 'c', access: 'write', description: `Acts as ${name}.` },
    async execute({ n }, { idempotencyKey: key }) {
      const place = placeOf(key);
      points(`entered ${place}`);
      const text = await ask('POST', `/${name}/${n}`, { 'idempotency-key': key });
      points(`acted ${place}`);
      return text;
    },
    effectKey: ({ n }) => `${name} ${n}`,
    ...more,
  });
}

async function found(_args, { idempotencyKey: key }) {
  points(`looking ${placeOf(key)}`);
  const text = await ask('GET', `/seen/${encodeURIComponent(key)}`);
  if (text === 'never') return notDispatched('unavailable', 'The desk never heard of it.');
  return text === '' ? stillUnknown('The desk does not say.') : text;
}

const env = { PATH: process.env.PATH, XDG_STATE_HOME: state };
const box = local({ workspace, folder: commandsFolder(workspace, { env }), env });
let nth = '';
const sandbox = announced(box, ['prepare', 'dispatch', 'release'], (method, args) => {
  if (method === 'prepare') nth = /\d+/.exec(args[0].argv.at(-1))?.[0] ?? '';
  return [`command ${method} ${nth}.5`];
});
const command = commandStart({ workspace }, { env, sandbox });
const program = fileURLToPath(new URL('../children/mcp-server.mjs', import.meta.url));
const servers = await openMcpServers({
  servers: new Map([['driven', { command: process.execPath, args: [program], env: ['EFFECTS'] }]]),
  cwd: workspace,
  env: { PATH: process.env.PATH, EFFECTS: join(workspace, 'mcp-effects') },
});
const write = servers.tools.find(({ schema }) => schema.name === 'driven__write');
const driven = {
  ...write,
  // One that is unknown must not hold those of all later turns: then nothing could be killed in them.
  effectKey: ({ line }) => `driven ${line}`,
  async execute(value, context) {
    const place = placeOf(context.idempotencyKey);
    points(`entered ${place}`);
    const output = await write.execute(value, context);
    points(`acted ${place}`);
    return output;
  },
};
const model = resolveModel('local/scripted-1', { env: {}, baseUrl });
const tools = [
  acting('safe', 'safe'),
  acting('idempotent', 'idempotent'),
  acting('once', 'once'),
  acting('asked', 'once', { reconcile: found }),
  command,
  driven,
];
let turn = 0;
const seat = {
  ...{ store, clock: systemClock, holder: thisHolder(), approve: 'ask' },
  harness: native({
    model: announced(model, ['send'], () => [`send ${++turn}`]),
    tools,
  }),
  ask: async () => ({ decision: 'approved', by: 'tester', reason: '' }),
};
const result =
  run === null
    ? await startRun({
        ...seat,
        ...{
          composition: plainComposition('crash', 'You act.'),
          capabilities: ['c', 'commands', 'mcp.driven'],
        },
        ...{ limits: {}, task: 'Act.', origin: {} },
      })
    : await resumeRun({ ...seat, run, promptNow: null });
points('ended');
await Promise.all(tools.map((tool) => tool.close()));
await servers.close();
await model.close();
await store.close();
points('closed');
writeSync(1, `result ${JSON.stringify(result)}\n`);
