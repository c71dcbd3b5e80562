/**
 * The cases that commands and durable effects have to pass, each with the tests that show it or the reason why it cannot arise
 * here.
 */
import { expect, test } from 'vitest';
import { type Case, describeCases } from './shown.ts';

const remote = 'src/sandbox/start-remote.test.ts';
const start = 'src/sandbox/start-command.test.ts';
const boxes = 'src/sandbox/sandbox.cases.ts';
const graph = 'src/sandbox/error-graph.test.ts';
const restart = 'test/command-restart.test.ts';
const required = 'test/required-effects.test.ts';
const store = 'src/ledger/store.cases.ts';
const once = 'src/effects/once.test.ts';

const commands: readonly Case[] = [
  [
    '1',
    'an ambiguous start is sent once, whatever its status',
    [[remote, 'leaves it unknown, after one start']],
  ],
  [
    '2',
    'a lost acknowledgement: one start, its result found by looking; absence afterwards proves nothing',
    [
      [remote, 'a connection that breaks %s the start leaves it unknown, once'],
      [restart, 'and that ran is told with its output and exit code, and not run again'],
      [boxes, 'what never started is absent, which proves nothing'],
    ],
  ],
  [
    '3',
    'a probe whose acknowledgement is lost finds its first invocation again',
    [
      [remote, 'a lost answer to the release is recovered by a look, and nothing is sent again'],
      [remote, 'readiness starts again under the same id only on proof, and once it was sent only looks'],
    ],
  ],
  [
    '4',
    'the codes that reject do, and the place is given up once',
    [
      [start, 'a proven %s rejects it'],
      [remote, 'the answer %s rejects, after one start'],
    ],
  ],
  [
    '5',
    'a cancel or close while the channel is not ready sends nothing',
    [
      [remote, 'a cancel is proof that nothing was sent, and nobody tries again'],
      [remote, 'so is a close'],
    ],
  ],
  [
    '6',
    'a start is repeated only on proof, under its id; text about names proves nothing',
    [
      [remote, 'readiness starts again under the same id only on proof'],
      [start, 'proves nothing: unknown, with its locator'],
    ],
  ],
  ['7', 'getters of foreign errors never run', [[graph, 'a proxy is not asked']]],
  [
    '8',
    'where only the recording of the end failed, the same process settles it later and starts nothing',
    [
      [restart, 'and that ran is told with its output and exit code, and not run again'],
      ['src/effects/run-effect.test.ts', 'whose result cannot be recorded is unknown'],
    ],
  ],
  [
    '9',
    'the run goes on after an unknown outcome, and no text tells the model to try again',
    [
      [
        'test/commands.test.ts',
        'a start whose outcome is unknown is said to be so, never repeated, and can be looked at',
      ],
    ],
  ],
  [
    '10',
    'a process ended by signal 9 has 137',
    [[boxes, 'a process ended by a signal has 128 and its number']],
  ],
  [
    '11',
    'a backlog of 8 MiB comes in pages to its end',
    [[remote, 'a backlog of 8 MiB comes in pages, and its end is reached']],
  ],
  [
    '12',
    'a character of three bytes counts as three',
    [[boxes, 'a large output comes in pages of whole characters; beyond its bound it is counted']],
  ],
  [
    '13',
    'after a swap the next operation meets the new box; a stale read is repeated, a stale change is not',
    [
      [
        remote,
        'a command stays with its box when the pointer moves; the next one goes to the new box, and an old route starts nothing',
      ],
      [
        remote,
        'an observation is read again over a new channel, at most three times; input is never sent again',
      ],
      [
        'src/sandbox/gate.test.ts',
        'what begins inside of an operation belongs to it, also while a capture waits for that operation',
      ],
    ],
  ],
  [
    '14',
    'a command that is kept stays with its box; proofs that differ are none; without proof the fence stays shut',
    [
      [remote, 'a command stays with its box when the pointer moves'],
      [graph, 'a proof that stands alone is told; two that differ are none'],
      [
        'src/sandbox/fence.test.ts',
        'without proof it stays shut and names what may still run; a later drain looks again',
      ],
    ],
  ],
  [
    '15',
    'output that imitates a head or a receipt changes nothing',
    [
      ['test/commands.test.ts', 'output cannot pose as a head, an end or a mark'],
      ['src/sandbox/fuzz.test.ts', 'no output and no note changes what the head of a result says'],
    ],
  ],
  [
    '16',
    'the receipt is on disk before it is acknowledged, may be acknowledged again, and bears the exit code of the command itself',
    [
      [boxes, 'an end is acknowledged by its receipt only; then its output is given up and it stays ended'],
      [
        boxes,
        'a child in the background that holds the pipes blocks nothing, and does not outlive the command',
      ],
      [
        'src/sandbox/supervisor/reattach.test.ts',
        'after SIGKILL of the Writ that started it, another one reports all output and the true exit code',
      ],
    ],
  ],
  ['17', 'a proof wrapped beside an unknown start is none', [[start, 'a proof beside an unknown']]],
  [
    '18',
    'the sixth failed setup parks the run',
    [
      [start, 'a sandbox that is proven unreachable is tried five times more; the sixth is left to a person'],
      [
        'test/setup-recovery.test.ts',
        'nothing is there, then it is: paused, never failed, and the command runs once',
      ],
    ],
  ],
];

