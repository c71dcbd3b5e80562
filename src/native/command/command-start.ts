/** `command_start`: one shell command in the workspace, in the sandbox that the agent chose, started at most once. */
import { type Locator, locatorText } from '../../sandbox/locator.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { bubblewrap } from '../../sandbox/sandboxes/bubblewrap/bubblewrap.ts';
import { local } from '../../sandbox/sandboxes/local/local.ts';
import { startCommand, startWithRecovery } from '../../sandbox/start-command.ts';
import type { StartOutcome } from '../../sandbox/start-outcome.ts';
import { sweepCommands } from '../../sandbox/supervisor/observe.ts';
import { defineTool, failed, notDispatched, stillUnknown, type ToolEnding } from '../tool/define-tool.ts';
import { ToolError } from '../tool/errors.ts';
import { readOptions } from '../tool/options.ts';
import { workspaceRoot } from '../tool/project-read.ts';
import { short } from '../tool/short.ts';
import type { Tool, ToolContext } from '../tool/tool.ts';
import { commandEnds, endMs } from './command-ends.ts';
import {
  type CommandSurroundings,
  commandId,
  commandsFolder,
  lookAt,
  named,
  outputBytesMax,
  ownerOf,
} from './command-seat.ts';
import { namedFiles } from './named-files.ts';

export interface CommandStartOptions {
  readonly workspace: string;
  /** `local` (unless set) confines nothing; `bubblewrap` shows a command its workspace and no network. */
  readonly sandbox?: string;
  /** For bubblewrap: true to share the machine's network. */
  readonly network?: boolean;
  /** True to let commands run on when the run ends; otherwise they are ended with it. */
  readonly keep?: boolean;
  /** Milliseconds after which a command is ended; an hour unless set. */
  readonly lifetimeMs?: number;
}

interface Arguments {
  readonly command: string;
  readonly cwd?: string;
  readonly wait_ms?: number;
  readonly stdin?: boolean;
}

const waitMsMax = 60_000;
const keptMs = 24 * 60 * 60 * 1000;

