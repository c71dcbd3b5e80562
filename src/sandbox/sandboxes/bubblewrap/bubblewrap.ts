/** Commands in namespaces of their own, made by the program `bwrap`: the workspace and nothing else to change, no network. */
import { spawnSync } from 'node:child_process';
import { accessSync, constants, realpathSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { SandboxError } from '../../errors.ts';
import type { Sandbox } from '../../sandbox.ts';
import { supervised } from '../../supervisor/supervised.ts';
import { bubblewrapArgv, type Confinement } from './bubblewrap-argv.ts';
import { coverOf, uncover } from './cover.ts';

export interface BubblewrapOptions {
  readonly workspace: string;
  /** Where the state and output of commands are kept; private to this user. */
  readonly folder: string;
  /** Where `bwrap` is looked for (PATH), and of which a few variables reach a command. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Shares the machine's network; false unless set. */
  readonly network?: boolean;
}

const passedVariables = ['LANG', 'LC_ALL', 'LC_CTYPE', 'TZ'];
const probeMs = 5_000;

/**
 * Opens it after a command was really run in it. Throws `sandbox.unavailable` where that fails: nothing ever runs
 * without it in its place.
 */
export function bubblewrap({ workspace, folder, env, network = false }: BubblewrapOptions): Sandbox {
  const program = bubblewrapProgram(env.PATH);
  const passed = Object.fromEntries(
    passedVariables.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])),
  );
  const base = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/tmp', TMPDIR: '/tmp', ...passed };
  const sandbox = supervised({
    name: 'bubblewrap',
    confines: { files: true, network: !network, processes: true },
    workspace,
    folder,
    // A sandbox that breaks later shows by its missing sign: see the shim of its argv.
    wrap: ({ argv, env: own }, cwd) => ({
      argv: bubblewrapArgv(program, { ...places(cwd), ...coverOf(root, folder) }, argv),
      cwd: '/',
      env: { ...base, ...own },
      wrapper: 'bwrap',
    }),
  });
  const root = realpathSync(workspace);
  const places = (cwd: string) => ({ workspace: root, cwd, network });
  mustWork(program, { ...places(root), hidden: [], covered: [] });
  // Of a process that was killed.
  uncover(root, folder);
  return {
    ...sandbox,
    async close() {
      await sandbox.close();
      uncover(root, folder);
    },
  };
}

/** The first `bwrap` of the PATH. Throws `sandbox.unavailable`. */
export function bubblewrapProgram(path: string | undefined): string {
  for (const folder of (path ?? '').split(':')) {
    if (!isAbsolute(folder)) continue;
    try {
      const program = join(folder, 'bwrap');
      accessSync(program, constants.X_OK);
      return program;
    } catch {
      // Not in this one.
    }
  }
  throw unavailable('there is no program bwrap on PATH');
}

function mustWork(program: string, confinement: Confinement): void {
  const [file = '', ...args] = bubblewrapArgv(program, confinement, ['true']);
  const run = spawnSync(file, args, {
    env: { PATH: '/usr/bin:/bin' },
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    timeout: probeMs,
    killSignal: 'SIGKILL',
    encoding: 'utf8',
  });
  if (run.status === 0) return;
  const said = (run.stderr ?? '').trim().slice(0, 300);
  throw unavailable(said === '' ? `${program} ended with ${run.status ?? run.signal}` : said);
}

function unavailable(found: string): SandboxError {
  return new SandboxError('sandbox.unavailable', `Expected bubblewrap to run a command, but ${found}.`, {
    next: 'Install bubblewrap and allow user namespaces, or choose sandbox: local, which confines nothing.',
    details: { sandbox: 'bubblewrap' },
  });
}
