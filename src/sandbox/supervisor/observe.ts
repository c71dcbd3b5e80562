/** Looking at commands on this machine and ending them, from any process and also when their supervisor is gone. */
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../errors.ts';
import { SandboxError } from '../errors.ts';
import { isCommandId, type Locator } from '../locator.ts';
import { readStream } from '../output-page.ts';
import type {
  CommandStatus,
  EndReceipt,
  ListedCommand,
  Observer,
  OutputPage,
  ReadRequest,
} from '../sandbox.ts';
import { ask } from './connection.ts';
import { isVoid, launcherIsGone, neverStarts, sweepAside } from './forestall.ts';
import { endAll, isAlive, membersOf } from './process-tree.ts';
import { type CommandState, commandFiles, readState, writeState } from './state-file.ts';

const askMs = 5_000;
const killMs = 2_000;
/** How often whoever waits asks the supervisor itself, and not only the disk. */
const askAgainMs = 1_000;

/** The operations on commands whose folders lie beneath `root`, in whatever sandbox of this machine they run. */
export function observer(root: string): Omit<Observer, 'name'> {
  const folderOf = ({ id }: Locator): string => {
    // The id is a folder's name: nothing else may be.
    if (!isCommandId(id)) throw notFound(id);
    return join(root, id);
  };
  return {
    status: async (locator, signal) => statusAsked(folderOf(locator), signal),
    async read(locator, request, signal) {
      const folder = folderOf(locator);
      try {
        return await readWhen(folder, request, signal);
      } catch (cause) {
        throw new SandboxError('sandbox.lost-sight', `Output could not be read: ${messageOf(cause)}.`, {
          next: 'Read it again; the command is not touched by that.',
          cause,
        });
      }
    },
    async write(locator, { offset, bytes, end }, signal) {
      const folder = folderOf(locator);
      const question = { op: 'write', offset, bytes: Buffer.from(bytes).toString('base64'), end };
      const reply = await ask(folder, question, { signal, timeoutMs: askMs });
      if (reply.got === 'reply' && reply.frame.ok === true) return writeReceipt(reply.frame);
      const state = readState(folder);
      const unsent = reply.got === 'nobody';
      if (unsent && state === null) throw notFound(locator.id);
      // A supervisor puts down the end while it still listens, and what reaches it then it does not answer. Every byte that
      // it took is counted before it is handed over, so an end that stands at this offset has not got these.
      const refused = state?.receipt?.stdinBytes === offset;
      if (state !== null && (unsent || refused))
        return { accepted: false, received: state.stdinBytes, reason: 'ended' };
      throw new SandboxError(
        'sandbox.input-unknown',
        `Whether ${bytes.length} bytes from offset ${offset} reached ${locator.id} is not known.`,
        {
          next: 'Look at its status, which says how many bytes it got; do not send them again.',
          details: { command: locator.id, offset, bytes: bytes.length },
        },
      );
    },
    async signal(locator, name, signal) {
      const folder = folderOf(locator);
      const reply = await ask(folder, { op: 'signal', name }, { signal, timeoutMs: askMs });
      const sent = reply.got === 'reply' && reply.frame.sent === true;
      return { sent, state: (await statusAsked(folder, signal)).state };
    },
    async cancel(locator, { graceMs }, signal) {
      const folder = folderOf(locator);
      const timeoutMs = graceMs + killMs + askMs;
      const reply = await ask(folder, { op: 'cancel', graceMs }, { signal, timeoutMs });
      // The answer of a supervisor that ends can be lost; what it left on disk says the same.
      const state = readState(folder);
      if (state === null) throw notFound(locator.id);
      // Where the disk is full the answer is all there is. Written by our own supervisor, by the type that both sides share.
      const answered = reply.got === 'reply' ? (reply.frame.receipt as EndReceipt | undefined) : undefined;
      const receipt = state.receipt ?? answered;
      if (receipt !== undefined) return ended(receipt);
      if (reply.got !== 'nobody' && isAlive(state.supervisor))
        return { done: false, survivors: [], message: 'The supervisor did not confirm the end in time.' };
      return endWithout(folder, state, graceMs);
    },
    async acknowledge(locator, receipt) {
      const folder = folderOf(locator);
      const state = readState(folder);
      if (state?.receipt?.id !== receipt) return false;
      giveUpOutput(folder, state);
      return true;
    },
    list: (owner, signal) => listCommands(root, owner, signal),
    async neverStarts(locator, { spend }, signal) {
      const folder = folderOf(locator);
      return spend ? neverStarts(folder, signal) : isVoid(folder);
    },
  };
}

