// A provider on loopback in a process of its own that answers every request with a stream of 2,000 small deltas, each in
// a chunk of its own: OpenAI's dialect, or Anthropic's at /v1/messages.
import { createServer } from 'node:http';

const words = ['The ', 'stock ', 'of ', 'part ', 'Ü', '7 ', 'is ', '42', '. ', '\n'];
const deltas = Array.from({ length: 2000 }, (_, i) => words[i % words.length]);
const data = (value) => `data: ${JSON.stringify(value)}\n\n`;
const event = (type, value) => `event: ${type}\n${data({ type, ...value })}`;

const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'bench' };
const choice = (delta, finish_reason) => data({ ...head, choices: [{ index: 0, delta, finish_reason }] });
const chat = [
  ...deltas.map((content) => choice({ content }, null)),
  choice({}, 'stop'),
  data({ ...head, choices: [], usage: { prompt_tokens: 100, completion_tokens: 2000, total_tokens: 2100 } }),
  'data: [DONE]\n\n',
];

const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'bench',
  content: [],
  stop_reason: null,
  stop_sequence: null,
  usage: { input_tokens: 100, output_tokens: 1 },
};
const messages = [
  event('message_start', { message }),
  event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
  ...deltas.map((text) => event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } })),
  event('content_block_stop', { index: 0 }),
  event('message_delta', {
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: 2000 },
  }),
  event('message_stop', {}),
];

const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const part of request.url.endsWith('/messages') ? messages : chat) response.write(part);
    response.end();
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
// A benchmark that was ended leaves no server, which would hold its output open for whoever reads it.
process.on('disconnect', () => process.exit());
