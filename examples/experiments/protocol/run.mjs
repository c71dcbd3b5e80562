// The whole experiment in one process: node examples/experiments/protocol/run.mjs [RECORD-FOLDER]
// Registers it, runs all trials on the scripted model, writes the report and verifies it. Nothing leaves this machine.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { main } from '../../../dist/cli/main.js';
import { startModel } from './model.mjs';

const file = fileURLToPath(new URL('experiment.yaml', import.meta.url));
const record = process.argv[2] ?? mkdtempSync(join(tmpdir(), 'writ-protocol-'));
const model = await startModel();
const writ = async (...words) => {
  process.stdout.write(`\n$ writ ${words.join(' ')}\n`);
  const code = await main(words, process.env, process, process.cwd());
  if (code !== 0) process.exitCode = code;
  return code === 0;
};
const ledger = ['--ledger', join(record, 'ledger.sqlite')];
const place = ['--record', record];
try {
  const done =
    (await writ('experiment', 'register', file, ...place)) &&
    (await writ('experiment', 'run', file, ...place, ...ledger, '--base-url', model.baseUrl)) &&
    (await writ('experiment', 'report', file, ...place)) &&
    (await writ('experiment', 'verify', join(record, 'report.json')));
  process.stdout.write(`\n${model.answered()} answers of the model${done ? '' : '; stopped'}\n`);
} finally {
  await model.stop();
}
