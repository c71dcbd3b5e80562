// Builds dist/ from src/, and the small SQLite file of public tables that the demo agent answers from.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [src, dist] = [join(root, 'src'), join(root, 'dist')];
const cache = join(root, 'node_modules/.cache/writ.tsbuildinfo');

function compile() {
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const words = [compiler, '-p', 'tsconfig.build.json'];
  const { status } = spawnSync(process.execPath, words, { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

/** Sources whose output is not there, or older than they are. */
function leftOut() {
  const at = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return readdirSync(src, { recursive: true })
    .filter((name) => name.endsWith('.ts') && !/\.(d|test|cases)\.ts$/.test(name))
    .filter((name) =>
      ['.js', '.d.ts'].some((end) => at(join(dist, name.replace(/\.ts$/, end))) < at(join(src, name))),
    );
}

// The incremental cache remembers what was written, and not whether it is still there: an output that another build or a
// person took away would be left out for good.
if (!existsSync(dist)) rmSync(cache, { force: true });
compile();
if (leftOut().length > 0) {
  rmSync(cache, { force: true });
  compile();
}
const missing = leftOut().filter((name) => !existsSync(join(dist, name.replace(/\.ts$/, '.js'))));
if (missing.length > 0) {
  process.stderr.write(`dist/ should have each source; the build left out ${missing.join(', ')}.\n`);
  process.exit(1);
}
if (existsSync(join(dist, 'cli/bin.js'))) chmodSync(join(dist, 'cli/bin.js'), 0o755);
await import('./build-data.mjs');
