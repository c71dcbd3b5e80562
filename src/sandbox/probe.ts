/** Whether a sandbox runs commands at all: one fixed command, started once, looked at until it ends. */
import type { Clock } from '../clock.ts';
import { systemClock } from '../clock.ts';
import { messageOf } from '../errors.ts';
import type { Locator } from './locator.ts';
import { type CommandSpec, exitCodeOf, type Sandbox } from './sandbox.ts';
import { startCommand } from './start-command.ts';

export type Readiness =
  | { readonly ready: true }
  | {
      readonly ready: false;
      readonly why: 'exit' | 'rejected' | 'unavailable' | 'no-end' | 'stopped';
      readonly message: string;
    };

// No shell of the caller, no input, nothing of an environment.
const spec: CommandSpec = {
  argv: ['/bin/sh', '-c', 'exit 0'],
  cwd: '',
  env: {},
  stdin: false,
  lifetimeMs: 30_000,
  outputBytesMax: 4096,
  owner: 'readiness',
};
const pauseMs = 100;

/**
 * Starts again, under the same id, only on proof that nothing was sent; once it may have been sent it is only looked at.
 * Ends in bounded time, whatever the sandbox does.
 */
export async function probeReadiness(
  sandbox: Sandbox,
  id: string,
  {
    signal,
    clock = systemClock,
    budgetMs = 60_000,
    route,
  }: {
    readonly signal: AbortSignal;
    readonly clock?: Clock;
    readonly budgetMs?: number;
    readonly route?: Locator['route'];
  },
): Promise<Readiness> {
  const locator: Locator = { sandbox: sandbox.name, id, ...(route === undefined ? {} : { route }) };
  const until = clock.monotonicMs() + budgetMs;
  const stop = AbortSignal.any([signal, AbortSignal.timeout(budgetMs)]);
  let said = 'It gave no answer.';
  while (!stop.aborted) {
    const outcome = await startCommand(sandbox, spec, {
      locator,
      beforeDispatch: async () => {},
      signal: stop,
    });
    if (outcome.outcome === 'rejected') return { ready: false, why: 'rejected', message: outcome.message };
    if (outcome.outcome === 'not-dispatched')
      return { ready: false, why: 'stopped', message: outcome.nonDispatch.message };
    if (outcome.outcome !== 'unavailable') return await observed(sandbox, locator, until, clock, stop);
    said = outcome.nonDispatch.message;
    await clock.sleep(pauseMs, stop);
  }
  return signal.aborted
    ? { ready: false, why: 'stopped', message: 'The probe was stopped.' }
    : { ready: false, why: 'unavailable', message: said };
}

async function observed(
  sandbox: Sandbox,
  locator: Locator,
  until: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<Readiness> {
  let said = 'Its end was not seen in time.';
  while (clock.monotonicMs() < until && !signal.aborted) {
    try {
      const waitMs = Math.max(0, Math.min(5_000, until - clock.monotonicMs()));
      const request = { stdout: 0, stderr: 0, bytesMax: 4096, waitMs, until: 'end' as const };
      const { status } = await sandbox.read(locator, request, signal);
      if (status.state === 'ended') {
        const code = exitCodeOf(status.receipt);
        await sandbox.acknowledge(locator, status.receipt.id, signal);
        return code === 0
          ? { ready: true }
          : { ready: false, why: 'exit', message: `It ended with exit code ${code}.` };
      }
    } catch (thrown) {
      said = messageOf(thrown);
    }
    await clock.sleep(pauseMs, signal);
  }
  return { ready: false, why: 'no-end', message: said };
}
