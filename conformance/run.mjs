// Installs the pinned agent programs, measures each against a scripted model on this machine, and keeps what was seen in
// docs/evidence/. `node conformance/run.mjs [NAME…]` measures some; `--no-install` takes what is there; `--quick` leaves the
// failures of a provider out and keeps nothing.
import { spawnSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { adapters as parts } from '../dist/catalog.js';
import { verifiedLines } from '../dist/cli/harness/verified-lines.js';
import { systemClock } from '../dist/clock.js';
import { verifyHarness } from '../dist/deliver/verify/verify.js';
import { behaviour } from './behaviour.mjs';
import { writePage } from './page.mjs';
import { installedPrograms, pinned } from './programs.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const evidence = fileURLToPath(new URL('../docs/evidence/', import.meta.url));
const quick = process.argv.includes('--quick');
const names = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const unknown = names.filter((name) => !pinned.includes(name));
if (unknown.length > 0) {
  console.error(`not pinned here: ${unknown.join(', ')}; there are: ${pinned.join(', ')}`);
  process.exit(2);
}

if (!process.argv.includes('--no-install')) {
  const npm = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: here,
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
  });
  if (npm.status !== 0) {
    console.log(
      `SKIPPED: npm cannot install the agent programs here, so nothing was measured: ${npm.stderr?.trim().split('\n').at(-1) ?? npm.error}`,
    );
    process.exit(0);
  }
}

const programs = installedPrograms();
const adapters = await Promise.all(parts.map(({ load }) => load()));
const wanted = names.length === 0 ? pinned : names;
const missing = wanted.filter((name) => programs[name] === undefined);
if (missing.length > 0) {
  console.error(`not installed for ${process.platform}-${process.arch}: ${missing.join(', ')}`);
  process.exit(1);
}

const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => interrupted.abort(signal));

const reports = [];
const faults = [];
for (const name of wanted) {
  const adapter = adapters.find((one) => one.name === name);
  const program = programs[name];
  const from = performance.now();
  const report = await verifyHarness({
    adapter,
    adapters,
    program,
    model: null,
    known: adapter.cells,
    env: process.env,
    clock: systemClock,
    signal: interrupted.signal,
  });
  const ends = await behaviour({ adapter, adapters, program, version: report.version }, quick);
  const seconds = Math.round((performance.now() - from) / 1000);
  const date = new Date(systemClock.now()).toISOString().slice(0, 10);
  const on = `${date}, ${process.platform}-${process.arch}, Node ${process.versions.node}`;
  reports.push({ ...report, program: adapter.program, on, behaviour: ends });
  const lines = [
    verifiedLines({ status: 'measured', harness: name, report }, true),
    ...Object.entries(ends).map(endLine),
    `  (${seconds} s)\n`,
  ].join('');
  process.stdout.write(lines);
  reports.at(-1).lines = lines.trim();
  faults.push(...report.faults.map((fault) => `${name}: ${fault}`), ...endFaults(name, ends));
}

function endLine([name, { exitCode, stopped, ms, requests, toolResults }]) {
  const end = stopped === null ? `exit code ${exitCode}` : stopped;
  return `  ${name.padEnd(10)}  ${end}, ${requests} requests${toolResults > 0 ? `, ${toolResults} tool results` : ''}, ${ms} ms\n`;
}

function endFaults(name, ends) {
  return Object.entries(ends).flatMap(
    ([what, { textInEveryRequest, leftProcesses, leftInWorkspace, toolResults }]) => [
      ...(textInEveryRequest ? [] : [`${name}, ${what}: our text is not in every request`]),
      ...(leftProcesses === null || leftProcesses.length === 0
        ? []
        : [`${name}, ${what}: still there: ${leftProcesses.join('; ')}`]),
      ...(leftInWorkspace.length === 0
        ? []
        : [`${name}, ${what}: left in the workspace: ${leftInWorkspace.join(', ')}`]),
      ...(what === 'tool call' && toolResults === 0 ? [`${name}: no tool result went back`] : []),
    ],
  );
}

if (!quick) {
  await mkdir(evidence, { recursive: true });
  for (const report of reports) {
    await writeFile(`${evidence}${report.harness}.json`, `${JSON.stringify(report, null, 1)}\n`);
  }
  await writePage(evidence);
  // What is kept is held to the format of everything else here.
  spawnSync('npx', ['--no-install', 'biome', 'format', '--write', evidence], { stdio: 'ignore' });
}

if (faults.length > 0) {
  console.log(`\n${faults.length} faults:\n${faults.map((fault) => `- ${fault}`).join('\n')}`);
  process.exit(1);
}
console.log('\nno faults');