const noMigration = 'There is one form of the record and none before it, so no store is ever migrated.';
const effects: readonly Case[] = [
  [
    '7.1',
    'observed, then restarted: the result again, once outside',
    [[once, "['observed', observed(true), 1]"]],
  ],
  [
    '7.2',
    'killed after the outside acted, which can be asked: found, and once outside',
    [
      ['test/reconcile.test.ts', 'a resume asks the tool that can look'],
      ['test/crash.test.ts', '50 kills'],
    ],
  ],
  [
    '7.3',
    'the same where nobody can be asked: it stays unknown',
    [
      [once, "['acted', unknown, 1]"],
      ['test/kill.test.ts', 'killed after a write acted and before its result was stored'],
    ],
  ],
  [
    '7.4',
    'killed between an observation and the state that follows from it',
    'The state is derived from the observation whenever it is read; there is no second record that could be missing.',
  ],
  ['7.5', 'killed between a state and its event', 'The event is the state: both are one row, stored or not.'],
  [
    '7.6',
    'killed inside a tool after it wrote its file',
    [
      [once, 'killed at %s'],
      ['test/kill.test.ts', 'never repeated'],
    ],
  ],
  [
    '7.7',
    'one process writes a run; another does once that is gone; of two at once one wins',
    [
      ['src/ledger/stores/sqlite-processes.test.ts', 'three processes take one run in turns'],
      [
        'src/ledger/stores/sqlite-processes.test.ts',
        'a killed process loses nothing it was told is stored, and its run can be taken at once',
      ],
      ['test/kill.test.ts', 'a living run cannot be resumed by another process'],
    ],
  ],
  ['7.8', 'a migration killed at each of its steps', noMigration],
  ['7.9', 'two migrations at once', noMigration],
  [
    '7.10',
    'prepared by several at once: one owner',
    [
      [store, 'writes take effect in the order of their calls'],
      ['src/effects/effects.model.test.ts', 'over the %s store'],
    ],
  ],
  [
    '7.11',
    'asked for again and again, it is sent once',
    [['test/approvals.test.ts', 'the same effect again in one run gets the first observation and acts once']],
  ],
  [
    '7.12',
    'each member of a forged ticket is refused',
    [['test/tickets.test.ts', 'a question whose %s was changed']],
  ],
  [
    '7.13',
    'a tool that is another is not asked about the call',
    [[required, 'is not asked what became of its call, and the call stays unknown']],
  ],
  [
    '7.14',
    'forgetting comes before or after a start, a dispatch, an observation, a cancel and a decision, never between',
    [
      [required, 'one comes after the other, and nothing is half there'],
      ['src/effects/effects.model.test.ts', 'class Forget'],
    ],
  ],
  [
    '7.15',
    'an approval that was edited, or given before a session was forgotten, allows nothing',
    [
      ['test/tickets.test.ts', 'does not count when it was answered all the same'],
      [
        'test/tickets.test.ts',
        'given before its session was forgotten is worth nothing in a run of the same name',
      ],
      ['test/bound-files.test.ts', 'changed while the run waits'],
    ],
  ],
  [
    '7.16',
    'what was observed under one binding is no result under another',
    [
      [required, 'of one tool is none of another with equal arguments'],
      [required, 'of one run is none of the next, in its session or in another'],
      ['src/effects/effects.test.ts', 'of another store, run, place or call'],
    ],
  ],
  [
    '7.17',
    'a store that is closed while a tool works',
    [
      [store, 'waits for what was accepted, may be repeated, and ends the store'],
      [required, 'a store that is closed while a tool works leaves it unknown'],
    ],
  ],
  ['7.18', 'a migration in place without a copy', noMigration],
];

describeCases({ commands, effects });

test('no case is missing', () => {
  expect(commands.map(([number]) => number)).toEqual(Array.from({ length: 18 }, (_, i) => `${i + 1}`));
  expect(effects.map(([number]) => number)).toEqual(Array.from({ length: 18 }, (_, i) => `7.${i + 1}`));
});