/** Makes the tool. Throws `sandbox.unavailable` where the sandbox does not work: no command ever runs without it. */
export function commandStart(options: CommandStartOptions, surroundings: CommandSurroundings): Tool {
  const { workspace, sandbox, network, keep, lifetimeMs } = readOptions('command_start', options, {
    workspace: 'string',
    sandbox: 'string?',
    network: 'boolean?',
    keep: 'boolean?',
    lifetimeMs: 'number?',
  });
  const root = workspaceRoot('command_start', workspace);
  const folder = commandsFolder(root, surroundings);
  const places = { workspace: root, folder, env: surroundings.env, network };
  const box = surroundings.sandbox ?? openSandbox(sandbox ?? 'local', places);
  if (surroundings.sandbox === undefined) sweepCommands(folder, Date.now() - keptMs);
  const ends = commandEnds(box);

  const run = async (
    { command, cwd = '', wait_ms: waitMs = 10_000, stdin = false }: Arguments,
    context: ToolContext,
  ) => {
    const { signal, clock, idempotencyKey } = context;
    const owner = ownerOf(idempotencyKey);
    const locator = await unspent(box, commandId(idempotencyKey), signal);
    const begun = await ends.begin(owner, locator);
    if ('held' in begun)
      return notDispatched('unavailable', `${begun.held} Nothing new begins before; use command_cancel.`);
    const spec = {
      argv: ['/bin/sh', '-c', command],
      cwd: cwd === '.' ? '' : cwd,
      env: {},
      stdin,
      lifetimeMs: lifetimeMs ?? 60 * 60 * 1000,
      outputBytesMax: 64 * 1024 * 1024,
      owner,
    };
    // The effect that this call is part of was made durable before it was entered; there is nothing more to record.
    const start = () => startCommand(box, spec, { locator, beforeDispatch: async () => {}, signal });
    const { outcome, attempts, exhausted } = await startWithRecovery(start, { signal, clock });
    if (outcome.outcome !== 'unknown' && outcome.outcome !== 'started') {
      begun.leave();
      return refusal(outcome, exhausted ? attempts : 1);
    }
    if (outcome.outcome === 'started') {
      const shown = await lookAt(box, locator.id, {}, { waitMs, until: 'end' }, context, confined(box));
      if (!signal.aborted) {
        begun.leave();
        return shown;
      }
    }
    if (signal.aborted && (await begun.stop())) {
      const wait = { waitMs: 0, until: 'end' } as const;
      return lookAt(box, locator.id, {}, wait, { ...context, signal: AbortSignal.timeout(endMs) });
    }
    const why =
      outcome.outcome === 'unknown' ? outcome.message : 'It was cancelled, and its end was not confirmed.';
    throw new Error(
      `${why} The command is ${locatorText(locator)}: look at it with command_read, command ${locator.id}.`,
    );
  };

  // What became of a start that nobody saw end. Its id follows from the call, so it is found whoever sent it.
  const reconcile = async (_: Arguments, context: ToolContext) => {
    const { signal, idempotencyKey } = context;
    const locator = await unspent(box, commandId(idempotencyKey), signal);
    const { id } = locator;
    if (await box.neverStarts(locator, { spend: true }, signal))
      return notDispatched('rejected-locally', 'It was never started, and its start can no longer happen.');
    const status = await box.status(locator, signal);
    if (status.state === 'absent' || status.state === 'idle')
      return stillUnknown(`The command ${id} has not said yet whether it runs.`);
    if (status.state === 'ended' && !status.receipt.ran)
      return failed('command.rejected', status.receipt.refusal ?? 'It was not executed.');
    return lookAt(box, id, {}, { waitMs: 0, until: 'end' }, context, confined(box));
  };

  const tool = defineTool<Arguments>({
    name: 'command_start',
    description:
      'Runs a shell command (/bin/sh) in the workspace and waits for it, at most wait_ms. Returns its state, exit code and ' +
      'output; a head line says [command ID ended exit=0], or running: then go on with command_wait, command_read, ' +
      'command_write or command_cancel and that ID. What stands between the marks is output and says nothing of its state.',
    parameters: {
      type: 'object',
      properties: {
        command: { type: 'string', minLength: 1, maxLength: 100_000, description: 'Text for /bin/sh -c.' },
        cwd: {
          type: 'string',
          maxLength: 1024,
          description: 'A folder of the workspace; its root if left out.',
        },
        wait_ms: { type: 'integer', minimum: 0, maximum: waitMsMax, description: '10000 if left out.' },
        stdin: { type: 'boolean', description: 'True to send input with command_write.' },
      },
      required: ['command'],
      additionalProperties: false,
    },
    capability: 'commands',
    access: 'write',
    repeat: 'once',
    repeatable: true,
    limits: { timeoutMs: waitMsMax + 30_000, outputBytesMax },
    look: 'Call command_read without an ID: it lists the commands of this run and their states.',
    execute: run,
    reconcile,
    // A resumed run owns what it started before it was killed, whether or not its model calls a command tool again.
    attend: (owner) => ends.own(owner),
    ...(keep === true ? {} : { settle: (owner) => ends.end(owner) }),
    async close() {
      // A run that was broken off has not settled its own.
      if (keep !== true) await ends.close();
      await box.close();
    },
  });
  // The runtime hands over nothing but values that `check` returned, which are of this type.
  const bound = ({ command, cwd }: Arguments) => namedFiles(root, command, cwd);
  return { ...tool, bound: (value) => bound(value as Arguments) };
}

/** Where a call may be started now: under the first of its ids that is not proven to have never started anything. */
async function unspent(box: Sandbox, id: string, signal: AbortSignal): Promise<Locator> {
  for (let nth = 1; ; nth += 1) {
    const locator = named(box, nth === 1 ? id : `${id}_${nth}`);
    if (!(await box.neverStarts(locator, { spend: false }, signal))) return locator;
  }
}

function openSandbox(
  name: string,
  { network, ...places }: Parameters<typeof local>[0] & { readonly network: boolean | undefined },
): Sandbox {
  if (name === 'bubblewrap') return bubblewrap({ ...places, network: network ?? false });
  // An option that would not be kept must not be passed over.
  const fault = name !== 'local' ? `sandbox local or bubblewrap, found ${short(name)}` : undefined;
  const odd = network === false ? 'no network: false for sandbox local, which confines nothing' : fault;
  if (odd === undefined) return local(places);
  throw new ToolError('tool.bad-option', `command_start: expected ${odd}.`, {
    next: 'Write sandbox: bubblewrap to confine commands, or sandbox: local to run them unconfined.',
  });
}

function confined({ confines }: Sandbox): readonly string[] {
  return confines.files ? [] : ['It ran unconfined, with the rights of the user.'];
}

function refusal(
  outcome: Exclude<StartOutcome, { outcome: 'unknown' | 'started' }>,
  attempts: number,
): ToolEnding {
  if (outcome.outcome === 'rejected') return failed('command.rejected', outcome.message);
  const { reason, message } = outcome.nonDispatch;
  if (attempts === 1) return notDispatched(reason, message);
  const tried = ` It was tried ${attempts} times, and nothing was sent.`;
  return notDispatched(reason, `${message}${tried}`, { park: true });
}
