// Measures the pinned agent programs against a scripted model on this machine. `node conformance/run.mjs [NAME…]` measures
// some; without `--quick` it keeps what was seen in docs/evidence/ and beside each adapter. `--quick` tries a few texts and
// ends of each kind, keeps nothing, and holds what it sees against the measurements that ship. `--missing` measures only the
// states that what is kept has not, and adds them.
import { spawnSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { adapters as parts } from '../dist/catalog.js';
import { systemClock } from '../dist/clock.js';
import { install } from './install.mjs';
import { measure, measureAgents, measureMissing } from './measure.mjs';
import { writePage } from './page.mjs';
import { acpAgents, pinned } from './programs.mjs';

const root = fileURLToPath(new URL('../', import.meta.url));
const evidence = `${root}docs/evidence/`;
const quick = process.argv.includes('--quick');
const missing = process.argv.includes('--missing');
const names = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const known = [...pinned, 'acp'];
const unknown = names.filter((name) => !known.includes(name));
if (unknown.length > 0) {
  console.error(`not pinned here: ${unknown.join(', ')}; there are: ${known.join(', ')}`);
  process.exit(2);
}

const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => interrupted.abort(signal));

const wanted = names.length === 0 ? known : names;
const needed = wanted.flatMap((name) => (name === 'acp' ? Object.keys(acpAgents) : [name]));
const { programs, fault, remove } = await install([...new Set(needed)]);
try {
  process.exitCode = fault === undefined ? await measureAll() : notInstalled();
} catch (error) {
  if (!interrupted.signal.aborted) throw error;
  console.error(`ended by ${interrupted.signal.reason}`);
  process.exitCode = 130;
} finally {
  await remove();
}

function notInstalled() {
  const why = `npm cannot install ${wanted.join(', ')} here, so nothing was measured: ${fault.said}`;
  console.log(fault.skip ? `SKIPPED: ${why}` : why);
  return fault.skip ? 0 : 1;
}

async function measureAll() {
  if (programs === undefined) {
    console.error(`${wanted.join(', ')}: not all of them are built for ${process.platform}-${process.arch}`);
    return 1;
  }
  const adapters = await Promise.all(parts.map(({ load }) => load()));
  const faults = [];
  const measureOne = async (name) => {
    const adapter = adapters.find((one) => one.name === name);
    const options = {
      ...{ adapter, adapters, program: programs[name], known: adapter.cells },
      ...{ env: process.env, clock: systemClock, signal: interrupted.signal },
    };
    if (name === 'acp')
      return measureAgents(
        options,
        Object.entries(acpAgents).map(([of, words]) => [programs[of], words]),
      );
    if (!missing) return measure(options, quick);
    return measureMissing(options, JSON.parse(await readFile(`${evidence}${name}.json`, 'utf8')));
  };
  // Times of ends are kept, so only where nothing is kept do programs share the machine.
  const begun = quick ? wanted.map(measureOne) : [];
  await Promise.allSettled(begun);
  for (const [index, name] of wanted.entries()) {
    const measured = await (begun[index] ?? measureOne(name));
    process.stdout.write(`${measured.shown}\n\n`);
    faults.push(...measured.faults.map((one) => `${name}: ${one}`));
    if (!quick) await keep(name, measured);
  }
  if (!quick) {
    await writePage(evidence);
    // What is kept is held to the format of everything else here.
    spawnSync(
      'npx',
      ['--no-install', 'biome', 'format', '--write', evidence, `${root}src/deliver/harnesses`],
      {
        cwd: root,
        stdio: 'ignore',
      },
    );
  }
  console.log(faults.length === 0 ? 'no faults' : `${faults.length} faults:\n- ${faults.join('\n- ')}`);
  return faults.length === 0 ? 0 : 1;
}

async function keep(name, { report, cells }) {
  await mkdir(evidence, { recursive: true });
  await writeFile(`${evidence}${name}.json`, `${JSON.stringify(report, null, 1)}\n`);
  await writeFile(`${root}src/deliver/harnesses/${name}/cells.json`, `${JSON.stringify(cells, null, 2)}\n`);
}
