/** What `writ doctor` looks at, each as one check: what was found, and what to do where it is not in order. */
import { accessSync, constants, existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { messageOf, toErrorJson } from '../../errors.ts';
import { ledgerPath, stateFolder } from '../../ledger/locate.ts';
import { providers } from '../../native/model/providers.ts';
import type { Context, Environment } from '../context.ts';
import { programVersion } from './program-version.ts';

export interface Check {
  readonly name: string;
  /** `problem`: runs are not possible, or not as asked, until it is mended. `missing`: only what needs it is not possible. */
  readonly status: 'ok' | 'missing' | 'problem';
  readonly found: string;
  /** One imperative sentence; null where nothing is to be done. */
  readonly next: string | null;
  /** True where no run is possible without it. */
  readonly needed: boolean;
}

const ok = (name: string, found: string, needed = false): Check => ({
  name,
  status: 'ok',
  found,
  next: null,
  needed,
});

const nodeMin = [20, 19] as const;

/** `version` as in `process.versions.node`. */
export function checkNode(version: string): Check {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > nodeMin[0] || (major === nodeMin[0] && minor >= nodeMin[1])) return ok('node', version, true);
  const next = `Install Node ${nodeMin.join('.')} or newer.`;
  return { name: 'node', status: 'problem', found: version, next, needed: true };
}

export async function checkSqlite(): Promise<Check> {
  try {
    const { DatabaseSync } = await import('@photostructure/sqlite');
    const db = new DatabaseSync(':memory:');
    try {
      return ok('sqlite', String(db.prepare('select sqlite_version() as version').get()?.version), true);
    } finally {
      db.close();
    }
  } catch (cause) {
    const next = 'Install the package again with: npm ci';
    return { name: 'sqlite', status: 'problem', found: messageOf(cause), next, needed: true };
  }
}

/** Opens the ledger that a run from here would use. Where there is none yet, nothing is made. */
export async function checkLedger(context: Context, given: string | undefined): Promise<Check> {
  const fault = (found: string, next: string | null): Check => ({
    name: 'ledger',
    status: 'problem',
    found,
    next,
    needed: true,
  });
  try {
    const at = given === undefined || given === '' || isAbsolute(given) ? given : join(context.cwd, given);
    const { path } = ledgerPath({ given: at, workspace: context.cwd, env: context.env });
    if (!existsSync(path)) {
      const stop = notWritable(dirname(path));
      if (stop === undefined) return ok('ledger', `${path}: none yet; the first run makes it`, true);
      return fault(`${path}: ${stop}`, 'Make that folder writable, or name another ledger with --ledger.');
    }
    const { sqliteStore } = await import('../../ledger/stores/sqlite.ts');
    const store = sqliteStore({ path, clock: context.clock });
    try {
      const [newest] = await store.runs({ limit: 1 });
      return ok('ledger', `${path}${newest === undefined ? ', empty' : ''}`, true);
    } finally {
      await store.close();
    }
  } catch (thrown) {
    const { message, next = null } = toErrorJson(thrown);
    return fault(message, next);
  }
}

/** The user's folders for state and configuration. */
export function checkFolders(env: Environment): readonly Check[] {
  const config = env.XDG_CONFIG_HOME;
  const home = env.HOME === undefined || env.HOME === '' ? homedir() : env.HOME;
  const configFolder = config !== undefined && isAbsolute(config) ? config : join(home, '.config');
  return [
    ['state folder', join(stateFolder(env), 'writ'), 'XDG_STATE_HOME'] as const,
    ['config folder', join(configFolder, 'writ'), 'XDG_CONFIG_HOME'] as const,
  ].map(([name, path, variable]) => {
    const stop = notWritable(path);
    if (stop === undefined) return ok(name, path);
    const next = `Make it writable, or set ${variable} to a folder that is.`;
    return { name, status: 'problem', found: `${path}: ${stop}`, next, needed: false };
  });
}

/** Why nothing could be made in a folder that may not be there yet; undefined where it could. */
function notWritable(folder: string): string | undefined {
  let at = folder;
  while (!existsSync(at) && at !== dirname(at)) at = dirname(at);
  try {
    accessSync(at, constants.W_OK | constants.X_OK);
    return undefined;
  } catch {
    return `${at} is not writable`;
  }
}

/** Harnesses that Writ may deliver to, each with its program. */
const harnessPrograms = [
  ['claude-code', 'claude'],
  ['codex', 'codex'],
  ['gemini', 'gemini'],
  ['opencode', 'opencode'],
  ['pi', 'pi'],
  ['qwen-code', 'qwen'],
] as const;

/** None of them is needed by the native harness. */
export async function checkPrograms(context: Context): Promise<readonly Check[]> {
  const options = { env: context.env, signal: context.interrupts() };
  const look = async (name: string, program: string, next: string): Promise<Check> => {
    const found = await programVersion(program, options);
    if (found === undefined)
      return { name, status: 'missing', found: `no ${program} on PATH`, next, needed: false };
    const { path, version, fault } = found;
    if (version !== null) return ok(name, `${version} (${path})`);
    const mend = `See what it says: ${program} --version`;
    return { name, status: 'problem', found: `${path}: ${fault}`, next: mend, needed: false };
  };
  return Promise.all([
    ...harnessPrograms.map(([harness, program]) =>
      look(`harness ${harness}`, program, `Install ${program} if you want to deliver to it.`),
    ),
  ]);
}

/** Which variables hold a key. Their values are looked at for being there, and never shown. */
export function checkKeys(env: Environment): readonly Check[] {
  return [...providers].map(([provider, { keyEnv }]) => {
    const name = `key ${provider}`;
    if ((env[keyEnv] ?? '').trim() !== '') return ok(name, `${keyEnv} is set`);
    const found = `${keyEnv} is ${env[keyEnv] === undefined ? 'not set' : 'empty'}`;
    const next = `Set ${keyEnv} to use the models of ${provider}.`;
    return { name, status: 'missing', found, next, needed: false };
  });
}

const proxyName = /^(https?|all)_proxy$/i;

/** Proxies are not obeyed; whoever set one should know. */
export function checkProxies(env: Environment): readonly Check[] {
  const set = Object.keys(env).filter((name) => proxyName.test(name) && (env[name] ?? '') !== '');
  if (set.length === 0) return [];
  const found = `${set.sort().join(', ')} set, and ignored: requests go straight to the model's server`;
  const next = 'Give a gateway as --base-url if requests must go through one.';
  return [{ name: 'proxy', status: 'problem', found, next, needed: false }];
}
