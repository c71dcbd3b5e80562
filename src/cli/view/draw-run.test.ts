/** The tree of a run: what happened in each turn stands below it, faults, approvals, unknown outcomes and notices included. */
import { expect, test } from 'vitest';
import type { Ticket } from '../../protocol/ticket.ts';
import { noUsage, unknownUsage } from '../../protocol/usage.ts';
import type { AttemptView, CallView } from '../../run/call-view.ts';
import type { RunView, TurnView } from '../../run/run-view.ts';
import { drawRun } from './draw-run.ts';

const nothing = { totalTokens: 0, costUsd: 0 };
const turn = (number: number, more: Partial<TurnView>): TurnView => ({
  turn: number,
  lane: null,
  faults: [],
  text: null,
  calls: [],
  notices: [],
  usage: noUsage,
  known: nothing,
  ...more,
});
const call = (position: number, more: Partial<CallView>): CallView => ({
  position,
  tool: 'send',
  arguments: '{}',
  approval: null,
  attempts: [],
  replayOf: null,
  result: null,
  ...more,
});
const attempt = (number: number, more: Partial<AttemptView> = {}): AttemptView => ({
  attempt: number,
  lineage: number === 1 ? 'initial' : 'retry',
  sentAt: 1_000 * number,
  state: 'dispatching',
  unknown: null,
  decisions: [],
  late: null,
  ...more,
});
const result = (status: 'ok' | 'unknown', code: string | null) => ({
  status,
  code,
  bytes: 1204,
  truncated: false,
  elapsedMs: 35,
  message: `message of ${status}`,
});

const view: RunView = {
  run: 'run_1',
  session: 'session_1',
  index: 1,
  state: 'interrupted',
  createdAt: 0,
  agent: 'tester',
  harness: 'native',
  model: 'local/m',
  prompt: 'digest',
  capabilities: [],
  task: 'Send it.',
  turns: [],
  plans: [],
  toolCalls: 2,
  usage: { ...unknownUsage, modelCalls: 4 },
  known: { totalTokens: 2864, costUsd: 0 },
  budget: { tokens: { limit: 12_000, used: 3057, reserved: 0, left: 8943, overrun: 57 } },
  elapsedMs: 5,
  answer: null,
  error: null,
  ticket: null,
  unsettled: [],
  notices: ['first', 'later'],
};

const options = {
  commandFor: (...words: readonly string[]) => `writ ${words.join(' ')}`,
  resume: { text: 'writ runs resume run_1', command: true },
  cells: 60,
};

const busy = { code: 'model.server-error', kind: 'failed', message: 'The server is busy.' } as const;
const turns = [
  turn(1, {
    faults: [{ attempt: 1, error: busy, retryInMs: 463 }],
    text: 'I send it,\nthen I look.',
    calls: [
      call(1, {
        approval: { ticket: 't1', answer: { decision: 'approved', by: 'ada', reason: '' } },
        attempts: [attempt(1, { state: 'observed' })],
        result: result('ok', null),
      }),
      call(2, {
        arguments: `{"text":"${'long '.repeat(30)}\x1b"}`,
        attempts: [attempt(1, { state: 'observed', unknown: 'no answer came', late: 'succeeded' })],
        result: result('unknown', 'tool.outcome-unknown'),
      }),
      call(3, { approval: { ticket: 't2', answer: null }, attempts: [attempt(1)] }),
    ],
    notices: ['later'],
  }),
  turn(2, { usage: unknownUsage }),
];

const tree = (text: string) => text.slice(text.indexOf('TURN 1'), text.indexOf('\nUSED'));

test('each turn with what belongs to it', () => {
  const drawn = drawRun({ ...view, turns }, options);
  expect(tree(drawn)).toBe(
    [
      'TURN 1 · 0 tokens · $0',
      '├─ attempt 1 failed (model.server-error); tried again after',
      '│  463 ms',
      '│  └─ The server is busy.',
      '├─ I send it,',
      '│  then I look.',
      '├─ 1 send {}',
      '│  ├─ needed an approval (t1): approved by ada',
      '│  └─ ok · 1,204 bytes · 35 ms',
      '├─ 2 send {"text":"long long long long long long long long …',
      '│  ├─ its outcome became unknown: no answer came',
      '│  ├─ seen later: it succeeded',
      '│  └─ what the model read: unknown (tool.outcome-unknown) ·\n│     1,204 bytes · 35 ms',
      '├─ 3 send {}',
      '│  ├─ needed an approval (t2): nobody has answered',
      '│  └─ sent; what it did is not known',
      '└─ notice: later',
      '',
      'TURN 2 · tokens unknown · cost unknown',
      '└─ no answer was recorded',
      '',
    ].join('\n'),
  );
  expect(drawn).toContain('USED 2 turns · 2 calls · at least 2,864 tokens · cost unknown · 5 ms\n');
  expect(drawn).toContain('  tokens      3,057 of 12,000, 8,943 left, 57 over what was set aside\n');
  expect(drawn).toContain('\nNOTICES\n  first\n\n');
  expect(drawn).not.toContain('\x1b');
});

const told = { by: 'ada', reason: 'log' };

