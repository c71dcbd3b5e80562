/** The table of import arrows and the check that holds it; kept apart from the test so that planted trees can be checked too. */
import { posix } from 'node:path';
import ts from 'typescript';

const ground = ['error-graph', 'errors', 'clock', 'digest', 'protocol'];
const floor = [...ground, 'wire', 'harness', 'ledger', 'effects', 'sandbox'];

/** Folder or file below src → what it may import. A folder always may import itself. */
export const arrows: Readonly<Record<string, readonly string[]>> = {
  'error-graph': [],
  errors: ['error-graph'],
  clock: [],
  digest: [],
  protocol: ['errors'],
  wire: ['errors', 'protocol'],
  harness: ['errors', 'clock', 'protocol'],
  ledger: ground,
  effects: [...ground, 'ledger'],
  sandbox: ground,
  compose: ['errors', 'digest', 'protocol'],
  deliver: [...floor, 'compose'],
  native: [...floor, 'compose'],
  run: [...floor, 'compose'],
  prove: [...ground, 'ledger', 'compose'],
  catalog: [...floor, 'compose', 'deliver', 'native', 'run', 'prove'],
  server: [...floor, 'compose', 'deliver', 'native', 'run', 'prove', 'catalog'],
  cli: [...floor, 'compose', 'deliver', 'native', 'run', 'prove', 'catalog', 'server'],
  index: [...floor, 'compose', 'deliver', 'native', 'run', 'prove', 'catalog'],
};

/** `src/compose/load/agent.ts` → `compose`; `src/errors.ts` → `errors`. */
function unitOf(path: string): string {
  const first = path.split('/')[1] ?? '';
  return first.replace(/\.ts$/, '');
}

/** Relative imports of a source, types and dynamic imports included. */
function importsOf(path: string, source: string): string[] {
  const found = ts.preProcessFile(source, true, true).importedFiles.map((file) => file.fileName);
  return found
    .filter((name) => name.startsWith('.'))
    .map((name) => posix.normalize(posix.join(posix.dirname(path), name)));
}

/** One sentence per wrong arrow, unknown unit, disk access of `compose`, or import cycle. */
export function arrowFaults(files: ReadonlyMap<string, string>): string[] {
  const faults: string[] = [];
  const graph = new Map<string, string[]>();
  for (const [path, source] of files) {
    const unit = unitOf(path);
    const allowed = arrows[unit];
    if (allowed === undefined) {
      faults.push(`${path}: '${unit}' is not in the table of arrows`);
      continue;
    }
    const imports = importsOf(path, source);
    graph.set(path, imports);
    for (const target of imports) {
      const to = unitOf(target);
      if (to !== unit && !allowed.includes(to))
        faults.push(`${path} imports ${target}: ${unit} may not import ${to}`);
      if (to === 'index' && unit !== 'index')
        faults.push(`${path} imports ${target}: index is for users only`);
    }
    const disk = unit === 'compose' && !/^src\/compose\/(load|probes)\//.test(path);
    if (disk && /from 'node:(fs|child_process|net|http)/.test(source)) {
      faults.push(`${path} touches the disk or network; only compose/load and compose/probes read files`);
    }
  }
  return [...faults, ...cycles(graph)];
}

function cycles(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>();
  const found: string[] = [];
  const walk = (path: string, trail: readonly string[]): void => {
    if (done.has(path)) return;
    const at = trail.indexOf(path);
    if (at >= 0) {
      found.push(`cycle: ${[...trail.slice(at), path].join(' → ')}`);
      return;
    }
    for (const next of graph.get(path) ?? []) walk(next, [...trail, path]);
    done.add(path);
  };
  for (const path of graph.keys()) walk(path, []);
  return found;
}
