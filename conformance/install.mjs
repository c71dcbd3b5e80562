// Installs pinned programs, those that are not here already, and takes away again what was installed for one call.
import { spawnSync } from 'node:child_process';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { here, packagesOf, pinned, programIn } from './programs.mjs';

// Not `npm ci`: it refuses a lock without the builds for other platforms, which a registry may not have. This takes the
// versions of the lock all the same.
const argv = ['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel', 'error'];

// What npm says where no registry answers, or none that gives the programs. Anything else is a fault of what is pinned.
const noRegistry =
  /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT|ENOTCACHED|E401|E403|E404|E407|E5\d\d)\b/;

/**
 * Resolves to the paths of the programs, or to why npm cannot install them here; `remove` ends what was installed for this
 * call. All of them stay in this folder; some of them get a folder for the time.
 */
export async function install(names) {
  const there = await pathsIn(here, names);
  if (there !== undefined) return { programs: there, remove: async () => {} };
  if (names.length === pinned.length) {
    const fault = npmInstall(here);
    return fault === undefined
      ? { programs: await pathsIn(here, names), remove: async () => {} }
      : { fault, remove: async () => {} };
  }
  const folder = await mkdtemp(join(tmpdir(), 'writ-conformance-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const dependencies = await packagesOf(names);
    await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }));
    await copyFile(join(here, 'package-lock.json'), join(folder, 'package-lock.json'));
    const fault = npmInstall(folder);
    return fault === undefined ? { programs: await pathsIn(folder, names), remove } : { fault, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Name → path; undefined where one of them is missing. */
async function pathsIn(folder, names) {
  const found = await Promise.all(names.map(async (name) => [name, await programIn(folder, name)]));
  return found.every(([, path]) => path !== undefined) ? Object.fromEntries(found) : undefined;
}

function npmInstall(cwd) {
  const npm = spawnSync('npm', argv, { cwd, stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8' });
  if (npm.status === 0) return undefined;
  const said = npm.error?.message ?? npm.stderr.trim();
  const skip = npm.error?.code === 'ENOENT' || noRegistry.test(said);
  return { skip, said: said.split('\n').slice(0, 3).join(' ') };
}
