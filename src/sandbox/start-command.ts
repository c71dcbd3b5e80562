/** Starts a command at most once: looks, lets the start be recorded, sends it, and says which of the five ends it came to. */
import type { Clock } from '../clock.ts';
import { systemClock } from '../clock.ts';
import { messageOf } from '../errors.ts';
import type { NonDispatch } from '../protocol/effect.ts';
import { isTransportFault, soleProof } from './error-graph.ts';
import { isCommandId, type Locator, locatorText } from './locator.ts';
import type { CommandSpec, Sandbox } from './sandbox.ts';
import type { StartOutcome } from './start-outcome.ts';

export interface StartOptions {
  readonly locator: Locator;
  /** Makes the start durable. Nothing was sent before it resolves, and nothing is sent if it rejects. */
  readonly beforeDispatch: (locator: Locator) => Promise<void>;
  /** Keeps what is needed to find the command again, between its acceptance and its release. */
  readonly retain?: (locator: Locator) => Promise<void>;
  readonly signal: AbortSignal;
}

/** How long the look after a release that was not confirmed may take. */
const lookMs = 2_000;

/**
 * Resolves with every end; never throws. `dispatch` of the sandbox is entered at most once, and from then on only a
 * proof of the sandbox itself leads to another end than `unknown`.
 */
export async function startCommand(
  sandbox: Sandbox,
  spec: CommandSpec,
  options: StartOptions,
): Promise<StartOutcome> {
  const { locator, beforeDispatch, signal } = options;
  const fault = specFault(spec, locator, sandbox);
  if (fault !== null) return notDispatched('invalid', fault);
  if (signal.aborted) return cancelled();
  try {
    await sandbox.prepare(spec, signal);
  } catch (thrown) {
    return notSent(thrown, signal);
  }
  if (signal.aborted) return cancelled();
  try {
    await beforeDispatch(locator);
  } catch (thrown) {
    return notDispatched('not-recorded', `The start could not be recorded: ${messageOf(thrown)}`);
  }
  // The record took time; until `dispatch` is entered a cancel is proof.
  if (signal.aborted) return cancelled();
  try {
    await sandbox.dispatch(spec, locator, signal);
  } catch (thrown) {
    return sent(thrown, locator);
  }
  try {
    await options.retain?.(locator);
    await sandbox.release(locator, signal);
    return { outcome: 'started', locator };
  } catch (thrown) {
    const outcome = sent(thrown, locator);
    return outcome.outcome === 'unknown' ? lookAfter(sandbox, outcome) : outcome;
  }
}

/**
 * A release that nobody confirmed is looked at: the command runs or ran after all, or it still waits and is taken back,
 * which its receipt proves. What runs is left alone.
 */
async function lookAfter(
  sandbox: Sandbox,
  outcome: Extract<StartOutcome, { outcome: 'unknown' }>,
): Promise<StartOutcome> {
  const { locator, message } = outcome;
  const signal = AbortSignal.timeout(lookMs);
  try {
    const before = await sandbox.status(locator, signal);
    if (before.state === 'idle') await sandbox.cancel(locator, { graceMs: 0 }, signal);
    const now = before.state === 'idle' ? await sandbox.status(locator, signal) : before;
    if (now.state === 'running') return { outcome: 'started', locator };
    if (now.state === 'ended')
      return now.receipt.ran ? { outcome: 'started', locator } : notDispatched('closed', message);
  } catch {
    // It could not be reached, so it stays unknown.
  }
  return outcome;
}

function notSent(thrown: unknown, signal: AbortSignal): StartOutcome {
  if (signal.aborted) return cancelled();
  const message = messageOf(thrown);
  return (
    provenEnd(thrown) ?? (isTransportFault(thrown) ? unavailable(message) : notDispatched('invalid', message))
  );
}

function sent(thrown: unknown, locator: Locator): StartOutcome {
  return provenEnd(thrown) ?? { outcome: 'unknown', locator, message: messageOf(thrown) };
}

