/** Reads what Gemini CLI prints as JSON lines. */
import type { Adapter, StreamReader } from '../../adapter.ts';
import { lineObject, numberAt, objectAt, textAt } from '../../json-line.ts';
import type { Observed } from '../../observed.ts';

export const reports = ['tokens'] as const satisfies Adapter['reports'];

type Members = Readonly<Record<string, unknown>>;

export function openStream(): StreamReader {
  let error: string | null = null;

  const read = (event: Members): readonly Observed[] => {
    switch (event.type) {
      case 'init':
        return [
          { type: 'session', id: textAt(event, 'session_id') ?? '' },
          { type: 'model', name: textAt(event, 'model') ?? '' },
        ];
      case 'message':
        return messageOf(event);
      case 'tool_use':
        return callOf(event);
      case 'tool_result':
        return resultOf(event);
      case 'error':
        error = textAt(event, 'message') ?? error;
        return [];
      case 'result':
        return [usageOf(objectAt(event, 'stats')), endOf(event, error)];
      default:
        return [];
    }
  };

  return {
    line(text) {
      const event = lineObject(text);
      return event === undefined ? [] : read(event).filter(isSaid);
    },
    end: () => [],
  };
}

const isSaid = (one: Observed) =>
  !(one.type === 'session' && one.id === '') && !(one.type === 'model' && one.name === '');

function messageOf(event: Members): readonly Observed[] {
  const text = textAt(event, 'content') ?? '';
  if (event.role !== 'assistant') return [];
  return [event.delta === true ? { type: 'text-delta', text } : { type: 'text', id: null, text }];
}

function callOf(event: Members): readonly Observed[] {
  const [callId, tool] = [textAt(event, 'tool_id'), textAt(event, 'tool_name')];
  if (callId === undefined || tool === undefined) return [];
  return [{ type: 'tool-call', callId, tool, arguments: JSON.stringify(objectAt(event, 'parameters')) }];
}

function resultOf(event: Members): readonly Observed[] {
  const callId = textAt(event, 'tool_id');
  if (callId === undefined) return [];
  const text = textAt(event, 'output') ?? textAt(event, 'error', 'message') ?? '';
  return [{ type: 'tool-result', callId, status: event.status === 'success' ? 'ok' : 'failed', text }];
}

function endOf(event: Members, error: string | null): Observed {
  if (event.status === 'success') return { type: 'finish', ok: true, answer: null };
  return { type: 'finish', ok: false, message: textAt(event, 'error', 'message') ?? error ?? '' };
}

/** Of the answer's tokens it names those of the text alone; the rest of the total is what was thought. */
function usageOf(stats: Members): Observed {
  const [total, input] = [numberAt(stats, 'total_tokens'), numberAt(stats, 'input_tokens')];
  return {
    type: 'usage',
    id: null,
    scope: 'run',
    usage: {
      promptTokens: input,
      cachedTokens: numberAt(stats, 'cached'),
      cacheWriteTokens: null,
      completionTokens: total === null || input === null ? null : total - input,
      reasoningTokens: null,
    },
    costUsd: null,
    costLane: null,
  };
}
