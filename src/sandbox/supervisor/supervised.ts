/** A sandbox whose commands each have a supervisor on this machine; `local` and `bubblewrap` differ in what it is told to run. */
import { chmodSync, mkdirSync, realpathSync, statSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { messageOf } from '../../errors.ts';
import { SandboxError } from '../errors.ts';
import type { Locator } from '../locator.ts';
import type { CommandSpec, Sandbox } from '../sandbox.ts';
import { type RejectionCode, startFault } from '../start-outcome.ts';
import { claimFolder, discardFolder } from './forestall.ts';
import { type Launched, launchSupervisor, supervisorProgram } from './launch.ts';
import { observer } from './observe.ts';

export interface SupervisedOptions extends Pick<Sandbox, 'name' | 'confines'> {
  /** The folder in which commands may work. */
  readonly workspace: string;
  /** A folder of this user for the state and output of commands; made if it is not there. */
  readonly folder: string;
  /** What the supervisor runs for a command; `cwd` is a resolved folder beneath the workspace. */
  readonly wrap: (
    spec: CommandSpec,
    cwd: string,
  ) => {
    readonly argv: readonly string[];
    readonly cwd: string;
    readonly env: Readonly<Record<string, string>>;
    readonly wrapper: string | null;
  };
}

/** How long a supervisor may take to begin, and a command to be executed. */
const startMs = 10_000;

/** Opens it. Throws `sandbox.bad-option` for a workspace or folder that cannot be used, `sandbox.no-supervisor`. */
export function supervised(options: SupervisedOptions): Sandbox {
  const { name, confines, wrap } = options;
  const program = supervisorProgram();
  const workspace = existingFolder(name, options.workspace);
  const root = privateFolder(name, options.folder);
  const launches = new Map<string, Launched>();
  const observe = observer(root);
  let closed = false;

  return {
    name,
    confines,
    ...observe,
    async prepare(spec) {
      if (closed) throw startFault({ kind: 'not-dispatched', why: 'closed' }, 'The sandbox is closed.');
      await folderBeneath(workspace, spec.cwd);
    },
    async dispatch(spec, locator, signal) {
      const { id } = locator;
      const folder = join(root, id);
      const beneath = await folderBeneath(workspace, spec.cwd);
      claim(folder, locator);
      const stop = AbortSignal.any([signal, AbortSignal.timeout(startMs)]);
      try {
        const { owner, stdin, lifetimeMs, outputBytesMax } = spec;
        const given = { id, sandbox: name, owner, stdin, lifetimeMs, outputBytesMax };
        const launch = { ...given, ...wrap(spec, beneath) };
        const { launched, first } = await launchSupervisor(program, folder, launch, stop);
        if (first?.ready === true) {
          launches.set(id, launched);
          return;
        }
        await launched.letGo(false);
        const why = typeof first?.message === 'string' ? first.message : 'The supervisor did not begin.';
        throw new Error(why);
      } catch (thrown) {
        // Until its release a supervisor runs nothing: whatever fails here, nothing was started.
        giveUp(folder);
        if (signal.aborted)
          throw startFault(
            { kind: 'not-dispatched', why: 'cancelled' },
            'It was cancelled before it was released.',
          );
        throw startFault({ kind: 'not-dispatched', why: 'closed' }, messageOf(thrown), thrown);
      }
    },
    async release(locator, signal) {
      const launched = launches.get(locator.id);
      if (launched === undefined) throw notLaunchedHere(locator);
      launches.delete(locator.id);
      const stop = AbortSignal.any([signal, AbortSignal.timeout(startMs)]);
      const answer = await launched.send({ op: 'release' }, stop);
      await launched.letGo(true);
      if (answer?.released === true) return;
      const refusal = typeof answer?.refusal === 'string' ? answer.refusal : null;
      if (refusal === null)
        throw startFault(
          { kind: 'unknown', locator },
          'The supervisor did not confirm that the command runs.',
        );
      throw startFault({ kind: 'rejected', code: rejectionOf(refusal) }, refusal);
    },
    async close() {
      closed = true;
      const idle = [...launches.values()];
      launches.clear();
      await Promise.all(idle.map((launched) => launched.letGo(false)));
    },
  };
}

// Making the folder is what spends a locator, in whatever process: a second start finds it there.
function claim(folder: string, locator: Locator): void {
  let free: boolean;
  try {
    free = claimFolder(folder);
  } catch (thrown) {
    throw startFault({ kind: 'not-dispatched', why: 'closed' }, messageOf(thrown), thrown);
  }
  if (!free)
    throw startFault(
      { kind: 'unknown', locator },
      `A start of ${locator.id} was sent before, and is not sent again.`,
    );
}

function giveUp(folder: string): void {
  try {
    discardFolder(folder);
  } catch {
    // Then the id stays spent, which starts nothing either.
  }
}

function rejectionOf(refusal: string): RejectionCode {
  if (refusal.includes('EACCES') || refusal.includes('EPERM')) return 'permission-denied';
  return refusal.includes('ENOENT') ? 'not-found' : 'invalid-argument';
}

async function folderBeneath(workspace: string, cwd: string): Promise<string> {
  const real = await realpath(join(workspace, cwd)).catch(() => null);
  if (
    real !== null &&
    (real === workspace || real.startsWith(workspace + sep)) &&
    statSync(real).isDirectory()
  )
    return real;
  throw startFault(
    { kind: 'not-dispatched', why: 'invalid' },
    `Expected a folder of the workspace to run in, found ${JSON.stringify(cwd.slice(0, 100))}.`,
  );
}

function notLaunchedHere({ id }: Locator): SandboxError {
  return new SandboxError(
    'sandbox.not-launched-here',
    `The command ${id} was not launched by this process, or was released before.`,
    { next: 'Look at it with status; start another command if it never ran.' },
  );
}

function existingFolder(name: string, path: string): string {
  try {
    const real = realpathSync(path);
    if (statSync(real).isDirectory()) return real;
  } catch {
    // Told below.
  }
  throw new SandboxError(
    'sandbox.bad-option',
    `${name}: expected an existing folder as workspace, found ${JSON.stringify(path)}.`,
    { next: 'Create the folder, or name another.' },
  );
}

function privateFolder(name: string, path: string): string {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const real = realpathSync(path);
    // Output and sockets of commands lie here: no other user may enter.
    chmodSync(real, 0o700);
    return real;
  } catch (cause) {
    throw new SandboxError(
      'sandbox.bad-option',
      `${name}: expected a folder that this user can make private, found ${JSON.stringify(path)}: ${messageOf(cause)}.`,
      { next: 'Make its parent writable, or name another.', cause },
    );
  }
}
