/**
 * The cases that delivery and the driving of agent programs have to pass, and the reports of users that they must not repeat,
 * each with the tests that show it or the reason why it cannot arise here.
 */
import { expect, test } from 'vitest';
import { type Case, describeCases } from './shown.ts';

const plans = 'src/deliver/harness-plans.test.ts';
const port = 'src/deliver/conformance.test.ts';
const seam = 'src/deliver/seam.test.ts';
const path = 'src/cli/run/seam.test.ts';
const whole = 'src/cli/run/outside.test.ts';
const drive = 'src/deliver/drive/outside.test.ts';
const session = 'src/deliver/drive/session.test.ts';
const home = 'src/deliver/drive/home.test.ts';
const killed = 'test/outside-kill.test.ts';
const verify = 'src/deliver/verify/verify.test.ts';
const required = 'test/required-delivery.test.ts';
const store = 'src/ledger/store.cases.ts';
const boxes = 'src/sandbox/sandboxes/bubblewrap/bubblewrap.test.ts';

const refused = [port, '%s is refused: who, what is needed, the alternative, and who can'] as const;
const nothingStarts = [path, '%s: nothing is started, and no home is made'] as const;
const noName = [port, 'the name %j honours no intent'] as const;
const eachDimension = [
  port,
  '%s is delivered natively, or the whole request is refused by its name',
] as const;
const onceWhole = [
  port,
  '%s: any text is carried whole and once, its digest named, or it is refused',
] as const;
const unmeasured = [
  port,
  'what nobody measured is refused for replace with the command that measures it',
] as const;
const ownFolder = [port, 'files lie below the home, each once, and never in the workspace'] as const;

const intents: readonly Case[] = [
  [
    '1',
    'claude-code replaces by its own flag alone',
    [[plans, 'replace and append each have their own flag']],
  ],
  [
    '2',
    'claude-code appends by its own flag alone',
    [[plans, 'replace and append each have their own flag']],
  ],
  ['3', 'both at once', 'A request has one intent and one text, so there are never two to be mixed up.'],
  [
    '4',
    'claude-code append with JSON and permissions is one flag, our text alone in its file',
    [[plans, 'append with a schema and permissions is still one flag']],
  ],
  [
    '5',
    'pi replace: a file that holds exactly the text while the program works',
    [
      [plans, 'replace goes by the path of a file'],
      [session, 'the prompt stands in its file while the program works, readable by this user alone'],
    ],
  ],
  [
    '6',
    'pi append: its own file, no other flag',
    [[plans, 'append goes by its own flag, and a system prompt']],
  ],
  ['7', 'pi append with project text beside it: pi has no way for that, so it is refused', [eachDimension]],
  [
    '8',
    'codex replace: its configuration holds the text, the arguments none',
    [[plans, 'replace: the configuration holds the text']],
  ],
  ['9', 'codex append is refused', [refused, [drive, 'an intent without a control is refused']]],
  [
    '10',
    'codex replace: the text is not in what the user says',
    [[plans, 'replace: the configuration holds the text']],
  ],
  [
    '11',
    'opencode replace: its control was measured, so it holds; without a measurement it is refused',
    [[plans, 'replace is a prompt of its configuration'], unmeasured],
  ],
  [
    '12',
    'opencode append stands before project text',
    [[plans, 'append stands before the project instructions, each in its file']],
  ],
  [
    '13',
    'gemini replace: a variable and an exact file',
    [[plans, 'replace: the variable names the file, which is exact']],
  ],
  [
    '14',
    'gemini append is refused, its memory named',
    [[plans, 'append is refused, and the memory file is named']],
  ],
  [
    '15-24',
    'harnesses that there are not honour nothing',
    [
      noName,
      [
        'src/cli/deliver/deliver.test.ts',
        'a harness that there is not cannot %s: refused, with those that can',
      ],
    ],
  ],
  [
    '15-24 acp',
    'an agent of the protocol honours what it was seen to, and those that were measured nothing',
    [
      [
        'src/cli/harness/verify-acp.test.ts',
        'what ships says of an agent by its command that it ignores the text',
      ],
      ['src/deliver/evidence.test.ts', 'and that none of them is given the text'],
    ],
  ],
  [
    '25',
    'a summary of the agent holds no prompt',
    'No summary is made: what is given beside the text is asked for and listed, each by its own control.',
  ],
  [
    '26',
    'the same bytes under two intents are two plans',
    [[port, 'equal text under two intents is two plans']],
  ],
  [
    '27-34',
    'each refusal through the whole command: exit 3, nothing started, nothing made',
    [nothingStarts, [whole, '%j is refused and nothing is started, stored or made']],
  ],
  [
    '35',
    'a refusal connects to nobody, shown by a server that listens',
    [[required, 'connects to nobody, with a meter and without']],
  ],
  [
    '36',
    'what has a control passes, and the text is not in what the user says',
    [onceWhole, [plans, 'replace: the configuration holds the text']],
  ],
  [
    '37',
    'with the guard deleted the same requests go through',
    [
      [seam, 'nothing but the seam refuses an intent of %s, a dimension, or a state that nobody measured'],
      [path, '%s comes of the seam alone: without it the program is started'],
    ],
  ],
];

