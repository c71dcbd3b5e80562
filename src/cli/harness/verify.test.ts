/** `writ harness verify` as a command: what it refuses, what it finds, and the lines that a person reads. */
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { HarnessReport } from '../../deliver/verify/verify.ts';
import type { Cell } from '../../protocol/delivery.ts';
import { call } from '../call.cases.ts';
import { verifiedLines } from './verified-lines.ts';

let cwd: string;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'writ-harness-'));
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

const env = { PATH: '/nowhere' };

test.each([
  [['codx'], "There is no harness 'codx'."],
  [['--bin', 'codex'], '--bin expected NAME=PATH'],
  [['--bin', '=x'], '--bin expected NAME=PATH'],
  [['--bin', 'codex='], '--bin expected NAME=PATH'],
  [['--bin', 'nobody=/x'], "There is no harness 'nobody'."],
])('%j is refused', async (argv, message) => {
  const { code, stderr } = await call(['harness', 'verify', ...argv], { cwd, env });
  expect(code).toBe(2);
  expect(stderr).toContain(`error cli.bad-value: ${message}`);
});

test('nothing installed is one line, and fails', async () => {
  const { code, stdout } = await call(['harness', 'verify'], { cwd, env });
  expect([code, stdout]).toEqual([1, 'not found on PATH: claude, codex, gemini, opencode, pi, qwen\n']);
});

test('a named program that is not there, and a harness without one, are said and fail', async () => {
  const { code, stdout } = await call(['harness', 'verify', 'codex', 'native'], { cwd, env });
  expect(code).toBe(1);
  expect(stdout).toBe(
    '\nnative: it starts no program that could be sent elsewhere\n\ncodex: the program codex was not found on PATH\n',
  );
  expect(await readdir(cwd)).toEqual([]);
});

test('a program that asks no model fails with its reason; no measurement of it is kept', async () => {
  const program = join(cwd, 'codex');
  await writeFile(
    program,
    '#!/bin/sh\n[ "$1" = --version ] && echo codex-cli 9.9.9 && exit\necho broken >&2; exit 4\n',
    { mode: 0o755 },
  );
  const { code, stdout } = await call(['harness', 'verify', 'codex', '--bin', 'codex=./codex', '--json'], {
    cwd,
    env: { PATH: process.env.PATH },
  });
  expect(code).toBe(1);
  const { harnesses, stored } = JSON.parse(stdout);
  expect(stored).toBe(join(cwd, '.local/state/writ/cells.json'));
  expect(harnesses).toMatchObject([{ status: 'measured', harness: 'codex', report: { version: '9.9.9' } }]);
  expect(harnesses[0].report.faults[0]).toBe(
    'replace: no request to a model was seen: it ended with exit code 4; it said: broken',
  );
  expect(harnesses[0].report.intents.flatMap(({ cells }: { cells: unknown[] }) => cells)).toEqual([]);
});

test('a file of measurements that is none stops it before anything is run', async () => {
  await mkdir(join(cwd, '.local/state/writ'), { recursive: true });
  await writeFile(join(cwd, '.local/state/writ/cells.json'), '{}');
  const { stderr } = await call(['harness', 'verify', 'codex'], { cwd, env });
  expect(stderr).toContain('error deliver.bad-cells: ');
});

test('a report as a person reads it', () => {
  const cell: Cell = {
    harness: 'fake',
    version: '1.0.0',
    modelFamily: 'default',
    authMode: 'api-key',
    intent: 'replace',
    fidelity: 'base',
    control: '--x',
    delivered: true,
    position: { field: 'system', role: 'system', index: 2 },
    residue: { bytes: 30, firstWords: 'A line\u001b[2J of the vendor' },
    builtInBytes: 5000,
    byteEquality: true,
    altered: ['bom'],
    date: '2026-01-01',
  };
  const lost = {
    ...cell,
    intent: 'append',
    delivered: false,
    position: null,
    residue: { bytes: 0, firstWords: '' },
    altered: [],
  } as const;
  const report: HarnessReport = {
    harness: 'fake',
    program: '/bin/fake',
    version: '1.0.0',
    modelFamily: 'default',
    authMode: 'api-key',
    intents: [
      {
        intent: 'replace',
        cells: [cell],
        traps: [{ trait: 'nul', outcome: 'refused', detail: 'x' }],
        fault: null,
      },
      { intent: 'append', cells: [lost], traps: [], fault: null },
    ],
    resume: [{ intent: 'replace', sameText: [1, 1], otherText: 'old', fault: null }],
    twice: [
      { intent: 'replace', control: '--x', counts: 'last' },
      { intent: 'append', control: '--y', counts: null },
    ],
    intrusion: [
      {
        intent: 'replace',
        planted: 50,
        ours: 'equal',
        fault: null,
        reached: [
          {
            where: 'workspace',
            path: '.env',
            position: { field: 'instructions', role: 'system', index: null },
            effect: 'speaks',
            declared: null,
          },
        ],
      },
    ],
    side: [{ bytes: 90, firstWords: 'Write a title' }],
    drift: [
      {
        intent: 'replace',
        fidelity: 'base',
        against: { version: '0.9.0', date: '2025-12-01' },
        field: 'residue.bytes',
        was: 900,
        is: 30,
      },
    ],
    faults: ['append, base: not delivered'],
  };
  expect(verifiedLines({ status: 'measured', harness: 'fake', report }, true)).toBe(
    [
      '',
      'fake 1.0.0, model family default, 5000 bytes of its own without us',
      '  replace base  delivered      system[2] (system)  30 B beside     alters: bom    "A line\\x1b[2J of the vendor"',
      '  append base   NOT DELIVERED  nowhere             nothing beside  byte for byte',
      '  replace: refused before anything is started: nul',
      '  replace, resumed once and twice: the text stands 1 and 1 times; resumed with another text: old',
      '  replace: --x given twice, ours last: ours counts',
      '  append: --y given twice, ours last: it ends without a request',
      '  replace: of 50 files that others could have left, 1 reached the model; our text: equal',
      '    .env of the workspace speaks at instructions',
      '  1 requests beside the task: 90 B "Write a title"',
      '  drift since 0.9.0 of 2025-12-01: replace base, residue.bytes was 900, is 30',
      '  ! append, base: not delivered',
      '',
    ].join('\n'),
  );
});
