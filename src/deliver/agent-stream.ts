/** The reader of the JSON lines that Claude Code prints, and programs that took over its form. */
import type { StreamReader } from './adapter.ts';
import { contentText, lineObject, listAt, numberAt, objectAt, textAt } from './json-line.ts';
import type { Observed, ObservedUsage } from './observed.ts';

export interface AgentStreamOptions {
  /** Whether the cached part of a prompt is counted in `input_tokens` already. */
  readonly cachedIsInput: boolean;
  /** Whether the result counts this run alone, or all since its session began. */
  readonly resultScope: 'run' | 'session';
  /** What a result says that looks like a success; null for one that is. */
  readonly hiddenFault?: (result: string) => string | null;
}

type Members = Readonly<Record<string, unknown>>;

export function openAgentStream({
  cachedIsInput,
  resultScope,
  hiddenFault,
}: AgentStreamOptions): StreamReader {
  let messageId: string | null = null;
  let messageUsage: Members = {};
  // Its text comes as pieces and then again whole; what came as pieces is not told twice.
  let streamed = false;

  const usageOf = (usage: Members): ObservedUsage => {
    const cached = numberAt(usage, 'cache_read_input_tokens');
    const written = numberAt(usage, 'cache_creation_input_tokens');
    const input = numberAt(usage, 'input_tokens');
    return {
      promptTokens: input === null || cachedIsInput ? input : input + (cached ?? 0) + (written ?? 0),
      cachedTokens: cached,
      cacheWriteTokens: written,
      completionTokens: numberAt(usage, 'output_tokens'),
      reasoningTokens: null,
    };
  };

  const messageReport = (id: string | null, usage: Members): readonly Observed[] => {
    // Zeros of an answer that is only beginning, or was made up by the program, say nothing.
    const counted = usageOf(usage);
    if (id === null || !counted.completionTokens) return [];
    return [{ type: 'usage', id, scope: 'message', usage: counted, costUsd: null, costLane: null }];
  };

  const piece = (event: Members): readonly Observed[] => {
    switch (event.type) {
      case 'message_start':
        messageId = textAt(event, 'message', 'id') ?? null;
        messageUsage = objectAt(event, 'message', 'usage');
        return [];
      case 'content_block_delta': {
        const [text, thought] = [textAt(event, 'delta', 'text'), textAt(event, 'delta', 'thinking')];
        if (text !== undefined) streamed = true;
        if (text !== undefined) return [{ type: 'text-delta', text }];
        return thought === undefined ? [] : [{ type: 'reasoning-delta', text: thought }];
      }
      case 'message_delta':
        return messageReport(messageId, { ...messageUsage, ...objectAt(event, 'usage') });
      default:
        return [];
    }
  };

  const answer = (event: Members, isChild: boolean): readonly Observed[] => {
    const message = objectAt(event, 'message');
    const [id, model] = [textAt(message, 'id') ?? null, textAt(message, 'model')];
    // The program's own words about an error; the result says the same.
    if (model === '<synthetic>') return [];
    const said = streamed;
    streamed = false;
    return [
      ...(model === undefined || isChild ? [] : [{ type: 'model', name: model } as const]),
      ...listAt(message, 'content').flatMap((block) => blockOf(block, id, said || isChild)),
      ...messageReport(id, objectAt(message, 'usage')),
    ];
  };

  const end = (event: Members): readonly Observed[] => {
    const result = textAt(event, 'result') ?? '';
    const cost = numberAt(event, 'total_cost_usd');
    const isFault = event.is_error === true || (textAt(event, 'subtype') ?? 'success') !== 'success';
    const fault = isFault
      ? result || listAt(event, 'errors').filter(isText).join(' ') || (textAt(event, 'subtype') ?? '')
      : (hiddenFault?.(result) ?? null);
    return [
      {
        type: 'usage',
        id: null,
        scope: resultScope,
        usage: usageOf(objectAt(event, 'usage')),
        costUsd: cost,
        // Reckoned by the program from a list of prices: no bill of the provider stands behind it.
        costLane: cost === null ? null : 'estimated',
      },
      fault === null
        ? { type: 'finish', ok: true, answer: result }
        : { type: 'finish', ok: false, message: fault },
    ];
  };

  const read = (event: Members): readonly Observed[] => {
    const isChild = textAt(event, 'parent_tool_use_id') !== undefined;
    switch (event.type) {
      case 'system':
        return systemEvent(event);
      case 'stream_event':
        return isChild ? [] : piece(objectAt(event, 'event'));
      case 'assistant':
        return answer(event, isChild);
      case 'user':
        return listAt(event, 'message', 'content').flatMap(resultOf);
      case 'result':
        return end(event);
      default:
        return [];
    }
  };

  return {
    line(text) {
      const event = lineObject(text);
      if (event === undefined) return [];
      const id = textAt(event, 'session_id');
      return [...(id === undefined ? [] : [{ type: 'session', id } as const]), ...read(event)];
    },
    end: () => [],
  };
}

const isText = (value: unknown): value is string => typeof value === 'string';

function systemEvent(event: Members): readonly Observed[] {
  const model = textAt(event, 'model');
  if (event.subtype === 'init' && model !== undefined) return [{ type: 'model', name: model }];
  if (event.subtype !== 'api_retry') return [];
  const status = numberAt(event, 'error_status');
  return [
    { type: 'retry', reason: `${textAt(event, 'error') ?? 'error'}${status === null ? '' : ` (${status})`}` },
  ];
}

function blockOf(block: unknown, id: string | null, isSaid: boolean): readonly Observed[] {
  const [type, callId, tool] = [textAt(block, 'type'), textAt(block, 'id'), textAt(block, 'name')];
  if (type === 'text' && !isSaid) return [{ type: 'text', id, text: textAt(block, 'text') ?? '' }];
  if (type !== 'tool_use' || callId === undefined || tool === undefined) return [];
  return [{ type: 'tool-call', callId, tool, arguments: JSON.stringify(objectAt(block, 'input')) }];
}

function resultOf(part: unknown): readonly Observed[] {
  const callId = textAt(part, 'tool_use_id');
  if (textAt(part, 'type') !== 'tool_result' || callId === undefined) return [];
  const { content, is_error: isError } = objectAt(part);
  return [
    { type: 'tool-result', callId, status: isError === true ? 'failed' : 'ok', text: contentText(content) },
  ];
}
