// All that is measured of one program: verify, the families of models, and how it ends a turn; and what of it is a fault.
import { verifiedLines } from '../dist/cli/harness/verified-lines.js';
import { verifyHarness } from '../dist/deliver/verify/verify.js';
import { behaviour } from './behaviour.mjs';
import { modelsOf } from './programs.mjs';

// Sizes hold paths and dates of the machine, and what it has installed; where a text lands and what suffers does not.
const ofTheMachine = ['residue.bytes', 'builtInBytes'];

/** `quick` takes the first model alone, and fewer texts and ends. */
export async function measure(options, quick) {
  const { adapter } = options;
  const [model, ...others] = modelsOf(adapter.name);
  const from = performance.now();
  const report = await verifyHarness({ ...options, model, depth: quick ? 'short' : 'full' });
  const ends = await behaviour({ ...options, model, version: report.version }, quick);
  const known = report.intents.flatMap(({ cells }) => cells);
  const families = [];
  for (const other of quick ? [] : others)
    families.push(
      await familyOf(await verifyHarness({ ...options, model: other, known, depth: 'cells' }), other),
    );
  const seconds = Math.round((performance.now() - from) / 1000);
  const linesOf = (drift) => [
    verifiedLines({ status: 'measured', harness: adapter.name, report: { ...report, drift } }, true).trim(),
    ...families.map(familyLine),
    ...Object.entries(ends).map(endLine),
    `  (${seconds} s)`,
  ];
  const date = new Date(options.clock.now()).toISOString().slice(0, 10);
  const on = `${date}, ${process.platform}-${process.arch}, Node ${process.versions.node}`;
  return {
    shown: linesOf(report.drift).join('\n'),
    // What is kept ships, so that it differs from nothing; where the program stood on this machine says nothing of it.
    report: {
      ...{ ...report, program: adapter.program, drift: [], on, families, behaviour: ends },
      lines: linesOf([]).join('\n'),
    },
    cells: [...known, ...families.flatMap(({ cells }) => cells)],
    faults: [
      ...report.faults,
      ...families.flatMap(({ modelFamily, faults }) => faults.map((fault) => `${modelFamily}: ${fault}`)),
      ...endFaults(ends),
      ...(quick ? report.drift.filter(({ field }) => !ofTheMachine.includes(field)).map(driftFault) : []),
    ],
  };
}

function familyOf({ modelFamily, intents, faults }, model) {
  return { modelFamily, model, cells: intents.flatMap(({ cells }) => cells), faults };
}

function familyLine({ modelFamily, model, cells }) {
  const builtIn = cells.find(({ builtInBytes }) => builtInBytes !== null)?.builtInBytes ?? 'unknown';
  const beside = cells
    .filter(({ fidelity }) => fidelity === 'base')
    .map(
      ({ intent, residue, delivered }) => `${intent} ${delivered ? `${residue.bytes} B` : 'NOT DELIVERED'}`,
    );
  return `  ${model ?? 'its own model'} (${modelFamily}): ${builtIn} bytes of its own; beside ${beside.join(', ')}`;
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
