/** A scripted OpenAI-compatible provider on loopback: a real HTTP server that fails on unexpected and on unused steps. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ScriptedCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

export interface Step {
  readonly text?: string;
  readonly reasoning?: string;
  readonly calls?: readonly ScriptedCall[];
  readonly finish?: string;
  /** `null`: the provider says nothing of usage. */
  readonly usage?: Record<string, unknown> | null;
  /** An error response instead of a stream. */
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  /** `cut`: the socket is destroyed after the content. `no-mark`: the stream ends politely without its end. `hang`: it never ends. */
  readonly ending?: 'cut' | 'no-mark' | 'hang';
}

export interface SeenRequest {
  readonly raw: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read what was really sent.
  readonly json: any;
  readonly headers: IncomingHttpHeaders;
}

export type Answer = (request: SeenRequest) => Step | Promise<Step>;

/** One step a request, all of them used; or one function that answers however many requests come. */
export type Script = readonly (Step | Answer)[] | Answer;

export interface ScriptedProvider {
  readonly url: string;
  readonly requests: readonly SeenRequest[];
  /** Resolves when so many requests have arrived. */
  arrived(count: number): Promise<void>;
  /** Closes the server; throws if a step was not used or a request had no step. */
  close(): Promise<void>;
}

/** On a free port, or on the one that an earlier provider had. */
export async function scriptedProvider(script: Script, port = 0): Promise<ScriptedProvider> {
  const requests: SeenRequest[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  let unexpected = 0;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const raw = Buffer.concat(chunks).toString('utf8');
    const seen: SeenRequest = { raw, json: JSON.parse(raw), headers: request.headers };
    const step = typeof script === 'function' ? script : script[requests.length];
    requests.push(seen);
    for (const one of waiting) if (requests.length >= one.count) one.resolve();
    if (step === undefined) {
      unexpected += 1;
      response.writeHead(500).end('no step is scripted for this request');
      return;
    }
    answer(response, typeof step === 'function' ? await step(seen) : step);
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    arrived: (count) =>
      requests.length >= count
        ? Promise.resolve()
        : new Promise((resolve) => waiting.push({ count, resolve })),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      if (unexpected > 0) throw new Error(`${unexpected} requests had no step`);
      if (typeof script !== 'function' && requests.length < script.length) {
        throw new Error(`${script.length - requests.length} of ${script.length} steps were not used`);
      }
    },
  };
}

function answer(response: ServerResponse, step: Step): void {
  if (step.status !== undefined) {
    response.writeHead(step.status, { 'content-type': 'application/json', ...step.headers });
    response.end(step.body ?? JSON.stringify({ error: { message: `scripted ${step.status}`, code: null } }));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream', ...step.headers });
  const send = (value: unknown) => response.write(`data: ${JSON.stringify(value)}\n\n`);
  const chunk = (delta: unknown, finish: string | null = null) =>
    send({ id: 'chat-1', model: 'scripted-1', choices: [{ index: 0, delta, finish_reason: finish }] });
  if (step.reasoning !== undefined) chunk({ role: 'assistant', reasoning_content: step.reasoning });
  for (const part of step.text?.match(/.{1,7}/gsu) ?? []) chunk({ role: 'assistant', content: part });
  for (const [index, call] of (step.calls ?? []).entries()) {
    const half = Math.floor(call.arguments.length / 2);
    const { id, name } = call;
    chunk({
      tool_calls: [
        { index, id, type: 'function', function: { name, arguments: call.arguments.slice(0, half) } },
      ],
    });
    chunk({ tool_calls: [{ index, function: { arguments: call.arguments.slice(half) } }] });
  }
  if (step.ending === 'hang') return;
  if (step.ending === 'cut') {
    // Only after the content has left: a reset may overtake bytes that are still queued.
    setTimeout(() => response.destroy(), 20);
    return;
  }
  if (step.ending === 'no-mark') {
    response.end();
    return;
  }
  chunk({}, step.finish ?? ((step.calls?.length ?? 0) > 0 ? 'tool_calls' : 'stop'));
  const usage =
    step.usage === undefined ? { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } : step.usage;
  if (usage !== null) send({ id: 'chat-1', model: 'scripted-1', choices: [], usage });
  response.end('data: [DONE]\n\n');
}
