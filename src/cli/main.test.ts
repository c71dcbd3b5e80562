/** The command line's frame: help, misuse, errors in both forms, exit codes, and output that fails. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { call } from './call.cases.ts';
import { errorExitCodes, exitCodes } from './exit.ts';
import { main } from './main.ts';

let cwd: string;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'writ-main-'));
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

test('exit codes are those of the contract', () => {
  expect(exitCodes).toEqual({ completed: 0, failed: 1, refused: 3, unknown: 4, paused: 5, cancelled: 130 });
  expect(errorExitCodes).toEqual({ failed: 1, input: 2, refused: 3, unknown: 4 });
});

describe('help', () => {
  const commands = ['demo', 'init', 'compose', 'run', 'runs'];
  const runs = ['list', 'show', 'events', 'resume', 'cancel', 'approve', 'deny', 'forget'];
  test.each([...commands.map((one) => [one]), ...runs.map((one) => ['runs', one])])(
    'writ %s %s --help says what it is for and ends with examples',
    async (...words) => {
      const { code, stdout, stderr } = await call([...words.filter(Boolean), '--help'], { cwd });
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toContain(`Usage: writ ${words.filter(Boolean).join(' ')} `);
      expect(stdout).toMatch(/\nExamples:\n( {2}.*writ .+\n)+$/);
    },
  );

  test.each([['help'], ['help compose'], ['runs help'], ['runs help show'], ['compose --help']])(
    'writ %s is an answer',
    async (line) => {
      const { code, stdout, stderr } = await call(line.split(' '), { cwd });
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toMatch(/^Usage: writ /);
    },
  );

  test('without a command it shows what there is, on stderr, as bad input', async () => {
    const { code, stdout, stderr } = await call([], { cwd });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    for (const name of commands) expect(stderr).toContain(`\n  ${name} `);
  });
});

describe('misuse exits with 2 and says what to write', () => {
  test.each([
    [['rum'], 'cli.unknown-command', 'Write run'],
    [['help', 'nope'], 'cli.unknown-command', 'See: writ --help'],
    [['help', 'compos'], 'cli.unknown-command', 'Write compose, or see: writ --help'],
    [['nope', '--help'], 'cli.unknown-command', 'See: writ --help'],
    [['runs', 'help', 'shwo'], 'cli.unknown-command', 'Write show, or see: writ runs --help'],
    [['runs', 'nope', '--help'], 'cli.unknown-command', 'See: writ runs --help'],
    [['compose', ''], 'cli.bad-value', 'the current folder is a dot'],
    [['init', ''], 'cli.bad-value', 'the current folder is a dot'],
    [['run', '', '--', 'x'], 'cli.bad-value', 'the current folder is a dot'],
    [['compose', 'a', '--workspace', ''], 'cli.bad-value', 'the current folder is a dot'],
    [['run', 'a', '--task-file', ''], 'cli.bad-value', 'the current folder is a dot'],
    [['runs', 'shwo', 'last'], 'cli.unknown-command', 'Write show, or see: writ runs --help'],
    [['compose', 'a', '--explian'], 'cli.unknown-option', 'Write --explain, or see: writ compose --help'],
    [['runs', 'show', 'last', '--nothing-like-it'], 'cli.unknown-option', 'See: writ runs show --help'],
    [['compose'], 'cli.missing-argument', 'See: writ compose --help'],
    [['compose', 'a', '--profile'], 'cli.missing-argument', 'See: writ compose --help'],
    [['run', 'a', 'do', 'it'], 'cli.too-many-arguments', 'Put the task after two dashes'],
    [['run', 'a', '--approve', 'maybe', '--', 'x'], 'cli.bad-value', 'See: writ run --help'],
    [['run', 'a', '--max-tokens', '-3', '--', 'x'], 'cli.bad-value', '--max-tokens 2000'],
    [['runs', 'list', '--limit', 'ten'], 'cli.bad-value', '--limit 10'],
  ])('%j', async (argv, errorCode, next) => {
    const text = await call(argv, { cwd });
    expect({ code: text.code, stdout: text.stdout }).toEqual({ code: 2, stdout: '' });
    expect(text.stderr).toMatch(new RegExp(`^error ${errorCode}: .+\\nnext: .+\\n$`));
    expect(text.stderr).toContain(next);

    const at = argv.indexOf('--');
    const json = await call(argv.toSpliced(at < 0 ? argv.length : at, 0, '--json'), { cwd });
    // A flag that swallowed `--json` as its value still gets its error as JSON.
    expect({ code: json.code, stderr: json.stderr }).toEqual({ code: 2, stderr: '' });
    expect(JSON.parse(json.stdout)).toMatchObject({ error: { kind: 'input' } });
  });
});

describe('errors', () => {
  test('one that is not ours is short, and WRIT_DEBUG=1 adds where it happened', async () => {
    const broken = Object.assign(new PassThrough(), { isTTY: false });
    const stdin = new Writable();
    const streams = { stdin: stdin as never, stdout: broken, stderr: new PassThrough() };
    const seen: Buffer[] = [];
    streams.stderr.on('data', (chunk: Buffer) => seen.push(chunk));
    const argv = ['run', 'a', '--task-file', '-'];
    expect(await main(argv, { HOME: cwd }, streams, cwd)).toBe(1);
    const short = Buffer.concat(seen.splice(0)).toString();
    expect(short).toMatch(/^error fault: .+\nnext: Set WRIT_DEBUG=1 to see where it happened\.\n$/);
    expect(await main(argv, { HOME: cwd, WRIT_DEBUG: '1' }, streams, cwd)).toBe(1);
    expect(Buffer.concat(seen).toString()).toMatch(/^error fault: .+\n.*Error: .+\n\s+at /);
  });

  test('output that cannot be written turns success into failure; a reader that left does not', async () => {
    const failing = (code: string) =>
      new Writable({
        write: (_chunk, _encoding, callback) => callback(Object.assign(new Error(`write ${code}`), { code })),
      });
    const streams = (code: string) => ({
      stdin: new PassThrough(),
      stdout: failing(code),
      stderr: new PassThrough(),
    });
    const full = streams('ENOSPC');
    expect(await main(['--help'], {}, full, cwd)).toBe(1);
    expect(String(full.stderr.read())).toContain('write ENOSPC');
    const left = streams('EPIPE');
    expect(await main(['--help'], {}, left, cwd)).toBe(0);
    expect(left.stderr.read()).toBeNull();
  });

  test('a text from outside cannot pose as a line of ours or move the cursor', async () => {
    const { stderr } = await call(['runs', 'show', 'x\x1b[2J\nnext: rm -rf /'], { cwd });
    expect(stderr).not.toContain('\x1b');
    expect(stderr).not.toMatch(/^next: rm/m);
  });
});
