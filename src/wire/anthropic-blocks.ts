/** Puts an Anthropic answer together from its content blocks, and keeps their order where a replay depends on it. */
import { type ExactJson, exactJsonText, isRecord, type Json } from '../protocol/json.ts';
import type { Reasoning, ToolCall } from '../protocol/messages.ts';
import { badCall, type CallFault, callsMax, tooManyCalls } from './call-fault.ts';
import type { WireDelta } from './wire.ts';

interface Block {
  readonly type: string;
  /** As the block began; all of it where the server does not stream. */
  readonly start: Record<string, unknown>;
  text: string;
  signature: string | undefined;
  /** Pieces of a call's input. */
  input: string;
}

/** Which block a piece without a beginning belongs to, where a server leaves the beginning out. */
const impliedTypes: Readonly<Record<string, string>> = {
  text_delta: 'text',
  thinking_delta: 'thinking',
  signature_delta: 'thinking',
  input_json_delta: 'tool_use',
};

export class ContentBlocks {
  readonly #blocks: Block[] = [];
  readonly #open = new Map<unknown, Block>();

  get empty(): boolean {
    return this.#blocks.length === 0;
  }

  /** The first tool that the provider itself has begun to run. */
  get began(): string | null {
    const block = this.#blocks.find(({ type }) => type === 'server_tool_use' || type === 'mcp_tool_use');
    return block === undefined ? null : textOf(block.start.name) || block.type;
  }

  /** A block begins, with as much in it as the server likes. Returns what of it may be shown. */
  start(index: unknown, start: unknown): WireDelta | undefined {
    if (!isRecord(start)) return undefined;
    const type = textOf(start.type);
    const text = textOf(type === 'thinking' ? start.thinking : start.text);
    const signature = typeof start.signature === 'string' ? start.signature : undefined;
    const block: Block = { type, start, text, signature, input: '' };
    this.#blocks.push(block);
    this.#open.set(index, block);
    return shown(block, text);
  }

  add(index: unknown, delta: unknown): WireDelta | undefined {
    if (!isRecord(delta)) return undefined;
    const type = textOf(delta.type);
    if (!this.#open.has(index)) this.start(index, { type: impliedTypes[type] });
    const block = this.#open.get(index);
    if (block === undefined) return undefined;
    switch (type) {
      case 'text_delta':
      case 'thinking_delta': {
        const text = textOf(type === 'text_delta' ? delta.text : delta.thinking);
        block.text += text;
        return shown(block, text);
      }
      case 'signature_delta':
        block.signature = textOf(delta.signature);
        return undefined;
      case 'input_json_delta':
        block.input += textOf(delta.partial_json);
        return undefined;
      default:
        return undefined;
    }
  }

  text(): string {
    return this.#textOf('text');
  }

  /** Every call, or what is wrong with the first that cannot be one. Order and ids are the provider's. */
  calls(): { readonly calls: readonly ToolCall[] } | CallFault {
    const blocks = this.#blocks.filter(({ type }) => type === 'tool_use');
    if (blocks.length > callsMax) return tooManyCalls;
    const calls = blocks.map(({ start, input }) => ({
      id: textOf(start.id),
      name: textOf(start.name),
      arguments: input === '' ? wholeInput(start.input) : input,
    }));
    for (const [at, { id, name }] of calls.entries()) {
      const where = `Tool call ${at + 1} of ${calls.length}`;
      if (name === '') return badCall(`${where} has no tool name (id ${JSON.stringify(id.slice(0, 80))}).`);
      if (id === '') return badCall(`${where} (tool ${JSON.stringify(name.slice(0, 80))}) has no id.`);
    }
    return { calls };
  }

  /** Undefined where the model did not think. Signed blocks must come back unaltered and in place, so all are kept in order. */
  reasoning(): Reasoning | undefined {
    if (!this.#blocks.some(({ type }) => isThinking(type))) return undefined;
    return { text: this.#textOf('thinking'), opaque: { content: this.#blocks.flatMap(keptBlock) } };
  }

  #textOf(type: string): string {
    return this.#blocks.reduce((text, block) => (block.type === type ? text + block.text : text), '');
  }
}

function shown({ type }: Block, text: string): WireDelta | undefined {
  if (text === '' || (type !== 'text' && type !== 'thinking')) return undefined;
  return { type: type === 'text' ? 'text' : 'reasoning', text };
}

// Without a piece the input stands in the block's beginning; a stream of a call without arguments brings `{}` there.
function wholeInput(input: unknown): string {
  return isRecord(input) ? exactJsonText(input as ExactJson) : '{}';
}

function keptBlock({ type, start, text, signature }: Block): Json[] {
  switch (type) {
    case 'text':
      return [{ type, text }];
    case 'thinking':
      return [
        {
          ...(start as Record<string, Json>),
          thinking: text,
          ...(signature === undefined ? {} : { signature }),
        },
      ];
    case 'redacted_thinking':
      return [start as Record<string, Json>];
    case 'tool_use':
      return [{ type }];
    default:
      return [];
  }
}

function isThinking(type: unknown): boolean {
  return type === 'thinking' || type === 'redacted_thinking';
}

/**
 * The blocks of a recorded answer in their order, `call` standing for a call. Undefined for what is no record of this
 * protocol, or does not fit the number of calls: then the plain order holds, text before calls.
 */
export function replayedBlocks(opaque: Json | undefined, calls: number): (Json | 'call')[] | undefined {
  if (!isRecord(opaque) || !Array.isArray(opaque.content)) return undefined;
  const blocks = opaque.content.flatMap((block: Json): (Json | 'call')[] => {
    if (!isRecord(block)) return [];
    if (block.type === 'tool_use') return ['call'];
    // The protocol refuses a block of blanks.
    if (block.type === 'text') return textOf(block.text).trim() === '' ? [] : [block as Json];
    return isThinking(block.type) ? [block as Json] : [];
  });
  return blocks.filter((block) => block === 'call').length === calls ? blocks : undefined;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
