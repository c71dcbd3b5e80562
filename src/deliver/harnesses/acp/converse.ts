/** One turn with an agent of the Agent Client Protocol, over its standard streams, through the official SDK. */
import {
  client,
  methods,
  type NewSessionRequest,
  ndJsonStream,
  PROTOCOL_VERSION,
  RequestError,
} from '@agentclientprotocol/sdk';
import type { AcpTurn } from '../../../protocol/delivery.ts';
import type { Conversation } from '../../adapter.ts';
import { contentText, listAt, numberAt, objectAt, textAt } from '../../json-line.ts';
import type { Observed } from '../../observed.ts';

/**
 * Opens a session, gives it the task and tells what comes. Nothing of ours is offered to the agent, and a permission
 * that it asks for is denied and fails the turn: nobody is there who could give one.
 */
export async function converse(turn: AcpTurn, { input, output, tell }: Conversation): Promise<void> {
  let denied: string | null = null;
  const app = client({ name: 'writ' })
    .onNotification(methods.client.session.update, ({ params }) => {
      for (const one of updateOf(params.update)) tell(one);
    })
    .onRequest(methods.client.session.requestPermission, ({ params }) => {
      denied ??= textAt(params, 'toolCall', 'title') ?? 'something that it does not name';
      throw new RequestError(-32_000, 'Nobody is there who could give a permission.');
    });
  await app.connectWith(ndJsonStream(input, output), async (agent) => {
    await agent.request(methods.agent.initialize, {
      protocolVersion: PROTOCOL_VERSION,
      clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
    });
    // The plan holds them as JSON; the adapter made them in this form.
    const parameters = turn.session as unknown as NewSessionRequest;
    const session = await agent.request(methods.agent.session.new, parameters);
    tell({ type: 'session', id: session.sessionId });
    const end = await agent.request(methods.agent.session.prompt, {
      sessionId: session.sessionId,
      prompt: [{ type: 'text', text: turn.prompt }],
    });
    tell(usageOf(end));
    tell(endOf(end.stopReason, denied));
  });
}

function updateOf(update: unknown): readonly Observed[] {
  const text = contentText([objectAt(update, 'content')]);
  const callId = textAt(update, 'toolCallId');
  switch (textAt(update, 'sessionUpdate')) {
    case 'agent_message_chunk':
      return [{ type: 'text-delta', text }];
    case 'agent_thought_chunk':
      return [{ type: 'reasoning-delta', text }];
    case 'tool_call':
    case 'tool_call_update':
      return callId === undefined ? [] : callOf(callId, objectAt(update));
    default:
      return [];
  }
}

/** A call is named by its kind; later updates of it bring its end. */
function callOf(callId: string, update: Readonly<Record<string, unknown>>): readonly Observed[] {
  const made: readonly Observed[] =
    update.sessionUpdate === 'tool_call'
      ? [
          {
            type: 'tool-call',
            callId,
            tool: textAt(update, 'kind') ?? 'other',
            arguments: JSON.stringify(update.rawInput ?? { title: update.title ?? '' }),
          },
        ]
      : [];
  const { status } = update;
  if (status !== 'completed' && status !== 'failed') return made;
  const text = listAt(update, 'content')
    .map((part) => contentText([objectAt(part, 'content')]))
    .join('\n');
  return [...made, { type: 'tool-result', callId, status: status === 'completed' ? 'ok' : 'failed', text }];
}

function usageOf(end: unknown): Observed {
  const count = (name: string) => numberAt(end, 'usage', name);
  return {
    type: 'usage',
    id: null,
    scope: 'session',
    usage: {
      promptTokens: count('inputTokens'),
      cachedTokens: count('cachedReadTokens'),
      cacheWriteTokens: count('cachedWriteTokens'),
      completionTokens: count('outputTokens'),
      reasoningTokens: count('thoughtTokens'),
    },
    costUsd: null,
    costLane: null,
  };
}

function endOf(stopReason: string, denied: string | null): Observed {
  if (denied !== null)
    return {
      type: 'finish',
      ok: false,
      message: `it asked for a permission that nobody could give: ${denied}`,
    };
  if (stopReason === 'end_turn') return { type: 'finish', ok: true, answer: null };
  return { type: 'finish', ok: false, message: `its turn ended with ${stopReason}` };
}
