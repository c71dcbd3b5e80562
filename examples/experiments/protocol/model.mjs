// The scripted model: a real HTTP server of the chat protocol. What it does follows from the text that it really gets: with
// the compile protocol in it, it reads the project first, as the protocol orders; without, it does not.
// node model.mjs prints its base URL and serves until it is ended.
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { pathToFileURL } from 'node:url';
import { questions, regions, statementOf, taskOf } from './questions.mjs';

const model = 'scripted-1';
const tasks = new Map(
  regions.flatMap((region) => questions.map((question) => [taskOf(region, question), { region, question }])),
);

/** Starts the server on a free port of this machine. `answered` counts its answers. */
export async function startModel({ delayMs = 3 } = {}) {
  const seen = new Map();
  let answered = 0;
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString('utf8');
    const said = answer(JSON.parse(text), seen);
    const number = ++answered;
    setTimeout(() => send(response, said, text.length, number), delayMs);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    baseUrl: `http://127.0.0.1:${server.address().port}/v1`,
    answered: () => answered,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function answer({ messages }, seen) {
  const [system] = messages;
  const task = messages.findLast((message) => message.role === 'user')?.content ?? '';
  const found = tasks.get(task);
  if (found === undefined) return { text: 'This is not a question that I know.' };
  const ordered = system.role === 'system' && system.content.includes('# The compile protocol');
  const results = messages.filter((message) => message.role === 'tool').map((message) => message.content);
  if (ordered && results.length === 0) {
    return { text: 'Which files define what I need?', calls: [['project_read', { path: '.' }]] };
  }
  if (ordered && results.length === 1) {
    return {
      text: 'The statement, written out and compared.',
      calls: [['project_read', { path: 'orders.md' }]],
    };
  }
  const queried = results.length > (ordered ? 2 : 0);
  if (!queried) {
    const key = `${ordered} ${task}`;
    const turn = seen.get(key) ?? 0;
    seen.set(key, turn + 1);
    const right = share(`${key} ${turn}`) < 0.45 + 0.5 * share(`difficulty ${task}`);
    return { calls: [['sql_query', { query: statementOf(found.region, found.question, right) }]] };
  }
  const value = /"rows":\[\[([^\]]*)\]\]/.exec(results.at(-1))?.[1] ?? 'unknown';
  return { text: `The answer is ${value}` };
}

/** A number in [0, 1) that hangs on the text alone. */
function share(text) {
  return createHash('sha256').update(text).digest().readUInt32LE(0) / 2 ** 32;
}

// Every answer has an id of its own, as those of providers do: an answer that came twice would be one out of a cache.
function send(response, { text = '', calls = [] }, bytes, number) {
  const id = `answer-${process.pid}-${Date.now()}-${number}`;
  const chunk = (delta, finish = null) => ({
    id,
    model,
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const tools = calls.map(([name, given], index) => ({
    index,
    id: `${id}-${index}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(given) },
  }));
  const prompt = Math.ceil(bytes / 4);
  const completion = Math.ceil((text.length + JSON.stringify(tools).length) / 4);
  const usage = { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
  const delta = {
    role: 'assistant',
    ...(text === '' ? {} : { content: text }),
    ...(tools.length === 0 ? {} : { tool_calls: tools }),
  };
  const events = [
    chunk(delta),
    chunk({}, tools.length === 0 ? 'stop' : 'tool_calls'),
    { id, model, choices: [], usage },
  ];
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(`${events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')}data: [DONE]\n\n`);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { baseUrl } = await startModel();
  process.stdout.write(`${baseUrl}\n`);
}
