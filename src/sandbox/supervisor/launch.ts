/** Starts a supervisor and speaks with it over the pipes that only its launcher holds. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import type { Readable, Writable } from 'node:stream';
import { SandboxError } from '../errors.ts';
import { type Frame, frameReader, frameText } from './frames.ts';
import type { Launch } from './supervisor.ts';

/** A supervisor that waits for its release. */
export interface Launched {
  /** Sends a frame; resolves with the answer, or with null if it ended or the signal aborted before one came. */
  send(frame: Frame, signal: AbortSignal): Promise<Frame | null>;
  /** Lets go of it: a released command goes on alone, an idle one ends. Resolves once an idle one is gone. */
  letGo(released: boolean): Promise<void>;
}

/** Where the built program lies, seen from the sources as well as from the package. Throws `sandbox.no-supervisor`. */
export function supervisorProgram(from: string = import.meta.url): string {
  try {
    return createRequire(from).resolve('#supervisor');
  } catch (cause) {
    throw new SandboxError(
      'sandbox.no-supervisor',
      'Expected the built program of the supervisor, found none.',
      {
        next: 'Run npm run build.',
        cause,
      },
    );
  }
}

/**
 * Starts the program in the command's folder. It leads a session of its own, so that nothing meant for Writ reaches it.
 * Resolves with the supervisor and what it first said, null if it ended instead; rejects if there is no process.
 */
export async function launchSupervisor(
  program: string,
  folder: string,
  launch: Launch,
  signal: AbortSignal,
): Promise<{ readonly launched: Launched; readonly first: Frame | null }> {
  // Nothing of our environment: what the command gets stands in the launch, which no other user can read.
  const child = spawn(process.execPath, ['--no-warnings', program], {
    cwd: folder,
    env: { LANG: 'C.UTF-8' },
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  await once(child, 'spawn');
  const launched = conversation(child);
  const first = await launched.send({ ...launch }, signal);
  return { launched, first };
}

function conversation(child: ChildProcessByStdio<Writable, Readable, null>): Launched {
  const said: (Frame | null)[] = [];
  let waiting: ((frame: Frame | null) => void) | undefined;
  const hear = (frame: Frame | null) => {
    if (waiting === undefined) said.push(frame);
    else waiting(frame);
    waiting = undefined;
  };
  for (const part of [child, child.stdin, child.stdout]) part.on('error', () => {});
  child.stdout.on('data', frameReader(hear));
  child.stdout.on('close', () => hear(null));
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  return {
    async send(frame, signal) {
      if (signal.aborted) return null;
      child.stdin.write(frameText(frame));
      if (said.length > 0) return said.shift() ?? null;
      return await new Promise((resolve) => {
        const abort = () => hear(null);
        waiting = (answer) => {
          signal.removeEventListener('abort', abort);
          resolve(answer);
        };
        signal.addEventListener('abort', abort, { once: true });
      });
    },
    async letGo(released) {
      child.stdin.destroy();
      child.stdout.destroy();
      child.unref();
      if (released) return;
      // It ends by itself when its input does; if it hangs, it is ended, for it has not run anything.
      const timer = setTimeout(() => child.kill('SIGKILL'), 1_000);
      child.ref();
      await gone;
      clearTimeout(timer);
    },
  };
}
