/** A real HTTP server on this machine that a test scripts, and the little that every test of a model needs. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { ModelReply } from './model.ts';

export interface Loopback {
  /** A base URL. */
  readonly url: string;
  readonly requests: {
    readonly headers: IncomingMessage['headers'];
    readonly url: string;
    readonly body: string;
  }[];
  /** Every connection that was ever made. */
  readonly sockets: Socket[];
  close(): Promise<void>;
}

/** Answers each request, once its body is read, by `answer`. */
export async function loopback(
  answer: (response: ServerResponse, request: IncomingMessage, body: string) => void,
): Promise<Loopback> {
  const requests: Loopback['requests'] = [];
  const sockets: Socket[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      requests.push({ headers: request.headers, url: request.url ?? '', body });
      answer(response, request, body);
    });
  });
  server.on('connection', (socket: Socket) => sockets.push(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    sockets,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The bytes of a stream of these chunks and its end mark. */
export function stream(...chunks: readonly object[]): string {
  return [...chunks.map((chunk) => JSON.stringify(chunk)), '[DONE]']
    .map((data) => `data: ${data}\n\n`)
    .join('');
}

/** The chunks of a short answer with its usage. */
export function answerChunks(text: string): object[] {
  return [
    { id: 'chatcmpl-1', model: 'seen', choices: [{ index: 0, delta: { content: text } }] },
    { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    { choices: [], usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } },
  ];
}

/** A reply that failed, or a test that did. */
export function failed(reply: ModelReply): Extract<ModelReply, { ok: false }> {
  if (reply.ok)
    throw new Error(`Expected a failure; found the answer ${JSON.stringify(reply.message.text)}.`);
  return reply;
}

/** A signal that never aborts. */
export const never = new AbortController().signal;