test.each<[string, Partial<CallView>, RunView['state'], string[]]>([
  [
    'each sending with what is known of it alone',
    {
      attempts: [
        attempt(1, { state: 'not-dispatched', decisions: [{ decision: 'not-dispatched', ...told }] }),
        attempt(2, { state: 'unknown', unknown: 'cut off' }),
      ],
      result: result('unknown', 'tool.outcome-unknown'),
    },
    'cancelled',
    [
      '├─ attempt 1, sent 1970-01-01 00:00:01Z: it did not happen',
      '│  └─ decided by ada: it did not happen (log)',
      '├─ attempt 2, sent 1970-01-01 00:00:02Z: what it did is not known',
      '│  └─ its outcome became unknown: cut off',
      '└─ unknown (tool.outcome-unknown) · 1,204 bytes · 35 ms',
    ],
  ],
  [
    'a call that was allowed again, and one that was sent for nothing',
    {
      attempts: [
        attempt(1, { state: 'retry-authorized', decisions: [{ decision: 'retry-authorized', ...told }] }),
        attempt(2, { state: 'observed' }),
      ],
      result: result('ok', null),
    },
    'completed',
    [
      '├─ attempt 1, sent 1970-01-01 00:00:01Z: it may have happened',
      '│  └─ decided by ada: it may be sent again (log)',
      '├─ attempt 2, sent 1970-01-01 00:00:02Z: its outcome was seen',
      '└─ ok · 1,204 bytes · 35 ms',
    ],
  ],
  [
    'a replay',
    { replayOf: { turn: 1, position: 1, attempt: 2 }, result: result('ok', null) },
    'completed',
    ['├─ nothing was sent for it: it got what the equal call 1.1 brought', '└─ ok · 1,204 bytes · 35 ms'],
  ],
  ...(
    [
      ['running', 'dispatching', 'sent; its answer has not come yet'],
      ['interrupted', 'dispatching', 'sent; what it did is not known'],
      ['interrupted', 'unknown', 'sent; what it did is not known'],
      ['running', 'unknown', 'sent; what it did is not known'],
      ['interrupted', 'observed', 'its outcome was seen; the model has not read it yet'],
      ['interrupted', 'not-dispatched', 'it did not happen; the run sends it when it goes on'],
      ['paused', 'retry-authorized', 'it may have happened; the run sends it again when it goes on'],
      ['interrupted', 'abandoned', 'given up as unknown; the model has not read so yet'],
      ['failed', 'not-dispatched', 'it did not happen'],
    ] as const
  ).map(([run, state, line]): [string, Partial<CallView>, RunView['state'], string[]] => [
    `${state} in a run that is ${run}`,
    { attempts: [attempt(1, { state })] },
    run,
    [`└─ ${line}`],
  ]),
])('what became of a call: %s', (_what, more, state, lines) => {
  const drawn = tree(
    drawRun({ ...view, state, turns: [turn(1, { calls: [call(1, more)] })] }, { ...options, cells: 90 }),
  );
  expect(drawn).toBe(
    ['TURN 1 · 0 tokens · $0', '└─ 1 send {}', ...lines.map((line) => `   ${line}`), ''].join('\n'),
  );
});

test('a call for which nothing was sent is told apart in the figures', () => {
  const replay = call(2, { replayOf: { turn: 1, position: 1, attempt: 1 }, result: result('ok', null) });
  const drawn = drawRun({ ...view, turns: [turn(1, { calls: [call(1, {}), replay] })] }, options);
  expect(drawn).toContain('2 calls (for 1 of them nothing was sent) · ');
});

test('in full: arguments whole, and the texts of the results that are there', () => {
  const results = new Map([['message of ok', 'sent\n\x1b[2Jaway']]);
  const drawn = tree(drawRun({ ...view, turns }, { ...options, results }));
  expect(drawn).toContain(
    [
      '├─ 1 send',
      '│  ├─ {}',
      '│  ├─ needed an approval (t1): approved by ada',
      '│  └─ ok · 1,204 bytes · 35 ms',
      '│     └─ sent',
      '│        \\x1b[2Jaway',
      '├─ 2 send',
      '│  ├─ {"text":"long',
    ]
      .join('\n')
      .replace('"long', '"long long long long long long long long long'),
  );
  expect(drawn.match(/long/g)).toHaveLength(30);
});

const ticket: Ticket = {
  id: 't1',
  turn: 1,
  position: 1,
  tool: 'send',
  capability: 'mail',
  fingerprint: 'f',
  arguments: '{}',
  digest: 'd',
};
const elsewhere = { text: 'resume it with the program that started it', command: false };

test.each([
  [
    { state: 'interrupted' },
    options.resume,
    '  go on: writ runs resume run_1\n  end:   writ runs cancel run_1\n',
  ],
  [{ state: 'interrupted' }, elsewhere, '  go on: resume it with the program that started it\n'],
  [{ state: 'paused' }, elsewhere, '\nnext: resume it with the program that started it\n'],
  [{ state: 'paused', ticket }, elsewhere, '  then:  resume it with the program that started it\n'],
  [{ state: 'running' }, elsewhere, '\ncancel: writ runs cancel run_1\n'],
] as const)('the next step of %j', (state, resume, end) => {
  const drawn = drawRun({ ...view, ...state }, { ...options, resume });
  expect(drawn.endsWith(end)).toBe(true);
});
