// Builds dist/ from src/, and the small SQLite file of public tables that the demo agent answers from.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
// The incremental cache outlives a deleted dist/; together they must be there or not be there.
if (!existsSync(join(root, 'dist')))
  rmSync(join(root, 'node_modules/.cache/writ.tsbuildinfo'), { force: true });
const tsc = spawnSync(
  process.execPath,
  [join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.build.json'],
  {
    cwd: root,
    stdio: 'inherit',
  },
);
if (tsc.status !== 0) process.exit(tsc.status ?? 1);
if (existsSync(join(root, 'dist/cli/bin.js'))) chmodSync(join(root, 'dist/cli/bin.js'), 0o755);
await import('./build-data.mjs');
