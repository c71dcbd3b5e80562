/** Reads what Codex prints with `exec --json`. */
import type { Adapter, StreamReader } from '../../adapter.ts';
import { contentText, lineObject, listAt, numberAt, objectAt, textAt } from '../../json-line.ts';
import type { Observed } from '../../observed.ts';

export const reports = ['tokens'] as const satisfies Adapter['reports'];

type Members = Readonly<Record<string, unknown>>;

export function openStream(): StreamReader {
  let answer: string | null = null;
  let error: string | null = null;

  const itemEvent = (item: Members, isDone: boolean): readonly Observed[] => {
    const id = textAt(item, 'id') ?? null;
    const text = textAt(item, 'text') ?? '';
    if (item.type === 'agent_message') {
      if (isDone) answer = text;
      return isDone ? [{ type: 'text', id, text }] : [];
    }
    if (item.type === 'reasoning') return isDone ? [{ type: 'reasoning-delta', text }] : [];
    const call = callOf(item);
    if (id === null || call === undefined) return [];
    const made: Observed = { type: 'tool-call', callId: id, ...call };
    return isDone ? [made, resultOf(id, item)] : [made];
  };

  const failure = (event: Members): readonly Observed[] => {
    const message = textAt(event, 'message') ?? '';
    if (message.startsWith('Reconnecting')) return [{ type: 'retry', reason: message }];
    error = message;
    return [];
  };

  const read = (event: Members): readonly Observed[] => {
    switch (event.type) {
      case 'thread.started':
        return [{ type: 'session', id: textAt(event, 'thread_id') ?? '' }];
      case 'item.started':
      case 'item.completed':
        return itemEvent(objectAt(event, 'item'), event.type === 'item.completed');
      case 'error':
        return failure(event);
      case 'turn.failed':
        return [{ type: 'finish', ok: false, message: textAt(event, 'error', 'message') ?? error ?? '' }];
      case 'turn.completed':
        return [usageOf(objectAt(event, 'usage')), { type: 'finish', ok: true, answer }];
      default:
        return [];
    }
  };

  return {
    line(text) {
      const event = lineObject(text);
      return event === undefined ? [] : read(event).filter((one) => one.type !== 'session' || one.id !== '');
    },
    end: () => [],
  };
}

/** What it ran, under the names that a person would look for. */
function callOf(item: Members): { readonly tool: string; readonly arguments: string } | undefined {
  switch (item.type) {
    case 'command_execution':
      return { tool: 'shell', arguments: JSON.stringify({ command: item.command ?? '' }) };
    case 'mcp_tool_call':
      return {
        tool: `${textAt(item, 'server') ?? ''}_${textAt(item, 'tool') ?? ''}`,
        arguments: JSON.stringify(item.arguments ?? {}),
      };
    case 'web_search':
      return { tool: 'web_search', arguments: JSON.stringify({ query: item.query ?? '' }) };
    case 'file_change':
      return { tool: 'apply_patch', arguments: JSON.stringify({ changes: item.changes ?? [] }) };
    default:
      return undefined;
  }
}

function resultOf(callId: string, item: Members): Observed {
  const code = numberAt(item, 'exit_code');
  const failed = item.status === 'failed' || (code !== null && code !== 0);
  const denied = item.status === 'declined';
  const text =
    textAt(item, 'aggregated_output') ??
    textAt(item, 'error', 'message') ??
    contentText(listAt(item, 'result', 'content'));
  return { type: 'tool-result', callId, status: denied ? 'denied' : failed ? 'failed' : 'ok', text };
}

function usageOf(usage: Members): Observed {
  return {
    type: 'usage',
    id: null,
    scope: 'session',
    usage: {
      promptTokens: numberAt(usage, 'input_tokens'),
      cachedTokens: numberAt(usage, 'cached_input_tokens'),
      cacheWriteTokens: numberAt(usage, 'cache_write_input_tokens'),
      completionTokens: numberAt(usage, 'output_tokens'),
      reasoningTokens: numberAt(usage, 'reasoning_output_tokens'),
    },
    costUsd: null,
    costLane: null,
  };
}
