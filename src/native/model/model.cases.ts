/** What every model keeps, whatever protocol or SDK stands behind it; each runs against a real server that speaks its dialect. */
import { afterEach, describe, expect, test } from 'vitest';
import { noUsage, unknownUsage } from '../../protocol/usage.ts';
import type { WireDelta } from '../../wire/wire.ts';
import type { Dialect, Scripted } from './dialects.cases.ts';
import { failed, type Loopback, loopback, never } from './loopback.cases.ts';
import type { Model, ModelReply } from './model.ts';

export interface Lane {
  readonly dialect: Dialect;
  /** Opens the model on a server's base URL. */
  open(url: string): Model;
  /** What an SDK does otherwise, each with a reason in the test of the lane. */
  readonly differs: {
    /** A stream with a stop reason and without its end mark is whole. */
    readonly wholeWithoutMark: boolean;
    /** What the server gets for arguments that hold a long integer, written as JSON. */
    readonly longInteger: string;
    readonly emptyArguments: string;
    /** An id that the provider gave twice stays as it is; the SDK makes up another. */
    readonly idTwice: boolean;
    /** Only a message of our own wires carries its bytes to the server. */
    readonly exactBytes: boolean;
  };
}

export function modelCases(name: string, lane: Lane): void {
  const { dialect, differs } = lane;
  const open: { close(): Promise<unknown> }[] = [];
  afterEach(async () => {
    for (const one of open.splice(0).reverse()) await one.close();
  });

  const serve = async (...answer: Parameters<typeof loopback>): Promise<Loopback> => {
    const server = await loopback(...answer);
    open.push(server);
    return server;
  };
  const modelAt = (url: string): Model => {
    const model = lane.open(url);
    open.push(model);
    return model;
  };
  const answering = (...answers: readonly Scripted[]) => {
    let next = 0;
    return serve((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(dialect.events(answers[Math.min(next++, answers.length - 1)] as Scripted).join(''));
    });
  };
  /** The events of an answer up to the one that holds a text. */
  const upTo = (text: string, answer: Scripted) => {
    const events = dialect.events(answer);
    return events.slice(0, events.findIndex((one) => one.includes(text)) + 1).join('');
  };
  const streaming = (bytes: string) =>
    serve((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(bytes);
    });
  const tools = [
    {
      name: 'look',
      description: 'Looks.',
      parameters: { type: 'object' as const, properties: { n: { type: 'integer' } } },
    },
  ];
  const bodyOf = (model: Model, messages: readonly Parameters<Model['message']>[0][]) =>
    model.body({
      messages: messages.map((message) => model.message(message)),
      tools: model.tools(tools),
      maxTokens: 100,
      parameters: {},
    });
  const question = [
    { role: 'system', text: 'Be brief.\n' },
    { role: 'user', text: 'Grüße?' },
  ] as const;
  const ask = async (server: Loopback, model = modelAt(server.url)): Promise<ModelReply> =>
    model.send(bodyOf(model, question), { signal: never });
  const answered = async (server: Loopback, model = modelAt(server.url)) => {
    const reply = await ask(server, model);
    if (!reply.ok) throw new Error(`Expected an answer; found ${JSON.stringify(reply.error)}.`);
    return reply;
  };
  /** A text of arguments as the model gives it back. */
  const asRead = (text: string) => (dialect.arguments === 'text' ? text : text.replaceAll(' ', ''));
  const full: Scripted = {
    reasoning: 'Hm, 漢😀: let me see.',
    text: ['Grü', 'ße, ', '漢字 😀.'],
    calls: [
      { id: 'call_1', name: 'look', pieces: ['{"n"', ': 1}'] },
      { id: 'call_2', name: 'look', pieces: ['{"n": 2}'] },
    ],
    finish: 'tool-calls',
  };

  describe(name, () => {
    test('sends the question and reads text, reasoning, parallel calls and usage', async () => {
      const server = await answering(full);
      const reply = await answered(server);
      expect(reply.message).toMatchObject({
        role: 'assistant',
        text: 'Grüße, 漢字 😀.',
        reasoning: { text: 'Hm, 漢😀: let me see.' },
        calls: [
          { id: 'call_1', name: 'look', arguments: asRead('{"n": 1}') },
          { id: 'call_2', name: 'look', arguments: asRead('{"n": 2}') },
        ],
      });
      expect(reply).toMatchObject({ finish: 'tool-calls', modelSeen: 'seen', requestId: 'answer-1' });
      expect(reply.usage).toMatchObject({
        modelCalls: 1,
        promptTokens: 1000,
        cachedTokens: 600,
        completionTokens: 50,
        totalTokens: 1050,
        costSource: 'unknown',
      });
      const [request] = server.requests;
      expect(dialect.sent(request?.body ?? '')).toMatchObject({ system: 'Be brief.\n' });
      expect(request?.body).toContain('Grüße?');
      expect(request?.body).toContain('Looks.');
    });

    test('a character split over chunks stays whole, and text is shown as it comes', async () => {
      const bytes = Buffer.from(dialect.events({ ...full, calls: [], finish: 'stop' }).join(''));
      const server = await serve((response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        for (let at = 0; at < bytes.length; at += 5) response.write(bytes.subarray(at, at + 5));
        response.end();
      });
      const model = modelAt(server.url);
      const deltas: WireDelta[] = [];
      const reply = await model.send(bodyOf(model, question), {
        signal: never,
        onDelta: (delta) => deltas.push(delta),
      });
      expect(reply).toMatchObject({ ok: true, finish: 'stop', message: { text: 'Grüße, 漢字 😀.' } });
      expect(deltas).toEqual([
        { type: 'reasoning', text: 'Hm, 漢😀: let me see.' },
        { type: 'text', text: 'Grü' },
        { type: 'text', text: 'ße, ' },
        { type: 'text', text: '漢字 😀.' },
      ]);
    });

    test('the answer goes back unaltered, reasoning too, and the results of its batch with it', async () => {
      const server = await answering(full, { text: ['Done.'], finish: 'stop' });
      const model = modelAt(server.url);
      const { message } = await answered(server, model);
      const results = ['call_1', 'call_2'].map(
        (callId) => ({ role: 'tool', callId, name: 'look', text: `of ${callId}` }) as const,
      );
      const body = bodyOf(model, [...question, message, ...results]);
      expect(await model.send(body, { signal: never })).toMatchObject({
        ok: true,
        message: { text: 'Done.' },
      });
      const sent = dialect.sent(server.requests[1]?.body ?? '');
      expect(sent.reasoning).toEqual(dialect.back.reasoning);
      expect(sent.inputs.map((input) => (typeof input === 'string' ? JSON.parse(input) : input))).toEqual([
        { n: 1 },
        { n: 2 },
      ]);
      expect(sent.results).toEqual([
        ['call_1', 'of call_1'],
        ['call_2', 'of call_2'],
      ]);
      expect(sent.roles).toEqual(dialect.back.roles);
      if (differs.exactBytes) expect(server.requests[1]?.body).toBe(body);
    });

    test('a message is the same bytes each time, and a body has them in it', () => {
      const model = modelAt('http://127.0.0.1:9/v1');
      const [, user] = question;
      expect(model.message(user)).toBe(model.message({ text: user.text, role: user.role }));
      expect(bodyOf(model, question)).toBe(bodyOf(model, question));
    });

    const whole = ({ calls = [] }: Scripted) =>
      dialect.arguments === 'text' || calls.every(({ pieces }) => isJson(pieces.join('') || '{}'));
    const answers: [string, Scripted, object][] = [
      ['nothing in it', { finish: 'stop' }, { finish: 'stop', message: { text: '', calls: [] } }],
      [
        'a text with nothing in it',
        { text: [''], finish: 'stop' },
        { finish: 'stop', message: { text: '' } },
      ],
      ['a text withheld', { text: ['I'], finish: 'content-filter' }, { finish: 'content-filter' }],
      ['a text cut off by the output limit', { text: ['I'], finish: 'length' }, { finish: 'length' }],
      [
        'a call cut off by the output limit',
        { calls: [{ id: 'c', name: 'look', pieces: ['{"n":'] }], finish: 'length' },
        { finish: 'length' },
      ],
      [
        'one id twice',
        {
          calls: [
            { id: 'c', name: 'look', pieces: ['{"n":1}'] },
            { id: 'c', name: 'look', pieces: ['{"n":2}'] },
          ],
          finish: 'tool-calls',
        },
        {
          message: {
            calls: [
              { id: 'c', arguments: '{"n":1}' },
              { id: differs.idTwice ? 'c' : expect.any(String), arguments: '{"n":2}' },
            ],
          },
        },
      ],
      [
        'a long integer, digit for digit',
        {
          calls: [{ id: 'c', name: 'look', pieces: ['{"n":25122920', '42121000001}'] }],
          finish: 'tool-calls',
        },
        { message: { calls: [{ arguments: '{"n":2512292042121000001}' }] } },
      ],
      [
        'a call without arguments',
        { calls: [{ id: 'c', name: 'look', pieces: [] }], finish: 'tool-calls' },
        { message: { calls: [{ arguments: differs.emptyArguments }] } },
      ],
      [
        'broken arguments',
        { calls: [{ id: 'c', name: 'look', pieces: ['{"n": oops}'] }], finish: 'tool-calls' },
        { message: { calls: [{ arguments: '{"n": oops}' }] } },
      ],
      [
        'a call that the server says is no reason to stop',
        { calls: [{ id: 'c', name: 'look', pieces: ['{}'] }], finish: 'stop' },
        { finish: 'tool-calls' },
      ],
    ];
    test.each(answers.filter(([, scripted]) => whole(scripted)))(
      'an answer with %s',
      async (_name, scripted, expected) => {
        expect(await answered(await answering(scripted))).toMatchObject(expected);
      },
    );

    test.each([
      ['{"n":2512292042121000001}', differs.longInteger],
      ['', '{}'],
      ['{"n": "\\ud83d"}', '{"n":"\ufffd"}'],
      ['{"n": "\\ud83d\\ude00 \\\\ud83d"}', '{"n":"😀 \\\\ud83d"}'],
    ])('the arguments %j go back to the server as an object that it can read', async (args, expected) => {
      const server = await answering({ text: ['Done.'], finish: 'stop' });
      const model = modelAt(server.url);
      const calls = [{ id: 'c', name: 'look', arguments: args }];
      const body = bodyOf(model, [
        ...question,
        { role: 'assistant', text: '', calls },
        { role: 'tool', callId: 'c', name: 'look', text: 'x' },
      ]);
      expect(await model.send(body, { signal: never })).toMatchObject({ ok: true });
      const takesText = dialect.name.startsWith('openai');
      const [input] = dialect.sent(
        takesText ? (server.requests[0]?.body ?? '') : exact(server.requests[0]?.body ?? ''),
      ).inputs;
      const text = typeof input === 'string' ? input : JSON.stringify(input);
      // Our own wires of OpenAI's dialects send the arguments as the text that they are.
      const asText = takesText && differs.exactBytes;
      expect(text.replace(/"(\d{16,})#"/, '$1')).toBe(asText ? args : expected);
    });

    test('half a surrogate pair never makes a request invalid', async () => {
      const server = await answering({ text: ['Done.'], finish: 'stop' });
      const model = modelAt(server.url);
      const body = bodyOf(model, [
        { role: 'user', text: 'a\ud83d' },
        {
          role: 'assistant',
          text: '\udc00b',
          calls: [{ id: 'c', name: 'look', arguments: '{"n":"\ud83d"}' }],
        },
        { role: 'tool', callId: 'c', name: 'look', text: 'c\ud83d' },
      ]);
      expect(await model.send(body, { signal: never })).toMatchObject({ ok: true });
      const request = server.requests[0]?.body ?? '';
      expect(request.match(/\ufffd/g)).toHaveLength(4);
      expect(request).not.toMatch(/\\ud[89a-f]/i);
    });

    test('an error in mid-stream is a failure, with what was used as far as it is known', async () => {
      const server = await streaming(
        upTo('Half', { text: ['Half'], finish: 'stop' }) + dialect.error('overloaded_error', 'Too busy'),
      );
      const reply = failed(await ask(server));
      expect(reply).toMatchObject({
        error: {
          code: 'model.provider-error',
          message: expect.stringContaining('Too busy'),
          next: expect.any(String),
        },
        dispatched: 'yes',
        retryable: false,
      });
      expect(reply.usage.totalTokens).toBeNull();
      expect(Buffer.from(reply.raw ?? []).toString()).toContain('Half');
    });

    test.each(['politely', 'by a broken connection'])('an answer cut off %s is no answer', async (how) => {
      const server = await serve((response, request) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        const half = upTo('ße, ', full);
        if (how === 'politely') response.end(half);
        else response.write(half, () => setTimeout(() => request.socket.resetAndDestroy(), 30));
      });
      expect(failed(await ask(server))).toMatchObject({
        error: { code: 'model.cut' },
        dispatched: 'yes',
        retryable: false,
      });
    });

    test('an end without the mark, after the reason to stop', async () => {
      const server = await streaming(
        dialect
          .events({ text: ['All'], finish: 'stop' })
          .slice(0, -1)
          .join(''),
      );
      const reply = await ask(server);
      if (differs.wholeWithoutMark) expect(reply).toMatchObject({ ok: true, message: { text: 'All' } });
      else expect(failed(reply)).toMatchObject({ error: { code: 'model.cut' } });
    });

    test('an empty response is no answer', async () => {
      expect(failed(await ask(await streaming('')))).toMatchObject({
        error: { code: 'model.cut' },
        retryable: false,
      });
    });

    const nothing = { ...noUsage, modelCalls: 1 };
    test.each<[number, string, object]>([
      [
        401,
        'authentication_error',
        { error: { code: 'model.unauthorized' }, usage: nothing, retryable: false },
      ],
      [400, 'invalid_request_error', { error: { code: 'model.rejected' }, usage: nothing, retryable: false }],
      [404, 'not_found_error', { error: { code: 'model.not-found' }, usage: nothing, retryable: false }],
      [429, 'rate_limit_error', { error: { code: 'model.rate-limited' }, usage: nothing, retryable: true }],
      [500, 'api_error', { error: { code: 'model.server-error' }, usage: unknownUsage, retryable: true }],
      [
        529,
        'overloaded_error',
        { error: { code: 'model.server-error' }, usage: unknownUsage, retryable: true },
      ],
    ])('HTTP %i is named, asked once, and its wait is told', async (status, code, expected) => {
      const server = await serve((response) => {
        response.writeHead(status, { 'content-type': 'application/json', 'retry-after': '7' });
        response.end(dialect.fault(code, 'Not today'));
      });
      const reply = failed(await ask(server));
      expect(reply).toMatchObject({ ...expected, httpStatus: status, dispatched: 'yes', retryAfterMs: 7000 });
      expect(reply.error.message).toContain('Not today');
      expect(server.requests).toHaveLength(1);
    });

    test('no connection is proof that nothing was sent', async () => {
      const server = await serve(() => {});
      await server.close();
      expect(failed(await ask(server))).toMatchObject({
        error: { code: 'model.unreachable' },
        dispatched: 'no',
        usage: nothing,
        retryable: true,
      });
    });

    test('a cancel before it is sent sends nothing; one under way closes the connection', async () => {
      const server = await serve((response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(upTo('Half', { text: ['Half'], finish: 'stop' }));
      });
      const model = modelAt(server.url);
      const body = bodyOf(model, question);
      const cancelled = { ok: false, error: { code: 'model.cancelled' }, retryable: false };
      expect(await model.send(body, { signal: AbortSignal.abort() })).toMatchObject({
        ...cancelled,
        dispatched: 'no',
      });
      expect(server.requests).toHaveLength(0);
      const cancel = new AbortController();
      const under = model.send(body, {
        signal: cancel.signal,
        onDelta: () => setTimeout(() => cancel.abort(), 10),
      });
      expect(await under).toMatchObject({ ...cancelled, dispatched: 'yes', usage: { totalTokens: null } });
      await expect.poll(() => server.sockets[0]?.destroyed).toBe(true);
    });

    test('closing cancels what is under way and refuses what comes after', async () => {
      const server = await serve((response) => response.writeHead(200).write(': wait\n\n'));
      const model = modelAt(server.url);
      const under = model.send(bodyOf(model, question), { signal: never });
      await expect.poll(() => server.requests.length).toBe(1);
      await model.close();
      expect(await under).toMatchObject({ ok: false, error: { code: 'model.cancelled' } });
      expect(await model.send(bodyOf(model, question), { signal: never })).toMatchObject({
        ok: false,
        error: { code: 'model.cancelled' },
        dispatched: 'no',
      });
      expect(server.requests).toHaveLength(1);
    });

    test('a parameter that the wire writes itself is refused', () => {
      const model = modelAt('http://127.0.0.1:9/v1');
      const parts = { messages: [], tools: '', maxTokens: null };
      expect(() => model.body({ ...parts, parameters: { [dialect.reserved]: [] } })).toThrow(
        expect.objectContaining({ code: 'wire.bad-parameter' }),
      );
    });
  });
}

// A parsed body would have rounded long integers: they are marked as texts first.
function exact(body: string): string {
  return body.replace(/([:[,] ?)(\d{16,})/g, '$1"$2#"');
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