async function readWhen(folder: string, request: ReadRequest, signal: AbortSignal): Promise<OutputPage> {
  const until = Date.now() + request.waitMs;
  let askAt = Date.now() + askAgainMs;
  for (let pause = 5; ; pause = Math.min(pause * 2, 100)) {
    const late = signal.aborted || Date.now() >= until;
    // The state first: what it calls ended has all its output on disk by then.
    let status = statusOnDisk(folder);
    // An end that does not fit on the disk is known to the supervisor alone.
    if (status.state === 'running' && (late || Date.now() >= askAt)) {
      status = await statusAsked(folder, signal);
      askAt = Date.now() + askAgainMs;
    }
    const over = status.state === 'ended' || status.state === 'lost' || status.state === 'absent';
    const page = async (name: 'stdout' | 'stderr') =>
      readStream(join(folder, commandFiles[name]), request[name], {
        bytesMax: request.bytesMax,
        ended: over,
      });
    if (over || late) return { status, stdout: await page('stdout'), stderr: await page('stderr') };
    if (request.until === 'output') {
      const [stdout, stderr] = [await page('stdout'), await page('stderr')];
      if (stdout.text !== '' || stderr.text !== '') return { status, stdout, stderr };
    }
    await sleep(Math.min(pause, Math.max(1, until - Date.now())), undefined, { signal }).catch(() => {});
  }
}

async function statusAsked(folder: string, signal: AbortSignal): Promise<CommandStatus> {
  const reply = await ask(folder, { op: 'status' }, { signal, timeoutMs: askMs });
  const state = reply.got === 'reply' ? reply.frame.state : undefined;
  // Written by our own supervisor, by the type that both sides share.
  return state === undefined ? statusOnDisk(folder) : statusOf(state as CommandState, true);
}

function statusOnDisk(folder: string): CommandStatus {
  const state = readState(folder);
  // A folder without a state is a start on its way, or one that was broken off.
  if (state === null) return { state: 'absent' };
  const alive = state.receipt !== null || isAlive(state.supervisor);
  // It may have put down the end between the two looks.
  return statusOf(alive ? state : (readState(folder) ?? state), alive);
}

function statusOf(
  { phase, receipt, leader, stdinBytes, startedAtMs }: CommandState,
  alive: boolean,
): CommandStatus {
  if (receipt !== null) return { state: 'ended', receipt };
  if (!alive) return { state: 'lost', leader: leader?.pid ?? null };
  if (phase === 'idle') return { state: 'idle' };
  return { state: 'running', leader: leader?.pid ?? null, stdinBytes, startedAtMs };
}

function writeReceipt({ accepted, received, reason }: Readonly<Record<string, unknown>>) {
  const count = typeof received === 'number' ? received : 0;
  if (accepted === true) return { accepted: true as const, received: count };
  const known = (['offset', 'full', 'closed', 'ended'] as const).find((one) => one === reason);
  return { accepted: false as const, received: count, reason: known ?? 'closed' };
}

function ended(receipt: EndReceipt) {
  const { survivors } = receipt;
  if (survivors.length === 0) return { done: true as const, receipt };
  const names = survivors.map(({ pid, name }) => `${name} (${pid})`).join(', ');
  return { done: false as const, survivors, message: `These processes could not be ended: ${names}.` };
}

