// A provider on loopback in a process of its own, so that its work is not counted as the client's.
// It asks for one tool call per turn until the conversation holds enough results, then answers. Streams when asked to.
import { createServer } from 'node:http';

const turns = Number(process.argv[2]);
const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };

const server = createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const body = Buffer.concat(chunks);
    const results = body.toString('latin1').split('"role":"tool"').length - 1;
    const stream = body.includes('"stream":true');
    const finished = results >= turns - 1;
    const message = finished
      ? { role: 'assistant', content: 'The total is 42.' }
      : {
          role: 'assistant',
          content: null,
          tool_calls: [
            {
              index: 0,
              id: `call_${results}`,
              type: 'function',
              function: { name: 'lookup', arguments: `{"name":"part ${results}"}` },
            },
          ],
        };
    const finish = finished ? 'stop' : 'tool_calls';
    const head = {
      id: 'chat',
      object: stream ? 'chat.completion.chunk' : 'chat.completion',
      created: 1,
      model: 'bench',
    };
    if (!stream) {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({ ...head, choices: [{ index: 0, message, finish_reason: finish }], usage }),
      );
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const send = (value) => `data: ${JSON.stringify({ ...head, ...value })}\n\n`;
    response.end(
      send({ choices: [{ index: 0, delta: message, finish_reason: null }] }) +
        send({ choices: [{ index: 0, delta: {}, finish_reason: finish }] }) +
        send({ choices: [], usage }) +
        'data: [DONE]\n\n',
    );
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
// A benchmark that was ended leaves no server, which would hold its output open for whoever reads it.
process.on('disconnect', () => process.exit());
