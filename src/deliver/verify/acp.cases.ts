/** A small agent of the Agent Client Protocol, as a program of its own. */

/** An agent that asks the server of OPENAI_BASE_URL; `system` is what it makes of the session's parameters. */
export const acpAgent = (system: string) => `#!${process.execPath}
import { createInterface } from 'node:readline';
if (process.argv[2] === '--version') { console.log('agent 2.3.4'); process.exit(0); }
if (process.argv[2] !== '--acp') process.exit(9);
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const vendor = 'You are the vendor. ';
let system = vendor;
createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') send({ id, result: { protocolVersion: 1, agentCapabilities: {} } });
  if (method === 'session/new') {
    const meta = params._meta.systemPrompt;
    system = ${system};
    send({ id, result: { sessionId: 's-1' } });
  }
  if (method !== 'session/prompt') return;
  const messages = [{ role: 'system', content: system }, { role: 'user', content: params.prompt[0].text }];
  await (await fetch(process.env.OPENAI_BASE_URL + '/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer ' + process.env.OPENAI_API_KEY },
    body: JSON.stringify({ model: 'm1', messages }),
  })).text();
  send({ id, result: { stopReason: 'end_turn' } });
});
`;
