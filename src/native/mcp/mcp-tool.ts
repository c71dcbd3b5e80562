/** A tool of an MCP server as the model gets it: under a qualified name, a write unless two sides say otherwise. */
import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
} from '@modelcontextprotocol/client';
import { canonicalJson, sha256 } from '../../digest.ts';
import { messageOf } from '../../errors.ts';
import { isRecord, type Json } from '../../protocol/json.ts';
import {
  defineTool,
  failed,
  type JsonArguments,
  notDispatched,
  type ToolEnding,
} from '../tool/define-tool.ts';
import { wellFormed } from '../tool/result-text.ts';
import type { Tool } from '../tool/tool.ts';
import { wholeTexts } from '../tool/whole-text.ts';
import type { Connection, Definition } from './connection.ts';
import { type OpenedClient, stoppable } from './open-client.ts';

const timeoutMs = 30_000;
const nameCharactersMax = 64;

/** `<server>__<tool>` in characters that every provider takes; a name that is too long ends in a digest of the whole. */
export function mcpToolName(server: string, tool: string): string {
  const name = `${server}__${tool}`.replace(/[^A-Za-z0-9_-]/g, '_');
  if (name.length <= nameCharactersMax) return name;
  return `${name.slice(0, nameCharactersMax - 9)}_${sha256(`${server}__${tool}`).slice(0, 8)}`;
}

/**
 * Makes the tool. `reads` are the names that the agent takes for reads: such a tool is one if the server calls it
 * read-only too. What else a server says of its tools is advice, and not acted on. Throws a ToolError for a definition that
 * no model could be shown.
 */
export function mcpTool(
  server: string,
  { tool, digest }: Definition,
  connection: Connection,
  reads: readonly string[],
): Tool {
  const isRead = tool.annotations?.readOnlyHint === true && reads.includes(tool.name);
  const now = () => connection.definitions().get(tool.name)?.digest ?? null;
  const made = defineTool({
    name: mcpToolName(server, tool.name),
    description: wellFormed(
      tool.description?.trim() || tool.title?.trim() || `The tool ${tool.name} of ${server}.`,
    ),
    parameters: JSON.parse(JSON.stringify(wholeTexts(tool.inputSchema))),
    capability: `mcp.${server}`,
    untrusted: true,
    ...(isRead ? ({ access: 'read' } as const) : ({ access: 'write', repeat: 'once' } as const)),
    limits: { timeoutMs },
    async execute(args: JsonArguments, { signal }) {
      let opened: OpenedClient;
      try {
        opened = await stoppable(connection.ready(), signal);
      } catch (fault) {
        if (signal.aborted) return notDispatched('cancelled', 'The call was stopped before it was sent.');
        return notDispatched('unavailable', messageOf(fault));
      }
      // The list may have been read anew since the call was checked: while a person was asked, or by a reconnect.
      if (now() !== digest)
        return notDispatched('unavailable', `The server ${server} changed or withdrew this tool.`);
      const answer = await call(opened, tool.name, args, signal);
      if (answer !== 'session-lost') return answer.result;
      await connection.drop(opened.client);
      return notDispatched(
        'unavailable',
        `The server ${server} lost its session and did not begin the call.`,
      );
    },
  });
  // Compiles the schema: one that is broken must not surface in the middle of a run.
  made.check({});
  return { ...made, definition: now };
}

async function call(
  { client, explain }: OpenedClient,
  name: string,
  args: JsonArguments,
  signal: AbortSignal,
): Promise<{ readonly result: Json | ToolEnding } | 'session-lost'> {
  let result: CallToolResult;
  try {
    // Without an output schema the client passes results on that do not fit it: the call was made all the same.
    const toolDefinition = { name, inputSchema: { type: 'object' as const } };
    // The runtime's own limit stops the call; the client's is only there because it must have one.
    const request = { signal, timeout: timeoutMs * 2, toolDefinition };
    result = await client.callTool({ name, arguments: { ...args } }, request);
  } catch (fault) {
    switch (notBegun(fault)) {
      case 'not-connected':
        return { result: notDispatched('unavailable', explain(fault)) };
      case 'session-lost':
        return 'session-lost';
      case 'refused':
        return { result: failed('mcp.call-refused', messageOf(fault)) };
      case undefined:
        throw new Error(explain(fault), { cause: fault });
    }
  }
  // The server has answered: whatever is odd about the answer, that the call was made is known.
  const text = textOf(result);
  if (result.isError !== true) return { result: text };
  return { result: failed('mcp.tool-failed', text || 'The server gave no reason.') };
}

/** The faults that prove that the server did not begin, by the protocol. No other error, and no silence, does. */
function notBegun(fault: unknown): 'not-connected' | 'session-lost' | 'refused' | undefined {
  if (fault instanceof SdkHttpError && fault.status === 404) return 'session-lost';
  if (fault instanceof SdkError && fault.code === SdkErrorCode.NotConnected) return 'not-connected';
  const refusals: readonly number[] = [ProtocolErrorCode.InvalidParams, ProtocolErrorCode.MethodNotFound];
  return fault instanceof ProtocolError && refusals.includes(fault.code) ? 'refused' : undefined;
}

/** What the model reads: texts as they are, structured content unless a text already holds it, a line for what is neither. */
function textOf({ content, structuredContent }: CallToolResult): string {
  const parts = content.map(blockText);
  const text = parts.join('\n');
  if (structuredContent === undefined) return text;
  const canonical = canonicalOf(structuredContent);
  if (canonical === undefined)
    return [...parts, '[structured content that has no JSON form, not shown]'].join('\n');
  return repeats(structuredContent, canonical, parts, text) ? text : [...parts, canonical].join('\n');
}

/** Servers give structured content as JSON text too, or a bare text wrapped into an object of one member. */
function repeats(structured: unknown, canonical: string, parts: readonly string[], text: string): boolean {
  const only = isRecord(structured) ? Object.values(structured) : [];
  if (only.length === 1 && only[0] === text) return true;
  return parts.some((part) => sameJson(part, canonical));
}

function blockText(block: CallToolResult['content'][number]): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'image':
    case 'audio':
      return `[${block.type}, ${block.mimeType}, ${Buffer.byteLength(block.data, 'base64')} bytes, not shown]`;
    case 'resource_link':
      return `[resource ${block.uri}: ${block.description ?? block.name}]`;
    case 'resource':
      if ('text' in block.resource) return block.resource.text;
      return `[resource ${block.resource.uri}, ${Buffer.byteLength(block.resource.blob, 'base64')} bytes, not shown]`;
  }
}

function sameJson(text: string, canonical: string): boolean {
  try {
    return canonicalOf(JSON.parse(text)) === canonical;
  } catch {
    return false;
  }
}

// A number beyond all doubles is read as infinite, and text may be nested deeper than the writer can follow.
function canonicalOf(parsed: unknown): string | undefined {
  try {
    return canonicalJson(wholeTexts(parsed));
  } catch {
    return undefined;
  }
}
