import { describe, expect, test } from 'vitest';
import type { EventBody } from '../../protocol/events.ts';
import { generatedUsual, isGenerated, rereadNote } from './reread.ts';

const read = (turn: number, args: string, content: string, status: 'ok' | 'failed' = 'ok'): EventBody[] => [
  { type: 'tool-call', turn, position: 1, callId: `c${turn}`, tool: 'read', arguments: args },
  {
    type: 'tool-result',
    turn,
    position: 1,
    callId: `c${turn}`,
    tool: 'read',
    status,
    code: null,
    message: 'm',
    bytes: 1,
    truncated: false,
    elapsedMs: 1,
    seen: { outcome: status, content },
  },
];
const compacted: EventBody = {
  type: 'session-compact',
  keep: 1,
  dropped: 1,
  summary: 's',
  tokensBefore: 2,
  tokensAfter: 1,
  context: null,
};
const now = { tool: 'read', arguments: '{ "path": "a.sql" }', content: 'x' };
const note = (events: readonly EventBody[], given = now) => rereadNote(given, events, generatedUsual);

describe('a read that gives the same again', () => {
  test('is told with the turn that gave it last', () => {
    const events = [...read(1, '{"path":"a.sql"}', 'x'), ...read(3, '{"path":"a.sql"}', 'x')];
    expect(note(events)).toBe('[Unchanged: turn 3 read exactly this already.]');
  });
  test.each<[string, readonly EventBody[]]>([
    ['never read before', []],
    ['read with other arguments', read(1, '{"path":"b.sql"}', 'x')],
    ['changed since', read(1, '{"path":"a.sql"}', 'y')],
    ['changed and changed back', [...read(1, '{"path":"a.sql"}', 'x'), ...read(2, '{"path":"a.sql"}', 'y')]],
    ['read in vain', read(1, '{"path":"a.sql"}', 'x', 'failed')],
    ['read before a compaction', [...read(1, '{"path":"a.sql"}', 'x'), compacted]],
  ])('is not told of what was %s', (_what, events) => expect(note(events)).toBeUndefined());
  test.each(['target/a.sql', 'x/node_modules/a/b.js', 'run.log', 'app.duckdb'])(
    'is not told of %s, which builds write',
    (path) => {
      const args = JSON.stringify({ path });
      expect(note(read(1, args, 'x'), { ...now, arguments: args })).toBeUndefined();
    },
  );
});

test('a folder is meant wherever it stands, and a file of its name is not', () => {
  const of = (path: string) => isGenerated(path, ['dist/', '.log']);
  expect([of('dist/a'), of('a/dist/b'), of('a\\dist\\b'), of('a.log'), of('dist'), of('mydist/a')]).toEqual([
    true,
    true,
    true,
    true,
    false,
    false,
  ]);
});
