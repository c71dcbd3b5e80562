/** What tests of the meter share: a model server that counts what reaches it, and small programs that ask it. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Cell } from '../../protocol/delivery.ts';

export interface Upstream {
  /** A base URL with a path of its own. */
  readonly url: string;
  readonly got: { readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: string }[];
  close(): Promise<void>;
}

/** Starts it. `answer` gets the number of the request, from 1. */
export async function startUpstream(
  answer: (response: ServerResponse, nth: number) => void,
): Promise<Upstream> {
  const got: Upstream['got'] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      got.push({
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString('utf8'),
      });
      answer(response, got.length);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/base`,
    got,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** A whole answer of the chat protocol that used so many tokens; null where it does not say. */
export function chatAnswer(response: ServerResponse, tokens: number | null = 10): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  const usage = tokens === null ? {} : { usage: { prompt_tokens: tokens - 1, completion_tokens: 1 } };
  const message = { role: 'assistant', content: 'Done.' };
  response.end(
    JSON.stringify({ id: 'c1', choices: [{ index: 0, message, finish_reason: 'stop' }], ...usage }),
  );
}

/** What our text is in these tests. */
export const text = 'You answer tests.';

/** The measurement behind them: the text stands in the first system message. */
export const cell: Cell = {
  harness: 'pi',
  version: '1.0.0',
  modelFamily: 'default',
  authMode: 'api-key',
  intent: 'append',
  fidelity: 'base',
  control: '--append-system-prompt',
  delivered: true,
  position: { field: 'messages', role: 'system', index: 0 },
  residue: { bytes: 0, firstWords: '' },
  builtInBytes: null,
  byteEquality: true,
  altered: [],
  date: '2026-01-01',
};

/**
 * The body of a program for the rig of pi. It finds `ask(system, more)`, which sends a request with one tool and returns
 * the status, `post(path, body)`, and `finish()`, which ends as pi does after a good turn.
 */
export const asking = (body: string) => `
const { baseUrl, apiKey } = JSON.parse(readFileSync(process.env.PI_CODING_AGENT_DIR + '/models.json', 'utf8')).providers.writ;
const post = async (path, json) => {
  const answer = await fetch(baseUrl + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer ' + process.env[apiKey] },
    body: JSON.stringify(json),
  });
  const said = await answer.text();
  appendFileSync(log + '.answers', JSON.stringify({ status: answer.status, said }) + '\\n');
  return answer.status;
};
const tools = [{ type: 'function', function: { name: 'read', parameters: {} } }];
const system = ${JSON.stringify(text)} + ' The date is today.';
const ask = (first = system, more = {}) =>
  post('/chat/completions', { model: 'm1', tools, messages: [{ role: 'system', content: first }, { role: 'user', content: 'Hello.' }], ...more });
const finish = (words = 'Done.') => {
  say(JSON.stringify({ type: 'message_update', assistantMessageEvent: { type: 'text_delta', delta: words } }) + '\\n');
  say(JSON.stringify({ type: 'turn_end', message: { stopReason: 'stop', content: [{ type: 'text', text: words }] } }) + '\\n');
};
${body}`;
