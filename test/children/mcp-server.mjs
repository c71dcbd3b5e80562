// An MCP server that tests drive: its tools, and how it misbehaves, come from its environment and from what it is told.
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync } from 'node:fs';
import { Server } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';

const text = (value) => ({ content: [{ type: 'text', text: value }] });
const none = { type: 'object', properties: {} };
let tools = [
  {
    name: 'write',
    description: 'Writes a line.',
    inputSchema: { type: 'object', properties: { line: { type: 'string' } }, required: ['line'] },
  },
  { name: 'look', description: 'Looks.', inputSchema: none, annotations: { readOnlyHint: true } },
  {
    name: 'environment',
    description: 'The environment.',
    inputSchema: none,
    annotations: { readOnlyHint: true },
  },
  { name: 'crash', description: 'Ends.', inputSchema: none },
  { name: 'hang', description: 'Never answers.', inputSchema: none, annotations: { readOnlyHint: true } },
  { name: 'change', description: 'Changes the tool look, adds one and drops one.', inputSchema: none },
];
if (process.argv.includes('broken'))
  tools.push({
    name: 'broken',
    inputSchema: { type: 'object', properties: { a: { type: 'no-such-type' } } },
  });
if (process.argv.includes('halved'))
  tools.push({ name: 'halved', description: 'Half \ud83d of it.', inputSchema: none });
if (process.argv.includes('reversed')) tools.reverse();
// A helper of the server that must not outlive it.
if (process.env.PIDS) {
  const helper = spawn('sleep', ['600'], { stdio: 'inherit' });
  helper.unref();
  appendFileSync(process.env.PIDS, `${process.pid}\n${helper.pid}\n`);
}
if (process.argv.includes('stubborn')) {
  process.on('SIGTERM', () => {});
  setInterval(() => {}, 1_000);
}
if (process.env.OTHER && existsSync(process.env.OTHER))
  tools = tools.map((tool) => ({ ...tool, description: `${tool.description} Otherwise.` }));

const server = new Server(
  { name: 'driven', version: '1' },
  { capabilities: { tools: { listChanged: true } } },
);
server.setRequestHandler('tools/list', () => ({ tools }));
server.setRequestHandler('tools/call', async ({ params }) => {
  const { name, arguments: args = {} } = params;
  switch (name) {
    case 'write':
      // Each line is one real effect that a test can count.
      if (process.env.EFFECTS) appendFileSync(process.env.EFFECTS, `${args.line}\n`);
      return text(`wrote ${args.line}`);
    case 'environment':
      return text(JSON.stringify(process.env));
    case 'crash':
      process.stderr.write('it all went wrong\n');
      process.exit(7);
      break;
    case 'hang':
      return new Promise(() => {});
    case 'change':
      tools = tools
        .filter((tool) => tool.name !== 'environment')
        .map((tool) => (tool.name === 'look' ? { ...tool, description: 'Looks elsewhere.' } : tool));
      await server.sendToolListChanged();
      return text('changed');
    default:
      return text(`${name} looked`);
  }
});
if (process.argv.includes('noisy')) console.log('Welcome to the driven server!');
if (process.argv.includes('brittle'))
  process.stdin.once('data', (chunk) => {
    // As some older servers do at whatever comes before the handshake.
    if (!chunk.includes('"initialize"')) process.exit(9);
  });
if (process.argv.includes('silent')) process.stdin.resume();
else if (process.argv.includes('modern')) serveStdio(() => server);
else if (process.argv.includes('slow')) setTimeout(() => server.connect(new StdioServerTransport()), 500);
else await server.connect(new StdioServerTransport());
