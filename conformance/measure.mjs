// All that is measured of one program: verify, the families of models, and how it ends a turn; and what of it is a fault.
import { basename } from 'node:path';
import { verifiedLines } from '../dist/cli/harness/verified-lines.js';
import { verifyHarness } from '../dist/deliver/verify/verify.js';
import { behaviour } from './behaviour.mjs';
import { statesOf } from './programs.mjs';

// Sizes hold paths and dates of the machine, and what it has installed; where a text lands and what suffers does not.
const ofTheMachine = ['residue.bytes', 'builtInBytes'];

/** `quick` takes the first state alone, and fewer texts and ends. */
export async function measure(options, quick) {
  const { adapter } = options;
  const [first, ...others] = statesOf(adapter.name);
  const from = performance.now();
  const report = await verifyHarness({ ...options, ...first, depth: quick ? 'short' : 'full' });
  const ends = await behaviour({ ...options, ...first, version: report.version }, quick);
  const known = report.intents.flatMap(({ cells }) => cells);
  const families = [];
  for (const state of quick ? [] : others) families.push(await measureState(options, state, known));
  const seconds = Math.round((performance.now() - from) / 1000);
  const whole = { ...report, behaviour: ends, families, seconds };
  return {
    shown: linesOf(whole),
    report: kept(options, whole),
    cells: [...known, ...families.flatMap(({ cells }) => cells)],
    faults: [
      ...report.faults,
      ...familyFaults(families),
      ...endFaults(ends),
      ...(quick ? report.drift.filter(({ field }) => !ofTheMachine.includes(field)).map(driftFault) : []),
    ],
  };
}

/** The states that a kept measurement of the same version has not, added to it. */
export async function measureMissing(options, before) {
  const known = before.intents.flatMap(({ cells }) => cells);
  const there = [before, ...before.families].map(({ modelFamily, authMode }) => `${modelFamily} ${authMode}`);
  const missing = statesOf(options.adapter.name).filter(
    ({ model, authMode }) => !there.includes(`${options.adapter.family(model)} ${authMode}`),
  );
  const added = [];
  for (const state of missing) added.push(await measureState(options, state, known));
  const whole = { ...before, families: [...before.families, ...added] };
  return {
    shown: [before.harness, ...added.map(familyLine)].join('\n'),
    report: { ...whole, lines: linesOf(whole) },
    cells: [...known, ...whole.families.flatMap(({ cells }) => cells)],
    faults: familyFaults(added),
  };
}

/** Every agent of the protocol: that its text does not arrive is what is measured, so only a change is a fault. */
export async function measureAgents(options, agents) {
  const reports = [];
  for (const [program, words] of agents)
    reports.push(await verifyHarness({ ...options, program, words, model: null }));
  const lines = reports.map((report) => agentLines({ ...report, drift: [] })).join('\n');
  const { clock } = options;
  const kept = reports.map((report) => ({ ...report, program: basename(report.program), drift: [] }));
  return {
    shown: reports.map(agentLines).join('\n'),
    report: { harness: 'acp', on: onText(clock), agents: kept, lines },
    cells: reports.flatMap(({ intents }) => intents.flatMap(({ cells }) => cells)),
    faults: reports.flatMap(({ drift }) =>
      drift.filter(({ field }) => !ofTheMachine.includes(field)).map(driftFault),
    ),
  };
}

function agentLines(report) {
  return verifiedLines({ status: 'measured', harness: 'acp', report }, true).trim();
}

async function measureState(options, { model, authMode }, known) {
  const report = await verifyHarness({ ...options, model, authMode, known, depth: 'cells' });
  const { modelFamily, intents, faults } = report;
  return { modelFamily, authMode, model, cells: intents.flatMap(({ cells }) => cells), faults };
}

// What is kept ships, so that it differs from nothing; where the program stood on this machine says nothing of it.
function kept({ adapter, clock }, whole) {
  const report = { ...whole, program: adapter.program, drift: [], on: onText(clock) };
  return { ...report, lines: linesOf(report) };
}

function onText(clock) {
  const date = new Date(clock.now()).toISOString().slice(0, 10);
  return `${date}, ${process.platform}-${process.arch}, Node ${process.versions.node}`;
}

function linesOf(whole) {
  const { harness, families, behaviour: ends, seconds } = whole;
  return [
    verifiedLines({ status: 'measured', harness, report: whole }, true).trim(),
    ...families.map(familyLine),
    ...Object.entries(ends).map(endLine),
    `  (${seconds} s)`,
  ].join('\n');
}

function familyFaults(families) {
  return families.flatMap(({ modelFamily, authMode, faults }) =>
    faults.map((fault) => `${modelFamily}, ${authMode}: ${fault}`),
  );
}

function familyLine({ modelFamily, authMode, model, cells }) {
  const builtIn = cells.find(({ builtInBytes }) => builtInBytes !== null)?.builtInBytes ?? 'unknown';
  const beside = cells
    .filter(({ fidelity }) => fidelity === 'base')
    .map(
      ({ intent, residue, delivered }) => `${intent} ${delivered ? `${residue.bytes} B` : 'NOT DELIVERED'}`,
    );
  const login = authMode === 'login' ? ', logged in' : '';
  return `  ${model ?? 'its own model'} (${modelFamily}${login}): ${builtIn} bytes of its own; beside ${beside.join(', ')}`;
}

function driftFault({ intent, fidelity, field, was, is }) {
  return `${intent} ${fidelity}: ${field} was ${JSON.stringify(was)}, is ${JSON.stringify(is)}`;
}

function endLine([name, { exitCode, stopped, ms, requests, toolResults }]) {
  const end = stopped === null ? `exit code ${exitCode}` : stopped;
  return `  ${name.padEnd(10)}  ${end}, ${requests} requests${toolResults > 0 ? `, ${toolResults} tool results` : ''}, ${ms} ms`;
}

function endFaults(ends) {
  return Object.entries(ends).flatMap(
    ([what, { textInEveryRequest, leftProcesses, leftInWorkspace, toolResults }]) => [
      ...(textInEveryRequest ? [] : [`${what}: our text is not in every request`]),
      ...(leftProcesses === null || leftProcesses.length === 0
        ? []
        : [`${what}: still there: ${leftProcesses.join('; ')}`]),
      ...(leftInWorkspace.length === 0
        ? []
        : [`${what}: left in the workspace: ${leftInWorkspace.join(', ')}`]),
      ...(what === 'tool call' && toolResults === 0 ? ['no tool result went back'] : []),
    ],
  );
}
