/** Collects the parts in which an AI SDK model answers into one message, with all that its provider wants back. */
import type {
  LanguageModelV3FinishReason,
  LanguageModelV3StreamPart,
  LanguageModelV3Usage,
  SharedV3ProviderMetadata,
  SharedV3Warning,
} from '@ai-sdk/provider';
import { isRecord, type Json } from '../../protocol/json.ts';
import type { AssistantMessage, ToolCall } from '../../protocol/messages.ts';
import { type Usage, unknownUsage } from '../../protocol/usage.ts';
import { count } from '../../wire/token-count.ts';
import type { WireDelta } from '../../wire/wire.ts';

/** A part of an answer as it is kept and sent back: in its place, with its provider's own data. A call's text stands elsewhere. */
export type KeptPart =
  | { readonly type: 'text' | 'reasoning'; text: string; providerOptions?: SharedV3ProviderMetadata }
  | { readonly type: 'tool-call'; providerOptions?: SharedV3ProviderMetadata };

type TextPart = Extract<KeptPart, { text: string }>;

export class SdkAnswer {
  readonly #lines: string[] = [];
  readonly #parts: KeptPart[] = [];
  readonly #calls: ToolCall[] = [];
  readonly #open = new Map<string, TextPart>();
  readonly warnings: string[] = [];
  /** What the SDK said went wrong inside the stream. */
  error: { readonly value: unknown } | null = null;
  finish: LanguageModelV3FinishReason | null = null;
  /** The tool that the provider itself has begun to run. */
  began: string | null = null;
  modelSeen: string | null = null;
  requestId: string | null = null;
  #usage: LanguageModelV3Usage | null = null;

  /** True once a part of the answer itself has come. */
  get begun(): boolean {
    return this.#parts.length > 0;
  }

  /** Keeps something for the record: a line of JSON. */
  keep(line: object): void {
    this.#lines.push(lineText(line));
  }

  /** Takes a part and returns what of it may be shown. */
  take(part: LanguageModelV3StreamPart): WireDelta | undefined {
    this.keep(part);
    switch (part.type) {
      case 'stream-start':
        this.warnings.push(...part.warnings.map(warningText));
        return undefined;
      case 'response-metadata':
        this.modelSeen = part.modelId ?? this.modelSeen;
        this.requestId = part.id ?? this.requestId;
        return undefined;
      case 'text-start':
      case 'text-delta':
      case 'text-end':
        return this.#text('text', part);
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        return this.#text('reasoning', part);
      case 'tool-input-start':
        if (part.providerExecuted === true) this.began ??= part.toolName;
        return undefined;
      case 'tool-call':
        // What the provider ran by itself is no call of ours; nobody asked for such a tool.
        if (part.providerExecuted === true) {
          this.began ??= part.toolName;
          return undefined;
        }
        this.#calls.push({ id: part.toolCallId, name: part.toolName, arguments: part.input });
        this.#parts.push(withOptions({ type: 'tool-call' }, part.providerMetadata));
        return undefined;
      case 'finish':
        this.finish = part.finishReason;
        this.#usage = part.usage;
        return undefined;
      case 'error':
        this.error ??= { value: part.error };
        return undefined;
      default:
        return undefined;
    }
  }

  message(): AssistantMessage {
    const text = this.#textOf('text');
    const special = this.#parts.some(
      (part) => part.type === 'reasoning' || part.providerOptions !== undefined,
    );
    const opaque = { parts: JSON.parse(JSON.stringify(this.#parts)) as Json };
    return {
      role: 'assistant',
      text,
      ...(special ? { reasoning: { text: this.#textOf('reasoning'), opaque } } : {}),
      calls: this.#calls,
    };
  }

  /** What the SDK leaves undefined is unknown. */
  usage(): Usage {
    if (this.#usage === null) return unknownUsage;
    const { inputTokens, outputTokens } = this.#usage;
    const cachedTokens = count(inputTokens.cacheRead);
    const cacheWriteTokens = count(inputTokens.cacheWrite);
    const fresh = count(inputTokens.noCache);
    const sum = fresh === null ? null : fresh + (cachedTokens ?? 0) + (cacheWriteTokens ?? 0);
    const promptTokens = count(inputTokens.total) ?? sum;
    const completionTokens = count(outputTokens.total);
    return {
      modelCalls: 1,
      promptTokens,
      cachedTokens,
      cacheWriteTokens,
      completionTokens,
      reasoningTokens: count(outputTokens.reasoning),
      totalTokens:
        promptTokens === null || completionTokens === null ? null : promptTokens + completionTokens,
      costUsd: null,
      costSource: 'unknown',
    };
  }

  /** Everything that was kept, as JSON lines. */
  raw(): Buffer {
    return Buffer.from(this.#lines.map((line) => `${line}\n`).join(''));
  }

  #text(
    type: TextPart['type'],
    part: {
      readonly type: string;
      readonly id: string;
      readonly delta?: string;
      readonly providerMetadata?: SharedV3ProviderMetadata;
    },
  ): WireDelta | undefined {
    const key = `${type} ${part.id}`;
    let open = this.#open.get(key);
    if (open === undefined || part.type === `${type}-start`) {
      open = { type, text: '' };
      this.#open.set(key, open);
      this.#parts.push(open);
    }
    // The provider's data may come with any of the three; the last word holds, as in the SDK itself.
    withOptions(open, part.providerMetadata);
    const text = part.delta ?? '';
    open.text += text;
    return text === '' ? undefined : { type, text };
  }

  #textOf(type: TextPart['type']): string {
    return this.#parts.reduce((text, part) => (part.type === type ? text + part.text : text), '');
  }
}

function withOptions<Part extends KeptPart>(
  part: Part,
  metadata: SharedV3ProviderMetadata | undefined,
): Part {
  if (metadata !== undefined) part.providerOptions = metadata;
  return part;
}

function warningText(warning: SharedV3Warning): string {
  if (warning.type === 'other') return warning.message;
  const details = warning.details === undefined ? '' : `: ${warning.details}`;
  return `${warning.type} ${warning.feature}${details}`;
}

// An error has no JSON of its own, and a value that a provider passes through may have none either.
function lineText(line: object): string {
  try {
    return JSON.stringify(line, (_key, value) => {
      if (value instanceof Error) return { name: value.name, message: value.message };
      return typeof value === 'bigint' ? String(value) : value;
    });
  } catch (thrown) {
    return JSON.stringify({ unwritable: String(thrown) });
  }
}

/** The parts of a recorded answer in their order; undefined for what is no such record or does not fit the number of calls. */
export function keptParts(opaque: Json | undefined, calls: number): readonly KeptPart[] | undefined {
  if (!isRecord(opaque) || !Array.isArray(opaque.parts)) return undefined;
  const parts = opaque.parts.filter(isKept);
  return parts.filter((part) => part.type === 'tool-call').length === calls ? parts : undefined;
}

function isKept(part: unknown): part is KeptPart {
  if (!isRecord(part)) return false;
  return (
    part.type === 'tool-call' ||
    ((part.type === 'text' || part.type === 'reasoning') && typeof part.text === 'string')
  );
}
