/** What the command tools share: where commands of a workspace are kept, how a call names one, and what the model reads of it. */
import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '../../digest.ts';
import { stateFolder } from '../../ledger/locate.ts';
import { bannerText, endNotes } from '../../sandbox/banner.ts';
import { SandboxError } from '../../sandbox/errors.ts';
import type { Locator } from '../../sandbox/locator.ts';
import type { CommandStatus, Observer, ReadRequest, Sandbox, StreamPage } from '../../sandbox/sandbox.ts';
import { observer } from '../../sandbox/supervisor/observe.ts';
import { failed, type ToolEnding } from '../tool/define-tool.ts';
import type { ToolContext } from '../tool/tool.ts';

/** What the tools take from their surroundings; handed down by whoever reads the environment. */
export interface CommandSurroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  /**
   * A sandbox of a program's own, in which commands are started instead of the named one, and through which all of these
   * tools look at them; closed with `command_start`.
   */
  readonly sandbox?: Sandbox;
}

export const outputBytesMax = 64 * 1024;
/** Of one stream in one call, where a result that is too large to show is kept. */
const keptBytesMax = 4 * 1024 * 1024;
// The head of a text with all its notes.
const headBytesMax = 4 * 1024;

/** The folder of this user in which the commands of a workspace have their state and output. */
export function commandsFolder(workspace: string, { env }: CommandSurroundings): string {
  return join(stateFolder(env), 'writ', 'commands', sha256(realpathSync(workspace)).slice(0, 16));
}

/** The id of the command that an effect starts: the same for every attempt of it, in any process. */
export function commandId(idempotencyKey: string): string {
  return `c_${sha256(idempotencyKey).slice(0, 20)}`;
}

/** Where commands that were started before are looked at: the sandbox of the program, or any sandbox of this machine. */
export function seenThrough(root: string, surroundings: CommandSurroundings): Observer {
  // Whatever confines them, commands of this machine have their state in one folder, and one supervisor each.
  return surroundings.sandbox ?? { name: 'local', ...observer(commandsFolder(root, surroundings)) };
}

/** The run of an effect, which owns what it starts. */
export function ownerOf(idempotencyKey: string): string {
  return idempotencyKey.replace(/:\d+:\d+$/, '');
}

/** How a command is named to the sandbox that is looked through. */
export function named({ name }: Pick<Sandbox, 'name'>, id: string): Locator {
  return { sandbox: name, id };
}

/** Where reading begins, in bytes; `tailBytes` from each end instead. */
export interface Place {
  readonly stdout?: number | undefined;
  readonly stderr?: number | undefined;
  readonly tailBytes?: number | undefined;
}

/**
 * Waits, reads and writes down what the model reads. All of the output where what is too large is kept for it as a
 * context; otherwise as much of the beginning and the end as fits.
 */
export async function lookAt(
  sandbox: Pick<Sandbox, 'name' | 'read'>,
  id: string,
  place: Place,
  wait: Pick<ReadRequest, 'waitMs' | 'until'>,
  context: ToolContext,
  more: readonly string[] = [],
): Promise<string | ToolEnding> {
  const read = (request: Partial<ReadRequest>) =>
    sandbox.read(
      named(sandbox, id),
      { stdout: 0, stderr: 0, bytesMax: 64, waitMs: 0, until: 'end', ...request },
      context.signal,
    );
  // Nothing lies behind the end of a file, so a read from there tells the size.
  const behind = Number.MAX_SAFE_INTEGER;
  const { status, ...sizes } = await read({ ...wait, stdout: behind, stderr: behind });
  if (status.state === 'absent') return failed('sandbox.not-found', `There is no command ${id} here.`);
  const bytesMax = (await keeps(context)) ? keptBytesMax : Math.floor((outputBytesMax - headBytesMax) / 2);
  const stream = async (name: 'stdout' | 'stderr'): Promise<readonly StreamPage[]> => {
    const from =
      place.tailBytes === undefined ? (place[name] ?? 0) : Math.max(0, sizes[name].next - place.tailBytes);
    return ends(
      async (at, max) => (await read({ [name]: at, bytesMax: max }))[name],
      from,
      sizes[name].next,
      bytesMax,
    );
  };
  // The status was asked first: what it calls ended has all its output.
  const shown = { status, stdout: await stream('stdout'), stderr: await stream('stderr') };
  return bannerText(id, shown, [...more, ...runningNotes(status), ...endNotes(status)]);
}

/** One part if it fits, else the beginning and the end. */
async function ends(
  read: (from: number, bytesMax: number) => Promise<StreamPage>,
  from: number,
  size: number,
  bytesMax: number,
): Promise<readonly StreamPage[]> {
  // A byte that is no UTF-8 takes three as text; then less is read.
  const fitting = async (at: number, max: number) => {
    const page = await read(at, max);
    return Buffer.byteLength(page.text) <= max + 64 ? page : read(at, Math.floor(max / 3));
  };
  if (size - from <= bytesMax) return [await fitting(from, bytesMax)];
  const half = Math.floor(bytesMax / 2);
  return [await fitting(from, half), await fitting(size - half, half)];
}

async function keeps(context: ToolContext): Promise<boolean> {
  const answer = await context.context('command').metadata();
  return answer.ok || answer.code !== 'context.capability-missing';
}

function runningNotes(status: CommandStatus): readonly string[] {
  if (status.state !== 'running') return [];
  const input = status.stdinBytes === 0 ? '' : ` It has taken ${status.stdinBytes} bytes of input.`;
  return [
    `It is still running.${input} Go on with command_wait or command_read, end it with command_cancel.`,
  ];
}

/** A command that is not there, or could not be looked at, is for the model to deal with. */
export function asFailure(thrown: unknown): ToolEnding {
  if (thrown instanceof SandboxError)
    return failed(thrown.code, `${thrown.message} ${thrown.next ?? ''}`.trim());
  throw thrown;
}
