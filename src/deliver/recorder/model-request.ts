/** What exactly a model got: a recorded request of any of the four provider protocols as a list of its texts. */
import { sha256 } from '../../digest.ts';
import { messageOf } from '../../errors.ts';
import type { Position } from '../../protocol/delivery.ts';
import { isRecord } from '../../protocol/json.ts';
import { anthropicTexts } from './decode-anthropic.ts';
import { geminiTexts } from './decode-gemini.ts';
import { openaiChatTexts } from './decode-openai-chat.ts';
import { openaiResponsesTexts } from './decode-openai-responses.ts';
import type { Exchange } from './exchange.ts';
import { headerOf } from './exchange.ts';
import { plainBytes } from './plain-bytes.ts';
import type { DecodedTexts, TextPart } from './text-part.ts';

export const protocols = ['anthropic', 'openai-responses', 'openai-chat', 'gemini'] as const;
export type Protocol = (typeof protocols)[number];

/** One text that the model read, and where it stood. */
export interface InputPart extends TextPart {
  /** Of `text` in UTF-8. */
  readonly bytes: number;
  /** SHA-256 of `text` in UTF-8. */
  readonly sha256: string;
}

/** System and developer texts: where a vendor's prompt stands, and ours if it is honoured. */
export function isAbove({ role }: Pick<InputPart, 'role'>): boolean {
  return role === 'system' || role === 'developer';
}

/** Where a text stands; `instructions` is the one field that is no list. */
export function positionOf({ field, role, index }: InputPart): Position {
  return { field, role, index: field === 'instructions' ? null : index };
}

export interface ModelTool {
  readonly name: string;
  /** Of the tool's JSON as `JSON.stringify` writes it. */
  readonly bytes: number;
  readonly sha256: string;
}

export interface ModelRequest {
  readonly exchange: number;
  readonly protocol: Protocol;
  /** Null where the request names none. */
  readonly model: string | null;
  /** In the order of the request's fields: what is above the conversation, then the conversation. */
  readonly parts: readonly InputPart[];
  readonly tools: readonly ModelTool[];
  /** The bytes of the body before any compression. */
  readonly bytes: number;
}

/** `other`: no request to a model, for instance a list of models. `unreadable`: to a model, but not what its protocol says. */
export type ReadRequest =
  | { readonly kind: 'model'; readonly request: ModelRequest }
  | { readonly kind: 'unreadable'; readonly protocol: Protocol; readonly reason: string }
  | { readonly kind: 'other' };

type Members = Readonly<Record<string, unknown>>;

const decoders: Readonly<Record<Protocol, (body: Members) => DecodedTexts>> = {
  anthropic: anthropicTexts,
  'openai-responses': openaiResponsesTexts,
  'openai-chat': openaiChatTexts,
  gemini: geminiTexts,
};

/** The part of an exchange that is there before its answer. */
export type RequestPart = Pick<Exchange, 'number' | 'method' | 'path' | 'request'>;

/** Reads a recorded request. What cannot be read is said, never passed over: it may be the one that matters. */
export function readModelRequest(exchange: RequestPart): ReadRequest {
  const read = readWithBody(exchange);
  return read.kind === 'model' ? { kind: 'model', request: read.request } : read;
}

/** The same, with the body that the texts were read from. */
export type ReadWithBody =
  | Exclude<ReadRequest, { kind: 'model' }>
  | { readonly kind: 'model'; readonly request: ModelRequest; readonly json: Members };

/** For who looks for more in a body than its texts: it is large, and not read twice. */
export function readWithBody(exchange: RequestPart): ReadWithBody {
  const protocol = protocolOf(exchange);
  if (protocol === undefined) return { kind: 'other' };
  const unreadable = (reason: string) => ({ kind: 'unreadable', protocol, reason }) as const;
  const { body, headers } = exchange.request;
  if (!body.complete) return unreadable('the client stopped before the end of its request');
  if (body.bytesSeen > body.bytes.length) return unreadable('the body is larger than the recorder keeps');
  try {
    const bytes = plainBytes(body.bytes, headerOf(headers, 'content-encoding'));
    const json: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'));
    if (!isRecord(json)) return unreadable('the body is no JSON object');
    const { parts, tools } = decoders[protocol](json);
    const model = json.model ?? /\/models\/([^/:?]+):/.exec(exchange.path)?.[1];
    const request: ModelRequest = {
      exchange: exchange.number,
      protocol,
      model: typeof model === 'string' ? model : null,
      parts: parts.map((part) => ({ ...part, ...sizeOf(part.text) })),
      tools: tools.map(({ name, json }) => ({ name, ...sizeOf(JSON.stringify(json)) })),
      bytes: bytes.length,
    };
    return { kind: 'model', request, json };
  } catch (error) {
    return unreadable(messageOf(error));
  }
}

function protocolOf({ method, path }: RequestPart): Protocol | undefined {
  if (method !== 'POST') return undefined;
  const plain = path.split('?', 1)[0] ?? '';
  if (/\/messages$/.test(plain)) return 'anthropic';
  if (/\/responses$/.test(plain)) return 'openai-responses';
  if (/\/chat\/completions$/.test(plain)) return 'openai-chat';
  if (/:(streamG|g)enerateContent$/.test(plain)) return 'gemini';
  return undefined;
}

function sizeOf(text: string): { readonly bytes: number; readonly sha256: string } {
  return { bytes: Buffer.byteLength(text), sha256: sha256(text) };
}
