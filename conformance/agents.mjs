// The cases of children and of MCP servers: real child runs in one budget, and a real server of each protocol version.
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import * as writ from '../dist/index.js';
import { openMcpServers } from '../dist/native/mcp/mcp-servers.js';
import { recordOf, runOn, serve } from './runtime-rig.mjs';

const ask = (at) => ({ id: `call_${at}`, name: 'subagent', args: { query: `Work on part ${at}.` } });
const native = () => ({ tools: [writ.subagent()] });
const capabilities = ['subagents'];
const isChild = ({ messages }) =>
  messages.some(({ role, content }) => role === 'user' && /^Work on part/.test(content));
const ofType = (events, type) => events.filter((event) => event.type === type);

/** How many children were at work at once. */
function atOnce(events) {
  let [now, most] = [0, 0];
  for (const { type } of events) {
    if (type === 'child-start') now += 1;
    if (type === 'child-finish') now -= 1;
    most = Math.max(most, now);
  }
  return most;
}

async function whole(one, answers, request, judge) {
  const server = await serve(answers);
  const ran = await runOn(server, { native: native(), capabilities, task: 'Work on all.', ...request });
  const { right, metrics } = judge(ran, server);
  await server.close();
  return recordOf(one, ran, { quality: right ? 1 : 0, right, ...(metrics === undefined ? {} : { metrics }) });
}

const backpressure = {
  name: 'agent_backpressure',
  number: 10,
  category: 'agent',
  limits: { atOnce: 1 },
  run() {
    let asked = 0;
    const answers = (body) => {
      if (isChild(body)) return 'done';
      asked += 1;
      return asked === 1 ? { calls: [ask(1), ask(2)] } : 'all done';
    };
    // The second finds no place: it is told so at once and does not wait for one.
    return whole(this, answers, { limits: { concurrency: 1 } }, ({ result, events }) => {
      const results = ofType(events, 'tool-result').map(({ code }) => code);
      const right =
        result?.status === 'completed' &&
        ofType(events, 'child-finish').length === 1 &&
        results.filter((code) => code === 'budget.exhausted').length === 1;
      return { right, metrics: { atOnce: atOnce(events) } };
    });
  },
};

const parentCancel = {
  name: 'agent_parent_cancel',
  number: 11,
  category: 'agent',
  limits: { modelCalls: 2 },
  run() {
    const stop = new AbortController();
    const answers = (body) => {
      if (!isChild(body)) return { calls: [ask(1)] };
      setTimeout(() => stop.abort(), 10);
      return undefined;
    };
    return whole(this, answers, { signal: stop.signal }, ({ result, events }) => {
      const [end] = ofType(events, 'child-finish');
      return { right: result?.status === 'cancelled' && end?.status === 'cancelled' };
    });
  },
};

const fanout = {
  name: 'agent_logical_fanout',
  number: 12,
  category: 'agent',
  limits: { modelCalls: 31, atOnce: 2 },
  run() {
    let asked = 0;
    const answers = (body) => {
      if (isChild(body)) return 'done';
      asked += 1;
      return asked <= 10 ? { calls: [ask(2 * asked - 1), ask(2 * asked)] } : 'all done';
    };
    return whole(this, answers, { limits: { concurrency: 2 } }, ({ result, events }) => {
      const ends = ofType(events, 'child-finish').filter(({ status }) => status === 'completed');
      const right = result?.answer === 'all done' && ends.length === 20;
      return { right, metrics: { atOnce: atOnce(events), children: ends.length } };
    });
  },
};

const program = fileURLToPath(new URL('../test/children/mcp-server.mjs', import.meta.url));

/** A tool of a server, called in a run; the server speaks one version of the protocol only. */
function mcp(version, number, words) {
  return {
    name: `mcp_${version}_adapter`,
    number,
    category: 'mcp',
    limits: { modelCalls: 2 },
    async run() {
      const { PATH, HOME } = process.env;
      const servers = await openMcpServers({
        servers: new Map([['parts', { command: process.execPath, args: [program, ...words] }]]),
        cwd: tmpdir(),
        env: { PATH, HOME },
      });
      const server = await serve([{ calls: [{ id: 'c1', name: 'parts__look', args: {} }] }, 'done']);
      try {
        const tools = servers.tools.filter(({ schema }) => schema.name === 'parts__look');
        const ran = await runOn(server, {
          native: { tools },
          capabilities: tools.map(({ capability }) => capability),
          task: 'Look.',
          // What a server does is a write to us, unless its owner says otherwise.
          approve: 'ask',
          ask: async () => ({ decision: 'approved', by: 'suite', reason: '' }),
        });
        const [call] = ofType(ran.events, 'tool-result');
        const right = ran.result?.answer === 'done' && call?.status === 'ok';
        return recordOf(this, ran, { quality: right ? 1 : 0, right });
      } finally {
        await Promise.all([servers.close(), server.close()]);
      }
    },
  };
}

export const agentCases = [
  backpressure,
  parentCancel,
  fanout,
  mcp('2025', 14, []),
  mcp('2026', 15, ['modern']),
];
