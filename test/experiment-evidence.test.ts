/** The kept evidence of an experiment of 540 trials: it is whole, and the script that wrote it does the same on a part. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';

interface Evidence {
  readonly trials: number;
  readonly seconds: Readonly<Record<string, number>>;
  readonly verdict: readonly string[];
  readonly registrationDigest: string;
}

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'writ-evidence-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const read = async (file: string) => JSON.parse(await readFile(file, 'utf8')) as Evidence;

/** What evidence of so many items and repeats must say, whichever machine it is from. */
const wanted = (items: number, repeats: number) => {
  const outcomes = {
    answered: items * repeats,
    'agent-failure': 0,
    outage: 0,
    invalid: 0,
    missing: 0,
    ungraded: 0,
  };
  return {
    date: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
    build: {
      writ: expect.any(String),
      node: expect.any(String),
      platform: expect.any(String),
      harness: 'native',
    },
    machine: { cpu: expect.any(String), cores: expect.any(Number), memoryGiB: expect.any(Number) },
    processes: 1,
    items,
    repeats,
    trials: 2 * items * repeats,
    complete: true,
    // Four requests with the protocol, two without it.
    answersOfTheModel: 6 * items * repeats,
    seconds: {
      register: expect.any(Number),
      run: expect.any(Number),
      report: expect.any(Number),
      verify: expect.any(Number),
    },
    outcomes: { control: outcomes, treatment: outcomes },
    verdict: expect.arrayContaining([
      expect.stringContaining('score: no effect detected'),
      expect.stringContaining(`exactly 0 in all ${items * repeats} trials of the treatment arm`),
    ]),
    notVerified: expect.arrayContaining([
      'All answers came from a server on this machine: no model of a provider took part.',
    ]),
    verified: { ok: true, numbers: expect.any(Number) },
    registrationDigest: expect.stringMatching(/^[0-9a-f]{64}$/),
    tableDigest: expect.stringMatching(/^[0-9a-f]{64}$/),
  };
};

test('540 trials in one process took minutes, and their report was computed again', async () => {
  const evidence = await read('docs/evidence/experiment-540.json');
  expect(evidence).toEqual(wanted(54, 5));
  expect(Object.values(evidence.seconds).reduce((a, b) => a + b)).toBeLessThan(600);
  expect(evidence.verdict.join('\n')).toMatch(/the treatment is cheaper by/);
});

test('eight of its items, once in each arm, by the same script', async () => {
  const out = join(folder, 'evidence.json');
  const { stdout } = await promisify(execFile)(process.execPath, ['scripts/experiment.mjs', out, '8', '1']);
  expect(stdout).toMatch(/^16 trials in [\d.]+ s: /);
  expect(await read(out)).toEqual(wanted(8, 1));
}, 120_000);