/** Ends what a dead supervisor left. How the command itself ended was seen by nobody. */
async function endWithout(folder: string, state: CommandState, graceMs: number) {
  const { leader, mark, wrapper, stdinBytes, startedAtMs } = state;
  const survivors = await endAll({ leader, mark }, { graceMs, killMs, wrapper });
  const kept = (name: 'stdout' | 'stderr') => ({
    bytes: statSync(join(folder, commandFiles[name]), { throwIfNoEntry: false })?.size ?? 0,
    dropped: 0,
  });
  const receipt: EndReceipt = {
    id: randomBytes(16).toString('hex'),
    // Also where the record says idle: it may be one that could not be replaced. Only its supervisor knew.
    ran: true,
    refusal: null,
    exit: { code: null, signal: null },
    by: 'cancel',
    leftovers: [],
    survivors,
    stdout: kept('stdout'),
    stderr: kept('stderr'),
    stdinBytes,
    startedAtMs,
    endedAtMs: Date.now(),
  };
  if (survivors.length === 0) {
    writeState(folder, { ...state, phase: 'ended', receipt });
    rmSync(join(folder, commandFiles.socket), { force: true });
  }
  return ended(receipt);
}

async function listCommands(
  root: string,
  owner: string,
  signal: AbortSignal,
): Promise<readonly ListedCommand[]> {
  const own = statesIn(root)
    .filter(({ state }) => state.owner === owner && !state.acknowledged)
    .sort((one, other) => one.state.startedAtMs - other.state.startedAtMs);
  return Promise.all(
    own.map(async ({ folder, state: { sandbox, id } }) => {
      const status = statusOnDisk(folder);
      const asked = status.state === 'running' ? await statusAsked(folder, signal) : status;
      return { locator: { sandbox, id }, status: asked };
    }),
  );
}

const sweptMax = 50;

/**
 * Gives up the output of commands that ended before then. How they ended stays: whoever asks later what became of a start
 * must never find its place free. Running ones are never touched. Returns how many.
 */
export function sweepCommands(root: string, endedBeforeMs: number): number {
  if (existsSync(root)) sweepAside(root, endedBeforeMs);
  const old = statesIn(root)
    .filter(({ state }) => !state.acknowledged && (state.receipt?.endedAtMs ?? Infinity) < endedBeforeMs)
    .slice(0, sweptMax);
  for (const { folder, state } of old) giveUpOutput(folder, state);
  return old.length;
}

function giveUpOutput(folder: string, state: CommandState): void {
  if (!state.acknowledged) writeState(folder, { ...state, acknowledged: true });
  for (const name of [commandFiles.stdout, commandFiles.stderr]) rmSync(join(folder, name), { force: true });
}

/** True unless every command beneath `root` has surely ended, and no start is on its way there. */
export function anyMayRun(root: string): boolean {
  return readdirSync(root)
    .filter(isCommandId)
    .some((name) => mayRun(join(root, name)));
}

function mayRun(folder: string): boolean {
  const state = readState(folder);
  if (state === null) return !isVoid(folder) && !launcherIsGone(folder);
  return state.receipt === null && (isAlive(state.supervisor) || membersOf(state).length > 0);
}

function statesIn(root: string): { readonly folder: string; readonly state: CommandState }[] {
  if (!existsSync(root)) return [];
  return readdirSync(root)
    .filter(isCommandId)
    .map((name) => ({ folder: join(root, name), state: readState(join(root, name)) }))
    .flatMap(({ folder, state }) => (state === null ? [] : [{ folder, state }]));
}

function notFound(id: string): SandboxError {
  return new SandboxError(
    'sandbox.not-found',
    `Expected a command that was started here, found none of the id ${JSON.stringify(id.slice(0, 70))}.`,
    { next: 'Give the id as it was printed when the command started.' },
  );
}
