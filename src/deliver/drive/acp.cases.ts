/** An agent of the Agent Client Protocol for tests, as the body of a program of the drive rig. */
import type { Cell } from '../../protocol/delivery.ts';

/** A measurement that lets its text pass. */
export const acpCell: Cell = {
  harness: 'acp',
  version: 'program.mjs 1.0.0',
  modelFamily: 'default',
  authMode: 'api-key',
  intent: 'append',
  fidelity: 'base',
  control: '_meta.systemPrompt',
  delivered: true,
  position: { field: 'messages', role: 'system', index: 0 },
  residue: { bytes: 0, firstWords: '' },
  builtInBytes: null,
  byteEquality: true,
  altered: [],
  date: '2026-01-01',
};

/** An agent that answers the protocol; `prompt` is what it does with a prompt. It reads its input as it comes (early). */
export const acpAgent = (prompt: string) => `
const send = (message) => say(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const update = (update) => send({ method: 'session/update', params: { sessionId: 's-1', update } });
let asked = 900;
const ask = (method, params) => send({ id: (asked += 1), method, params });
let promptId;
const done = (stopReason) => send({ id: promptId, result: { stopReason } });
const { createInterface } = await import('node:readline');
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params, error } = JSON.parse(line);
  appendFileSync(${'log'} + '.messages', line + '\\n');
  if (method === 'initialize') send({ id, result: { protocolVersion: 1, agentCapabilities: {} } });
  if (method === 'session/new') send({ id, result: { sessionId: 's-1' } });
  if (method === 'session/prompt') { promptId = id; ${prompt} }
  if (error) done('end_turn');
}).on('close', () => {});
setInterval(() => {}, 1000);
/* early */`;
