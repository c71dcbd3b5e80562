import { describe, expect, test } from 'vitest';
import { repetition, repetitionUsual, starvation } from './breakers.ts';
import { arbitrate, type Directive, type Policy } from './directive.ts';
import { type PolicyCall, type PolicyTurn, policyTurns } from './history.ts';
import { idleDone, idleDoneUsual } from './idle-done.ts';

const call = (
  tool: string,
  args = '{}',
  status: PolicyCall['status'] = 'ok',
  code: string | null = null,
  content = '',
): PolicyCall => ({
  tool,
  arguments: args,
  status,
  code,
  seen: status === undefined ? undefined : { outcome: status === 'ok' ? 'ok' : 'failed', content },
});
const turn = (...calls: PolicyCall[]): PolicyTurn => ({
  turn: 1,
  calls,
  answered: true,
  spoken: [],
  noted: [],
  touched: [],
  compactions: 0,
});
const times = <T>(count: number, one: T): T[] => Array.from({ length: count }, () => one);
/** At which turns a policy speaks or stops. */
const acts = (policy: Policy, turns: readonly PolicyTurn[]) =>
  turns.flatMap((_, at) => {
    const found = policy(turns.slice(0, at + 1));
    return found === undefined ? [] : [`${at + 1} ${found.do} ${found.strength}`];
  });

describe('starvation', () => {
  const policy = starvation({ turns: 12, changes: (tool) => tool === 'write' });
  test('speaks after twelve turns without a change, and after twelve more', () => {
    expect(acts(policy, times(25, turn(call('read'))))).toEqual(['12 speak 1', '24 speak 1']);
  });
  test('begins anew with a change that was seen in the workspace, whatever made it', () => {
    const turns = [
      ...times(11, turn(call('read'))),
      { ...turn(call('sh')), touched: ['a.ts'] },
      ...times(12, turn(call('read'))),
    ];
    expect(acts(policy, turns)).toEqual(['24 speak 1']);
  });
  test('begins anew with a write that succeeded, and not with one that was tried', () => {
    const turns = [...times(11, turn(call('read'))), turn(call('write')), ...times(12, turn(call('read')))];
    expect(acts(policy, turns)).toEqual(['24 speak 1']);
    const tried = [...times(11, turn(call('read'))), turn(call('write', '{}', 'failed'))];
    expect(acts(policy, tried)).toEqual(['12 speak 1']);
  });
});

describe('repetition', () => {
  const policy = repetition(repetitionUsual);
  test('speaks at three, asks for a check at six, stops at nine', () => {
    expect(acts(policy, times(9, turn(call('read', '{"a":1}'))))).toEqual([
      '3 speak 1',
      '6 speak 3',
      '9 stop 3',
    ]);
  });
  test('counts from one again behind a stop', () => {
    expect(acts(policy, times(18, turn(call('read')))).slice(3)).toEqual([
      '12 speak 1',
      '15 speak 3',
      '18 stop 3',
    ]);
  });
  test('counts equal calls of one batch, and begins anew with another call', () => {
    expect(acts(policy, [turn(...times(4, call('read')))])).toEqual(['1 speak 1']);
    expect(
      acts(policy, [...times(2, turn(call('read'))), turn(call('other')), ...times(2, turn(call('read')))]),
    ).toEqual([]);
  });
  test('is patient with a tool that is there to be asked again', () => {
    expect(acts(policy, times(16, turn(call('command_wait'))))).toEqual(['15 speak 1']);
  });
  test('hints at each third failure of one kind, whatever was between', () => {
    const failing = turn(call('build', '{}', 'failed', 'tool.failed'));
    const turns = [failing, turn(call('read')), failing, turn(call('read', '{"b":1}')), failing];
    expect(acts(policy, turns)).toEqual(['5 speak 2']);
  });
  test('takes failures for one kind only if they say the same and changed the same files', () => {
    const failing = (content: string, ...touched: string[]) => ({
      ...turn(call('build', '{}', 'failed', 'tool.failed', content)),
      touched,
    });
    const between = turn(call('read'));
    const told = [failing('x'), between, failing('y'), between, failing('x'), between, failing('x')];
    expect(acts(policy, told)).toEqual(['7 speak 2']);
    const touching = [
      failing('x', 'a.ts'),
      between,
      failing('x', 'b.ts'),
      between,
      failing('x', 'a.ts'),
      between,
      failing('x', 'a.ts'),
    ];
    expect(acts(policy, touching)).toEqual(['7 speak 2']);
  });
  test('takes a command that ended badly for a failure, although it ran', () => {
    const ran = { ...call('command_start'), seen: { outcome: 'failed' as const, content: 'x' } };
    const turns = [turn(ran), turn(call('read')), turn(ran), turn(call('read')), turn(ran)];
    expect(acts(policy, turns)).toEqual(['5 speak 2']);
  });
});