const more: readonly Case[] = [
  ['code', 'a refusal has the same code on every harness', [refused]],
  ['passthrough', 'what is no harness honours nothing, whatever is asked', [noName]],
  [
    'empty',
    'an empty text is a text',
    [
      [port, 'an empty text is a text'],
      [verify, 'an honest program: every cell, every trap'],
    ],
  ],
  [
    'no text',
    'what is no text is an error of the request',
    [[port, 'what is no request is no request here either']],
  ],
  [
    'large',
    'a large text goes by a file or is refused with its size, never as what the user says',
    [
      [port, '%s: a text of 2 MB goes by a file, or is refused with its size and the limit'],
      [plans, 'an addition of 130 KiB or with a NUL is refused; a replacement of both is not'],
    ],
  ],
  [
    'dash',
    'a text or task that begins with a dash is no option',
    [onceWhole, [plans, 'so that a dash is no option'], [plans, 'the task %j goes by %s, as it is']],
  ],
  [
    'resume',
    'controls are sent again, or not, as each program was measured',
    [
      [port, 'a session is continued by its id, or that is refused'],
      [session, 'goes on in the vendor session, and the text is sent again'],
      [session, 'whose harness keeps the text does not send it again'],
    ],
  ],
  [
    'no trace',
    'a refusal leaves no session and no home',
    [[drive, 'an intent without a control is refused: no start, no home, no session']],
  ],
  [
    'every row',
    'a new adapter without rows fails',
    [[port, 'every folder of harnesses/ is in the catalogue, so none is without a row']],
  ],
  [
    'probe',
    'each program was asked for real, and what ships is what was seen',
    [
      ['src/deliver/evidence.test.ts', 'every cell that ships was measured as it is'],
      ['src/deliver/meter/real-programs.test.ts', 'the text is proven in each request, resumed too'],
    ],
  ],
];

const neighbours: readonly Case[] = [
  [
    'swap',
    'a file of the workspace with other bytes is refused',
    'No file of a plan lies in a workspace, so none can meet one of the user.',
  ],
  [
    'edited',
    'what the agent made of the files of the user stands',
    [ownFolder, [required, 'in the workspace are never written']],
  ],
  [
    'folder',
    'another folder gets its files again',
    'Files of a plan lie in the home of the session; each run writes them anew, wherever it works.',
  ],
  [
    'traversal',
    'a name that leads elsewhere writes nothing',
    [
      ['src/deliver/check-request.test.ts', "['skills', [{ name: '../x'"],
      [home, 'a file that leads out of the home is not written'],
    ],
  ],
  [
    'receipt',
    'the receipt comes before a failed end',
    [[required, 'of a program that fails the receipt is recorded before its end']],
  ],
  [
    'once',
    'the text of gemini stands in one place',
    [[plans, 'the variable names the file, which is exact, and nothing else carries the text']],
  ],
  [
    'binding',
    'a session is continued as it began, both bindings named; one that was never named is not begun anew',
    [
      [session, 'with another intent or other dimensions is refused, both bindings named'],
      [session, 'that the program never named, or whose home is gone, is not begun anew in silence'],
    ],
  ],
  ['server', 'where the model is does not bind', [[required, 'only the text and what is asked for bind']]],
];

