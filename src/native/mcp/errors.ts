/** Every code of MCP servers: why one cannot be used, and how one of its calls failed. */
import { type ErrorExtra, type ErrorTable, WritError } from '../../errors.ts';

export const mcpErrors = {
  'mcp.bad-url': { kind: 'input', about: 'The url of a server is not https, nor http on this machine.' },
  'mcp.no-variable': { kind: 'input', about: 'A variable that a server is to get is not set.' },
  'mcp.start-failed': { kind: 'failed', about: 'A server did not start, or ended before it was ready.' },
  'mcp.start-timeout': { kind: 'failed', about: 'A server was not ready in time.' },
  'mcp.name-clash': { kind: 'input', about: 'Two tools of MCP servers would bear one name.' },
  'mcp.tool-failed': { kind: 'failed', about: 'A server says that a call failed.' },
  'mcp.call-refused': { kind: 'input', about: 'A server does not know a tool, or not these arguments.' },
} as const satisfies ErrorTable;

export type McpErrorCode = keyof typeof mcpErrors;

/** Thrown for a server that cannot be used; a call that fails is told to the model with its code instead. */
export class McpError extends WritError<McpErrorCode> {
  constructor(code: McpErrorCode, message: string, extra: ErrorExtra = {}) {
    super(mcpErrors, code, message, extra);
  }
}
