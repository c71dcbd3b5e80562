// What a supervised command costs: from the call to the first byte of its output, against child_process.spawn of the same.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bubblewrapSandbox, localSandbox, startCommand } from '../dist/index.js';

const rounds = 40;
const argv = ['/bin/sh', '-c', 'echo first'];
const signal = new AbortController().signal;

export async function main() {
  const base = mkdtempSync(join(tmpdir(), 'writ-bench-'));
  mkdirSync(join(base, 'workspace'));
  const places = { workspace: join(base, 'workspace'), folder: join(base, 'commands'), env: process.env };
  try {
    const ways = new Map([
      ['child_process.spawn', bare],
      ['local', supervised(localSandbox(places))],
    ]);
    try {
      ways.set('bubblewrap', supervised(bubblewrapSandbox(places)));
    } catch {
      console.log('bubblewrap does not work here and is left out');
    }
    const taken = new Map([...ways.keys()].map((name) => [name, []]));
    // Interleaved, so that a slow moment of the machine does not fall on one way alone.
    for (let round = -3; round < rounds; round += 1) {
      for (const [name, way] of ways) {
        const before = performance.now();
        await way(round);
        if (round >= 0) taken.get(name).push(performance.now() - before);
      }
    }
    const middle = (list, part) => list.sort((a, b) => a - b)[Math.floor(list.length * part)];
    const spawned = middle(taken.get('child_process.spawn'), 0.5);
    for (const [name, list] of taken) {
      const median = middle(list, 0.5);
      const ratio = (median / spawned).toFixed(1);
      console.log(
        `${name.padEnd(20)} first byte ${median.toFixed(1)} ms (p90 ${middle(list, 0.9).toFixed(1)} ms), ${ratio} x spawn`,
      );
    }
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

async function bare() {
  const child = spawn(argv[0], argv.slice(1), { stdio: ['ignore', 'pipe', 'pipe'] });
  await new Promise((resolve) => child.stdout.once('data', resolve));
}

function supervised(sandbox) {
  return async (round) => {
    const locator = { sandbox: sandbox.name, id: `${sandbox.name}_${process.pid}_${round + 100}` };
    const spec = {
      argv,
      cwd: '',
      env: {},
      stdin: false,
      lifetimeMs: 10_000,
      outputBytesMax: 1000,
      owner: 'bench',
    };
    const { outcome } = await startCommand(sandbox, spec, {
      locator,
      beforeDispatch: async () => {},
      signal,
    });
    if (outcome !== 'started') throw new Error(outcome);
    const request = { stdout: 0, stderr: 0, bytesMax: 100, waitMs: 10_000, until: 'output' };
    const { stdout } = await sandbox.read(locator, request, signal);
    if (stdout.text !== 'first\n') throw new Error('no output');
  };
}