describe('the arbiter', () => {
  const says = (source: Directive['source'], strength: Directive['strength'], text: string): Policy => {
    return () => ({ policy: text, source, strength, do: 'speak', text });
  };
  test('lets one speak: termination, then strength, then the latest', () => {
    const of = (...policies: Policy[]) => arbitrate(policies, [turn()])?.text;
    expect(of(says('termination', 1, 'end'), says('starvation', 3, 'check'))).toBe('end');
    expect(of(says('starvation', 3, 'check'), says('starvation', 2, 'signature'))).toBe('check');
    expect(of(says('starvation', 1, 'first'), says('starvation', 1, 'second'))).toBe('second');
    expect(of(says('reminder', 3, 'budget'), says('starvation', 1, 'rut'))).toBe('rut');
    expect(of()).toBeUndefined();
  });
  test('lets a stop go before words', () => {
    const stop: Policy = () => ({ policy: 's', source: 'starvation', strength: 1, do: 'stop', text: 'stop' });
    expect(arbitrate([stop, says('termination', 3, 'end')], [turn()])?.text).toBe('stop');
  });
  test('says nothing a second time in a turn', () => {
    expect(arbitrate([says('termination', 1, 'x')], [{ ...turn(), spoken: ['x'] }])).toBeUndefined();
  });
});

describe('idle-done', () => {
  const options = {
    ...idleDoneUsual,
    changes: (tool: string) => tool === 'file_write',
    command: ({ tool, arguments: args }: PolicyCall) => (tool === 'sh' ? JSON.parse(args).c : undefined),
  };
  const sh = (c: string, status: PolicyCall['status'] = 'ok') => call('sh', JSON.stringify({ c }), status);
  const quiet = { ...turn(), compactions: 2 };
  const done = (...calls: PolicyCall[]) => idleDone([turn(...calls), ...times(3, quiet)], options);
  test.each([
    ['a change and a check after it', [call('file_write'), sh('npm test')], true],
    ['no change', [sh('npm test')], false],
    ['a check before the change', [sh('npm test'), call('file_write')], false],
    ['a check that failed', [call('file_write'), sh('npm test', 'failed')], false],
    ['a look, which is no check', [call('file_write'), sh('git status && ls | wc -l')], false],
    ['a redirection, which is a change', [call('file_write'), sh('npm test'), sh('echo x > a')], false],
    ['an editor in place', [call('file_write'), sh('npm test'), sh("sed -i 's/a/b/' f")], false],
    ['output that goes nowhere', [call('file_write'), sh('npm test > /dev/null 2>&1')], true],
    [
      'a call without a result',
      [call('file_write'), sh('npm test'), { ...call('x'), status: undefined, seen: undefined }],
      false,
    ],
  ])('with %s', (_what, calls, expected) => expect(done(...calls)).toBe(expected));
  test('not before enough quiet turns and compactions', () => {
    const work = turn(call('file_write'), sh('npm test'));
    expect(idleDone([work, quiet, quiet], options)).toBe(false);
    expect(idleDone([work, quiet, quiet, { ...quiet, compactions: 1 }], options)).toBe(false);
    expect(idleDone([work, quiet, quiet, { ...quiet, answered: false }], options)).toBe(false);
  });
  test('with the command that was named, and no other', () => {
    const named = { ...options, verify: 'make check' };
    const work = (c: string) => [turn(call('file_write'), sh(c)), ...times(3, quiet)];
    expect([idleDone(work('make check -j2'), named), idleDone(work('npm test'), named)]).toEqual([
      true,
      false,
    ]);
  });
});

test('the turns of a run are read from its events', () => {
  const at = { turn: 1, position: 1 };
  expect(
    policyTurns([
      { type: 'turn-start', turn: 1 },
      { type: 'message-finish', turn: 1, message: 'm', text: null, textBytes: 0, calls: 1 },
      { type: 'tool-call', ...at, callId: 'c', tool: 't', arguments: '{ "b": [1], "a": 2 }' },
      {
        type: 'tool-result',
        ...at,
        callId: 'c',
        tool: 't',
        status: 'failed',
        code: 'x',
        message: 'd',
        bytes: 1,
        truncated: false,
        elapsedMs: 1,
      },
      { type: 'policy-speak', policy: 'p', text: 'hm' },
      { type: 'policy-note', policy: 'q', would: 'speak', text: 'hm' },
      { type: 'workspace-change', turn: 1, files: ['a'], more: 0 },
      { type: 'turn-start', turn: 2 },
    ]),
  ).toEqual([
    {
      turn: 1,
      calls: [
        {
          tool: 't',
          arguments: '{"a":2,"b":[1]}',
          status: 'failed',
          code: 'x',
          seen: { outcome: 'failed', content: '' },
        },
      ],
      answered: true,
      spoken: ['p'],
      noted: ['q'],
      touched: ['a'],
      compactions: 0,
    },
    { turn: 2, calls: [], answered: false, spoken: [], noted: [], touched: [], compactions: 0 },
  ]);
});
