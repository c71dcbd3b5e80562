// What the cases of the runtime share: a server that gives scripted answers, one real run on it, and the record of a case.
import { createServer } from 'node:http';
import * as writ from '../dist/index.js';

const usage = { prompt_tokens: 24, completion_tokens: 8, total_tokens: 32 };
export const rights = [writ.planCapability, ...Object.values(writ.planCapabilities), 'parts'];

/**
 * A server that answers in the order of the requests from a list, or by a function of a request's body: a text, an object
 * with `calls`, or undefined for no answer at all. Each answer has the same usage.
 */
export async function serve(answers) {
  let asked = 0;
  const open = new Set();
  const server = createServer((request, response) => {
    open.add(response);
    response.on('close', () => open.delete(response));
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString('utf8'));
      const answer = typeof answers === 'function' ? answers(body) : (answers[asked] ?? 'none is scripted');
      asked += 1;
      if (answer !== undefined) send(response, typeof answer === 'string' ? { content: answer } : answer);
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => new Promise((resolve) => server.close(resolve).closeAllConnections());
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    asked: () => asked,
    /** Requests that have no answer yet, and whose client still waits. */
    waiting: () => open.size,
    close,
  };
}

function send(response, { content = null, calls = [] }) {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const chunk = (choices, more = {}) =>
    response.write(`data: ${JSON.stringify({ id: 'c', model: 'fixed', choices, ...more })}\n\n`);
  const tool_calls = calls.map(({ id, name, args }, index) => ({
    index,
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }));
  const delta = { role: 'assistant', content, ...(calls.length === 0 ? {} : { tool_calls }) };
  chunk([{ index: 0, delta, finish_reason: null }]);
  chunk([{ index: 0, delta: {}, finish_reason: calls.length === 0 ? 'stop' : 'tool_calls' }]);
  chunk([], { usage });
  response.end('data: [DONE]\n\n');
}

/** One run, whole: what came of it, or what was thrown before it began. `native` are options of the harness. */
export async function runOn(server, { native = {}, ...request }) {
  const prices = { 'local/fixed': { prompt: 25, completion: 75 } };
  const model = writ.resolveModel('local/fixed', { env: {}, baseUrl: server.url, prices });
  const store = writ.memoryStore();
  const events = [];
  const startedMs = performance.now();
  let result;
  let thrown;
  try {
    result = await writ.startRun({
      harness: writ.native({ model, ...native }),
      store,
      clock: writ.systemClock,
      holder: 'conformance:1:1',
      approve: 'deny',
      composition: writ.plainComposition('suite', 'You work on tasks.'),
      capabilities: rights,
      limits: {},
      origin: {},
      onEvents: (stored) => events.push(...stored),
      ...request,
    });
  } catch (error) {
    thrown = error;
  } finally {
    await model.close();
  }
  const latencyMs = Math.round(performance.now() - startedMs);
  return { result, thrown, events, store, latencyMs, asked: server.asked() };
}

/** How deep the plans of a run went below their own level. */
function depthOf(events) {
  const steps = events.filter((event) => event.type === 'plan-step');
  return Math.max(0, ...steps.map(({ path }) => path.split('/').filter((part) => part === 'r').length));
}

/** The record of a case: its metrics beside its limits, and whether it came out right. */
export function recordOf({ name, number, category, limits }, ran, { quality, right, metrics: own = {} }) {
  const { result, thrown, events, latencyMs, asked } = ran;
  const steps = events.filter((event) => event.type === 'plan-step');
  const metrics = {
    modelCalls: asked,
    toolCalls: steps.filter((event) => event.counter === 'toolCalls').length,
    contextOps: steps.filter((event) => event.counter === 'contextOps').length,
    promptTokens: result?.usage.promptTokens ?? 0,
    completionTokens: result?.usage.completionTokens ?? 0,
    totalTokens: result?.usage.totalTokens ?? 0,
    costUsd: result?.usage.costUsd ?? 0,
    latencyMs,
    depth: depthOf(events),
    contextBytes: 0,
    contextItems: 0,
    ...own,
  };
  const breaches = Object.entries(limits)
    .filter(([limit, most]) => !(metrics[limit] <= most + 1e-12))
    .map(([limit, most]) => ({ name: limit, limit: most, found: metrics[limit] }));
  const status = right && breaches.length === 0 ? 'passed' : 'failed';
  const error = result?.error ?? thrown?.message;
  const details = right ? {} : { status: result?.status, error, answer: result?.answer?.slice(0, 200) };
  return { name, number, category, status, quality, metrics, breaches, details };
}
