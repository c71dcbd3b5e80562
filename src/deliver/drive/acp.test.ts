/** An agent of the Agent Client Protocol as a real child: one turn, a permission that nobody gives, and bad ends. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { acpAgent, acpCell } from './acp.cases.ts';
import { type DriveRig, openDriveRig } from './drive.cases.ts';

let rig: DriveRig;
afterEach(() => rig.close());

async function run(prompt: string) {
  rig = await openDriveRig('acp', acpAgent(prompt));
  const program = join(rig.root, 'program.mjs');
  return rig.run(
    'Say done.',
    { lowered: all },
    { program, measured: [acpCell], dimensions: { agent: [program] } },
  );
}

const all = { budget: 'none', approval: 'none', effects: 'none', resume: 'none', cancel: 'none' } as const;
const text = (kind: string, words: string) =>
  `update({ sessionUpdate: '${kind}', content: { type: 'text', text: '${words}' } });`;

test('a turn: text, thought, a call of its own, and the end; the agent that waits on is ended', async () => {
  const result = await run(
    [
      text('agent_thought_chunk', 'Hm.'),
      text('agent_message_chunk', 'I look. '),
      "update({ sessionUpdate: 'tool_call', toolCallId: 'c1', title: 'Reads notes', kind: 'read', status: 'pending', rawInput: { path: 'notes' } });",
      "update({ sessionUpdate: 'tool_call_update', toolCallId: 'c1', status: 'completed', content: [{ type: 'content', content: { type: 'text', text: 'green' } }] });",
      text('agent_message_chunk', 'Do'),
      text('agent_message_chunk', 'ne.'),
      "done('end_turn');",
    ].join('\n'),
  );
  expect(result).toMatchObject({ status: 'completed', answer: 'Done.', turns: 2, toolCalls: 1 });
  expect(rig.events.find(({ type }) => type === 'tool-call')).toMatchObject({
    tool: 'read',
    arguments: '{"path":"notes"}',
    observed: true,
  });
  expect(result.usage).toMatchObject({ totalTokens: null, costUsd: null });
  const sent = (await readFile(join(rig.root, 'starts.jsonl.messages'), 'utf8')).trim().split('\n');
  expect(sent.map((line) => JSON.parse(line).params)).toMatchObject([
    { protocolVersion: 1, clientCapabilities: { fs: { readTextFile: false } } },
    { cwd: rig.workspace, mcpServers: [], _meta: { systemPrompt: { append: 'You answer tests.' } } },
    { sessionId: 's-1', prompt: [{ type: 'text', text: 'Say done.' }] },
  ]);
});

test('a permission is denied, which fails the turn', async () => {
  const result = await run(
    `${text('agent_message_chunk', 'Done.')} ask('session/request_permission', { sessionId: 's-1', toolCall: { toolCallId: 'c1', title: 'Removes all' }, options: [{ optionId: 'a', name: 'Allow', kind: 'allow_once' }] });`,
  );
  expect(result).toMatchObject({
    status: 'failed',
    error: { code: 'deliver.program-failed', message: expect.stringContaining('Removes all') },
  });
});

test.each([
  ["done('max_tokens');", /max_tokens/],
  ["send({ id: promptId, error: { code: -32603, message: 'no such model' } });", /no such model/],
  ['process.exit(7);', /exit code 7/],
])('%s is no answer', async (prompt, message) => {
  const result = await run(text('agent_message_chunk', 'Half.') + prompt);
  expect(result).toMatchObject({ status: 'failed', answer: null });
  expect(result.error?.message).toMatch(message);
});