const noServer = 'No server takes tasks of others: who starts a run holds it, and waits for nobody.';
const runtime: readonly Case[] = [
  [
    'coordinates',
    'a run is found by its name, with program, session and receipt',
    [
      [whole, 'drawn with what was delivered'],
      ['src/cli/runs/runs.test.ts', 'a run is found by its beginning and its end'],
    ],
  ],
  [
    'retries',
    'two that go on with one run: one does',
    [
      ['test/sessions.test.ts', 'at once: one carries it on, the other is refused and changes nothing'],
      [store, 'of two who want a run at one moment one gets it'],
    ],
  ],
  [
    'two creators',
    'two that begin the next run of a session',
    [['test/sessions.test.ts', 'is refused when another process has just begun it']],
  ],
  ['queue', 'waiting for a session or a slot', noServer],
  [
    'setup',
    'a start that failed is proven not to have been one',
    [
      [session, 'a program that is not there was not started, which is proven'],
      [home, 'a home that cannot be filled is left without files of the run'],
    ],
  ],
  [
    'replay',
    'a record is read to its end, in order and whole',
    [
      [store, 'are numbered from 1 in the order of the calls, each call whole'],
      ['src/cli/runs/runs.test.ts', 'events prints the record in order'],
    ],
  ],
  ['cursors', 'a reader that comes back with a cursor', noServer],
  [
    'names',
    'a name that could lead elsewhere is none',
    [[home, 'a name that is no session of ours removes nothing']],
  ],
  [
    'cancel',
    'a cancel is done when nothing of the program is left',
    [[session, 'a cancel ends %s within two seconds, and nothing is left']],
  ],
  [
    'restart',
    'after a crash the run is unknown, what still ran is ended, and nothing starts again',
    [[killed, 'ends what still runs, tells that the outcome is unknown, and starts nothing']],
  ],
  [
    'completed',
    'a completed run is read by another process',
    [['src/cli/runs/runs.test.ts', 'show draws the whole run']],
  ],
  [
    'memory',
    'output of a program is held in bounded memory',
    [
      ['src/deliver/drive/lines.test.ts', 'of a flood the beginning and the end are kept'],
      ['src/deliver/drive/lines.test.ts', 'a line that is too long is left out whole'],
    ],
  ],
  ['admission', 'classes of clients, reserved slots, capacity', noServer],
  ['slots', 'slots that come back however a run ends', noServer],
  [
    'end',
    'a run ends with its program, also where something else holds the output',
    [[session, 'a background child that holds the output is ended and named, and the answer counts at once']],
  ],
  [
    'progress',
    'timers that stand by for progress',
    'No timer waits for a line: what is shown as progress is drawn by the clock of the terminal alone.',
  ],
  [
    'fs-jail',
    'a command in a sandbox sees its workspace and the system alone; without the sandbox nothing runs',
    [
      [boxes, 'a command changes its workspace and nothing else'],
      [boxes, '%s: refused, and nothing is run without it'],
    ],
  ],
  [
    'logins',
    'a login is copied as real bytes, selected files only, and the one of the user stays as it is',
    [
      [home, 'a login is copied as real bytes, once, and the user keeps his own'],
      [plans, '$name: a login is copied only where the caller gives no key'],
    ],
  ],
  [
    'net-jail',
    'a network that leads to one model only',
    'Agent programs keep the network of their user; only a command in a sandbox is without one.',
  ],
  [
    'trace',
    'each span once, unknown use left out, an open end said to be so',
    [
      ['src/run/trace.test.ts', 'each span has its parent, its times, its end'],
      ['src/run/trace.test.ts', 'what has no end in the record is open'],
    ],
  ],
  [
    'abort queued',
    'a cancel before the start starts nothing',
    [[session, 'a cancel before the start starts nothing']],
  ],
  [
    'plan files',
    'of every program no file of the plan stays',
    [
      [drive, 'the environment is a short list, the folder the workspace, and no prompt file stays'],
      [home, 'what a dead Writ left running is ended, its files are removed'],
    ],
  ],
  [
    'variable',
    'a variable too large is told by its name',
    [[port, 'a variable too large to start a program with is refused by its name']],
  ],
  [
    'a wrong word',
    'a sandbox or level that there is not stops everything',
    [
      [
        'test/commands.test.ts',
        'an option that would not be kept is refused, and so is a sandbox that is not there',
      ],
      [whole, "['--harness', 'pi', '--lower', 'approvals=none'"],
    ],
  ],
  ['no resume', 'a harness that cannot continue says so', [[port, "code: 'deliver.no-resume'"]]],
];

