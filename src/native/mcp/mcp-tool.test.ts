/** Names that every provider takes, and what a model reads of each kind of result. */
import type { CallToolResult, Client } from '@modelcontextprotocol/client';
import { ProtocolError, SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonDigest } from '../../digest.ts';
import type { Connection } from './connection.ts';
import { callTool } from './mcp.cases.ts';
import { mcpTool, mcpToolName } from './mcp-tool.ts';

describe('names', () => {
  test.each([
    ['files', 'read_file', 'files__read_file'],
    ['my.files', 'read/file name', 'my_files__read_file_name'],
    ['s', 'é', 's___'],
  ])('%s and %s: %s', (server, tool, name) => {
    expect(mcpToolName(server, tool)).toBe(name);
  });

  test('any tool of any server has a name of 1 to 64 plain characters; long ones stay apart', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (server, tool) => {
        expect(mcpToolName(server, tool)).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
      }),
    );
    const long = 'x'.repeat(80);
    expect(mcpToolName('s', `${long}1`)).not.toBe(mcpToolName('s', `${long}2`));
  });
});

/** A tool whose server answers like this. The connection is the port; servers are real in the other tests. */
function answering(answer: () => Promise<CallToolResult>) {
  const tool = { name: 't', inputSchema: { type: 'object' as const } };
  const definition = { tool, digest: 'd' };
  const connection: Connection = {
    definitions: () => new Map([['t', definition]]),
    ready: async () => ({
      client: { callTool: answer } as unknown as Client,
      explain: (fault) => String(fault),
    }),
    drop: async () => {},
    close: async () => {},
  };
  return { tools: [mcpTool('s', definition, connection, [])] };
}

const text = (words: string) => ({ type: 'text' as const, text: words });

describe('results', () => {
  test.each<[string, CallToolResult, string]>([
    ['texts', { content: [text('a'), text('b')] }, 'a\nb'],
    ['nothing', { content: [] }, ''],
    ['structured alone', { content: [], structuredContent: { b: 1, a: [2] } }, '{"a":[2],"b":1}'],
    [
      'structured, and the same as text',
      { content: [text('{ "a": 1 }')], structuredContent: { a: 1 } },
      '{ "a": 1 }',
    ],
    ['structured, and its one text', { content: [text('hi')], structuredContent: { result: 'hi' } }, 'hi'],
    [
      'structured and a summary',
      { content: [text('two')], structuredContent: { rows: [1, 2] } },
      'two\n{"rows":[1,2]}',
    ],
    [
      'an exact integer in text',
      { content: [text('{"id":9007199254740993}')], structuredContent: { id: 9007199254740992 } },
      '{"id":9007199254740993}',
    ],
    [
      'structured with half a character',
      { content: [text('two')], structuredContent: { 'a\uD800': ['\uDC00b'] } },
      'two\n{"a\uFFFD":["\uFFFDb"]}',
    ],
    [
      'structured with a number beyond all that can be kept',
      { content: [text('two')], structuredContent: { a: JSON.parse('1e999') } },
      'two\n[structured content that has no JSON form, not shown]',
    ],
    [
      'what is no text',
      {
        content: [
          { type: 'audio', mimeType: 'audio/wav', data: 'AAAA' },
          { type: 'resource_link', uri: 'demo://1', name: 'one' },
          { type: 'resource', resource: { uri: 'demo://2', text: 'inside' } },
          { type: 'resource', resource: { uri: 'demo://3', blob: 'AAAA' } },
        ],
      },
      '[audio, audio/wav, 3 bytes, not shown]\n[resource demo://1: one]\ninside\n[resource demo://3, 3 bytes, not shown]',
    ],
  ])('%s', async (_, result, read) => {
    expect(
      await callTool(
        answering(async () => result),
        's__t',
      ),
    ).toEqual({ status: 'succeeded', value: read });
  });

  test('half a character in a description or a schema makes no tool that cannot be offered', () => {
    const properties = { path: { type: 'string', description: 'a\uD800' } };
    const tool = { name: 't', description: '\uDC00', inputSchema: { type: 'object' as const, properties } };
    const unused = async () => Promise.reject(new Error('unused'));
    const connection = { definitions: () => new Map(), ready: unused, drop: unused, close: unused };
    expect(() => jsonDigest(mcpTool('s', { tool, digest: 'd' }, connection, []).schema)).not.toThrow();
  });

  test('an error of the tool is a failure without doubt', async () => {
    const told = answering(async () => ({ content: [text('no such row')], isError: true }));
    expect(await callTool(told, 's__t')).toEqual({
      status: 'failed',
      code: 'mcp.tool-failed',
      message: 'no such row',
    });
  });

  test.each([
    [new ProtocolError(-32602, 'unknown tool'), { status: 'failed', code: 'mcp.call-refused' }],
    [new SdkError(SdkErrorCode.NotConnected, 'Not connected'), { status: 'not-dispatched' }],
  ])('%s proves that nothing was begun', async (fault, end) => {
    expect(
      await callTool(
        answering(() => Promise.reject(fault)),
        's__t',
      ),
    ).toMatchObject(end);
  });

  test.each([
    new ProtocolError(-32603, 'internal'),
    new SdkError(SdkErrorCode.RequestTimeout, 'late'),
    new SdkError(SdkErrorCode.ConnectionClosed, 'closed'),
    new SdkError(SdkErrorCode.InvalidResult, 'odd'),
  ])('%s proves nothing', async (fault) => {
    await expect(
      callTool(
        answering(() => Promise.reject(fault)),
        's__t',
      ),
    ).rejects.toThrow(String(fault));
  });
});
