/** Reads what opencode prints with `run --format json`. */
import type { Adapter, StreamReader } from '../../adapter.ts';
import { lineObject, numberAt, objectAt, textAt } from '../../json-line.ts';
import type { Observed } from '../../observed.ts';

export const reports = ['modelCalls', 'tokens'] as const satisfies Adapter['reports'];

type Members = Readonly<Record<string, unknown>>;

export function openStream(): StreamReader {
  let error: string | null = null;
  let reason: string | undefined;

  const read = (event: Members): readonly Observed[] => {
    const part = objectAt(event, 'part');
    const text = textAt(part, 'text') ?? '';
    switch (event.type) {
      case 'text':
        return [{ type: 'text', id: textAt(part, 'messageID') ?? null, text }];
      case 'reasoning':
        return [{ type: 'reasoning-delta', text }];
      case 'tool_use':
        return callOf(part);
      case 'step_finish':
        reason = textAt(part, 'reason');
        return [usageOf(part), { type: 'turn-end' }];
      case 'error': {
        const { name, data } = objectAt(event, 'error');
        error = textAt(data, 'message') ?? JSON.stringify(event.error ?? name ?? null).slice(0, 400);
        return [];
      }
      default:
        return [];
    }
  };

  return {
    line(line) {
      const event = lineObject(line);
      if (event === undefined) return [];
      const id = textAt(event, 'sessionID');
      return [...(id === undefined ? [] : [{ type: 'session', id } as const]), ...read(event)];
    },
    // It says nothing of its end: an error that it told, or else its last step, does.
    end() {
      if (error !== null) return [{ type: 'finish', ok: false, message: error }];
      if (reason === 'stop') return [{ type: 'finish', ok: true, answer: null }];
      if (reason === undefined) return [];
      return [{ type: 'finish', ok: false, message: `its last step ended with ${reason}` }];
    },
  };
}

function callOf(part: Members): readonly Observed[] {
  const [callId, tool] = [textAt(part, 'callID'), textAt(part, 'tool')];
  if (callId === undefined || tool === undefined) return [];
  const state = objectAt(part, 'state');
  const text = textAt(state, 'output') ?? textAt(state, 'error') ?? '';
  return [
    { type: 'tool-call', callId, tool, arguments: JSON.stringify(objectAt(state, 'input')) },
    { type: 'tool-result', callId, status: state.status === 'completed' ? 'ok' : 'failed', text },
  ];
}

/** `input` is without the cached part, `output` without the reasoning. */
function usageOf(part: Members): Observed {
  const tokens = objectAt(part, 'tokens');
  const [input, output] = [numberAt(tokens, 'input'), numberAt(tokens, 'output')];
  const [read, written] = [numberAt(tokens, 'cache', 'read'), numberAt(tokens, 'cache', 'write')];
  const reasoning = numberAt(tokens, 'reasoning');
  const cost = numberAt(part, 'cost');
  return {
    type: 'usage',
    id: textAt(part, 'messageID') ?? null,
    scope: 'message',
    usage: {
      promptTokens: input === null ? null : input + (read ?? 0) + (written ?? 0),
      cachedTokens: read,
      cacheWriteTokens: written,
      completionTokens: output === null ? null : output + (reasoning ?? 0),
      reasoningTokens: reasoning,
    },
    // Where it knows no price it says zero.
    costUsd: cost === 0 ? null : cost,
    costLane: 'estimated',
  };
}