const reports: readonly Case[] = [
  [
    'P01',
    'a line of the vendor that stays beside a replacement is shown; exact is refused',
    [
      [port, 'a measured cell beats every table'],
      ['src/deliver/receipt.test.ts', 'control, transport, bytes, digest, version, cell, role and residue'],
      [verify, 'an honest program: every cell, every trap'],
    ],
  ],
  [
    'P03',
    'a replacing key of the user is not obeyed and not written over; one of the machine refuses the run',
    [
      [required, 'is neither obeyed nor written over'],
      ['src/deliver/ambient.test.ts', 'a file that was set for the whole machine refuses the run'],
    ],
  ],
  [
    'P05',
    'what stays beside a replacement is listed, and what cannot be kept out refuses or is named',
    [
      [verify, 'a file of the workspace speaks above the conversation'],
      [session, 'one that only stands beside the text is named in the receipt'],
      [port, 'a measured cell beats every table'],
    ],
  ],
  [
    'P07',
    'the text stands once after two resumes',
    [
      ['src/deliver/drive/real-programs.test.ts', 'the text stands once after two resumes'],
      [verify, 'it keeps the text of a session and gets it again'],
    ],
  ],
  [
    'P09',
    'a session goes on with the text that it began with, or not at all',
    [
      [required, 'goes on with the text that it began with, and says so'],
      [session, 'with another intent or other dimensions is refused'],
    ],
  ],
  [
    'P11',
    'project text beyond what codex reads is refused with both sizes',
    [[plans, 'project files beyond what codex reads are refused with both sizes']],
  ],
  [
    'P13',
    'a task that begins with a dash is a task; such a model is none',
    [
      [plans, 'the task %j goes by %s, as it is'],
      [plans, '$name runs what begins with a slash as its own command'],
      [port, 'what is no request is no request here either'],
    ],
  ],
  [
    'P23',
    'the memory of the operator is not read where a home of its own is empty',
    [
      [
        'src/cli/experiment/outside.test.ts',
        'the home that a program is given is not the one of the operator',
      ],
      ['src/cli/experiment/outside.test.ts', 'a trial in which a canary reached the model is invalid'],
    ],
  ],
  [
    'P51',
    'one message is counted once, with its last values',
    [
      [
        'src/deliver/drive/usage.test.ts',
        'three reports of one message, the last with more output, count once',
      ],
    ],
  ],
  [
    'P53',
    'no price is unknown and refuses a limit in money; cached tokens count once in both forms',
    [
      ['src/deliver/meter/metered-run.test.ts', 'money, limited: the model %s is %s'],
      [drive, 'tokens are counted once: cached ones are a part of the prompt'],
      ['src/wire/anthropic-reader.test.ts', 'tokens of the cache are added to those beside it, once'],
      ['src/wire/openai-chat-faults.test.ts', 'has cached tokens inside the prompt'],
    ],
  ],
  [
    'P57',
    'a child in the background delays nothing and is ended, detached or not',
    [
      [session, 'a background child that holds the output is ended and named'],
      [session, 'one that does not, with a child in a group of its own'],
      ['src/sandbox/sandbox.cases.ts', 'a child in the background that holds the pipes blocks nothing'],
    ],
  ],
  [
    'P59',
    'a secret in arguments, output and errors is in no record and no stream',
    [
      [required, 'in arguments, a result, its answer and an error is in no stream and no record'],
      ['test/secrets.test.ts', 'is absent from children, record, streams and output, and was used'],
    ],
  ],
  [
    'P61',
    'a sandbox that is missing or breaks refuses; doing without is said and recorded',
    [
      [boxes, '%s: refused, and nothing is run without it'],
      [boxes, 'a sandbox that breaks after it was opened rejects the start'],
      ['test/commands.test.ts', 'so is a sandbox that is not there'],
    ],
  ],
  [
    'P83',
    'memory, hooks and model of the operator are in neither arm',
    [
      ['src/cli/experiment/experiment.test.ts', "the operator's memory, model and hooks are in neither arm"],
      [
        'src/cli/experiment/outside.test.ts',
        'the home that a program is given is not the one of the operator',
      ],
    ],
  ],
];

describeCases({ intents, more, neighbours, runtime, reports });

test('no case is missing', () => {
  const numbers = intents.flatMap(([number]) => {
    const [first = '', last = first] = number.split(' ')[0]?.split('-') ?? [];
    return Array.from({ length: Number(last) - Number(first) + 1 }, (_, i) => Number(first) + i);
  });
  expect([...new Set(numbers)]).toEqual(Array.from({ length: 37 }, (_, i) => i + 1));
  expect([more, neighbours, runtime].map(({ length }) => length)).toEqual([10, 8, 25]);
});