/** The end that the sandbox itself has proven; null where it has proven none. */
function provenEnd(thrown: unknown): StartOutcome | null {
  const proof = soleProof(thrown);
  const message = messageOf(thrown);
  switch (proof?.kind) {
    case 'rejected':
      return { outcome: 'rejected', code: proof.code, message };
    case 'unavailable':
      return unavailable(message);
    case 'not-dispatched':
      return notDispatched(proof.why, message);
    case 'unknown':
    case undefined:
      return null;
  }
}

function notDispatched(
  why: 'cancelled' | 'closed' | 'invalid' | 'not-recorded',
  message: string,
): StartOutcome {
  const reason = why === 'cancelled' ? 'cancelled' : 'rejected-locally';
  return { outcome: 'not-dispatched', why, nonDispatch: proven(reason, message) };
}

function cancelled(): StartOutcome {
  return notDispatched('cancelled', 'It was cancelled before the start was sent.');
}

// Made here and nowhere else: a copy of such an outcome, or one read from somewhere, permits nothing.
const retryable = new WeakSet<StartOutcome>();

function unavailable(message: string): StartOutcome {
  const outcome: StartOutcome = { outcome: 'unavailable', nonDispatch: proven('unavailable', message) };
  retryable.add(outcome);
  return outcome;
}

function proven(reason: NonDispatch['reason'], message: string): NonDispatch {
  return { proof: 'not-dispatched', reason, message };
}

/** How a start ended whose sandbox was proven unreachable more often than may be tried; else the outcome alone. */
export interface Recovered {
  readonly outcome: StartOutcome;
  readonly attempts: number;
  /** True where only a person or the return of the sandbox helps: the work waits, it has not failed. */
  readonly exhausted: boolean;
}

/** Attempts after the first. */
const replacementsMax = 5;

/** Starts again only on proof that nothing was sent, at most five times. */
export async function startWithRecovery(
  start: () => Promise<StartOutcome>,
  { signal, clock = systemClock, pauseMs = 100 }: { signal: AbortSignal; clock?: Clock; pauseMs?: number },
): Promise<Recovered> {
  for (let attempts = 1; ; attempts += 1) {
    const outcome = await start();
    if (!retryable.has(outcome)) return { outcome, attempts, exhausted: false };
    if (attempts > replacementsMax) return { outcome, attempts, exhausted: true };
    await clock.sleep(pauseMs * 2 ** (attempts - 1), signal);
  }
}

/** What is wrong with a command before anything is asked of the sandbox; null if nothing is. */
function specFault(spec: CommandSpec, locator: Locator, sandbox: Sandbox): string | null {
  const { argv, cwd, env, lifetimeMs, outputBytesMax } = spec;
  if (locator.sandbox !== sandbox.name || !isCommandId(locator.id))
    return `Expected a locator of ${sandbox.name}, found ${JSON.stringify(locatorText(locator).slice(0, 100))}.`;
  if (argv.length === 0 || argv[0] === '') return 'Expected a program to run, found none.';
  if ([...argv, ...Object.values(env), cwd].some((text) => text.includes('\0')))
    return 'A NUL character stands in a word, a value or the folder of the command.';
  const name = Object.keys(env).find((key) => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(key));
  if (name !== undefined)
    return `Expected the name of a variable, found ${JSON.stringify(name.slice(0, 60))}.`;
  if (cwd.startsWith('/') || cwd.split('/').includes('..'))
    return `Expected a folder beneath the root, found ${JSON.stringify(cwd.slice(0, 100))}.`;
  const count = (value: number, max: number) => Number.isSafeInteger(value) && value > 0 && value <= max;
  if (!count(lifetimeMs, 2 ** 31 - 1))
    return `Expected lifetimeMs from 1 to 2147483647, found ${lifetimeMs}.`;
  if (!count(outputBytesMax, 2 ** 40)) return `Expected outputBytesMax above 0, found ${outputBytesMax}.`;
  return null;
}
