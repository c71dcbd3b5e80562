/** Reads what pi prints with `--mode json`. */
import type { Adapter, StreamReader } from '../../adapter.ts';
import { contentText, lineObject, numberAt, objectAt, textAt } from '../../json-line.ts';
import type { Observed } from '../../observed.ts';

export const reports = ['modelCalls', 'tokens'] as const satisfies Adapter['reports'];

type Members = Readonly<Record<string, unknown>>;

export function openStream(): StreamReader {
  // It asks again by itself, and ends with code 0 whatever came of it: the last turn decides.
  let last: Members | undefined;

  const read = (event: Members): readonly Observed[] => {
    switch (event.type) {
      case 'session':
        return [{ type: 'session', id: textAt(event, 'id') ?? '' }];
      case 'message_update':
        return pieceOf(objectAt(event, 'assistantMessageEvent'));
      case 'message_end':
        return messageOf(objectAt(event, 'message'));
      case 'tool_execution_start':
        return callOf(event);
      case 'tool_execution_end':
        return resultOf(event);
      case 'auto_retry_start':
        return [{ type: 'retry', reason: textAt(event, 'errorMessage') ?? '' }];
      case 'turn_end':
        last = objectAt(event, 'message');
        return [{ type: 'turn-end' }];
      default:
        return [];
    }
  };

  return {
    line(text) {
      const event = lineObject(text);
      return event === undefined ? [] : read(event).filter((one) => one.type !== 'session' || one.id !== '');
    },
    end: () => (last === undefined ? [] : [endOf(last)]),
  };
}

function pieceOf(event: Members): readonly Observed[] {
  const text = textAt(event, 'delta') ?? '';
  if (event.type === 'text_delta') return [{ type: 'text-delta', text }];
  return event.type === 'thinking_delta' ? [{ type: 'reasoning-delta', text }] : [];
}

function messageOf(message: Members): readonly Observed[] {
  if (message.role !== 'assistant') return [];
  const model = textAt(message, 'responseModel') ?? textAt(message, 'model');
  return [...(model === undefined ? [] : [{ type: 'model', name: model } as const]), usageOf(message)];
}

function callOf(event: Members): readonly Observed[] {
  const [callId, tool] = [textAt(event, 'toolCallId'), textAt(event, 'toolName')];
  if (callId === undefined || tool === undefined) return [];
  return [{ type: 'tool-call', callId, tool, arguments: JSON.stringify(objectAt(event, 'args')) }];
}

function resultOf(event: Members): readonly Observed[] {
  const callId = textAt(event, 'toolCallId');
  if (callId === undefined) return [];
  const text = contentText(objectAt(event, 'result').content);
  return [{ type: 'tool-result', callId, status: event.isError === true ? 'failed' : 'ok', text }];
}

function endOf(message: Members): Observed {
  const error = textAt(message, 'errorMessage');
  const reason = textAt(message, 'stopReason');
  if (error !== undefined) return { type: 'finish', ok: false, message: error };
  if (reason === 'stop') return { type: 'finish', ok: true, answer: contentText(message.content) };
  return { type: 'finish', ok: false, message: `its last turn ended with ${reason ?? 'no reason'}` };
}

/** `input` is without the cached part. What a failed request used is not known, although zeros stand there. */
function usageOf(message: Members): Observed {
  const usage = objectAt(message, 'usage');
  const known = textAt(message, 'errorMessage') === undefined;
  const count = (name: string) => (known ? numberAt(usage, name) : null);
  const [input, read, written] = [count('input'), count('cacheRead'), count('cacheWrite')];
  const cost = known ? numberAt(usage, 'cost', 'total') : null;
  return {
    type: 'usage',
    id: textAt(message, 'responseId') ?? null,
    scope: 'message',
    usage: {
      promptTokens: input === null ? null : input + (read ?? 0) + (written ?? 0),
      cachedTokens: read,
      cacheWriteTokens: written,
      completionTokens: count('output'),
      reasoningTokens: null,
    },
    // Where it knows no price it says zero.
    costUsd: cost === 0 ? null : cost,
    costLane: 'estimated',
  };
}
