/** The tools that go on with a command that was started: read, wait, write and cancel, in this run, a later one or after a crash. */
import { commandIdForm } from '../../sandbox/locator.ts';
import type { Observer } from '../../sandbox/sandbox.ts';
import { defineTool, failed } from '../tool/define-tool.ts';
import { readOptions } from '../tool/options.ts';
import { workspaceRoot } from '../tool/project-read.ts';
import type { Tool } from '../tool/tool.ts';
import {
  asFailure,
  type CommandSurroundings,
  lookAt,
  named,
  outputBytesMax,
  ownerOf,
  seenThrough,
} from './command-seat.ts';

export interface CommandToolOptions {
  readonly workspace: string;
}

const command = {
  type: 'string',
  pattern: `^${commandIdForm}$`,
  description: 'The ID in the head of what command_start returned.',
} as const;
const from = {
  type: 'integer',
  minimum: 0,
  description: 'Byte offset to read from; 0 if left out.',
} as const;
const places = {
  stdout_from: from,
  stderr_from: from,
  tail_bytes: {
    type: 'integer',
    minimum: 1,
    description: 'Only so many bytes from the end of each stream, instead of the offsets.',
  },
} as const;

interface Places {
  readonly stdout_from?: number;
  readonly stderr_from?: number;
  readonly tail_bytes?: number;
}

function placeOf({ stdout_from: stdout, stderr_from: stderr, tail_bytes: tailBytes }: Places) {
  return { stdout, stderr, tailBytes };
}

function commandsOf(tool: string, options: CommandToolOptions, surroundings: CommandSurroundings): Observer {
  const { workspace } = readOptions(tool, options, { workspace: 'string' });
  return seenThrough(workspaceRoot(tool, workspace), surroundings);
}

/** Makes `command_read`: state and output of a command now, or the list of this run's commands. */
export function commandRead(options: CommandToolOptions, surroundings: CommandSurroundings): Tool {
  const commands = commandsOf('command_read', options, surroundings);
  return defineTool<Places & { readonly command?: string }>({
    name: 'command_read',
    description:
      'Returns the state and output of a command at once, from byte offsets or only its end. Without command it lists ' +
      'the commands of this run. It never starts or changes anything.',
    parameters: {
      type: 'object',
      properties: { command, ...places },
      additionalProperties: false,
    },
    capability: 'commands',
    access: 'read',
    limits: { timeoutMs: 10_000, outputBytesMax },
    async execute({ command: id, ...place }, context) {
      if (id !== undefined)
        return lookAt(commands, id, placeOf(place), { waitMs: 0, until: 'end' }, context).catch(asFailure);
      const all = await commands.list(ownerOf(context.idempotencyKey), context.signal);
      return {
        commands: all.map(({ locator: { id: one, sandbox }, status }) => ({
          command: one,
          sandbox,
          state: status.state,
        })),
      };
    },
  });
}

/** Makes `command_wait`: the same once the command has ended, or the time is over. */
export function commandWait(options: CommandToolOptions, surroundings: CommandSurroundings): Tool {
  const commands = commandsOf('command_wait', options, surroundings);
  return defineTool<Places & { readonly command: string; readonly wait_ms?: number }>({
    name: 'command_wait',
    description: 'Waits until a command ends, at most wait_ms, and returns its state and output.',
    parameters: {
      type: 'object',
      properties: {
        command,
        wait_ms: { type: 'integer', minimum: 0, maximum: 60_000, description: '30000 if left out.' },
        ...places,
      },
      required: ['command'],
      additionalProperties: false,
    },
    capability: 'commands',
    access: 'read',
    limits: { timeoutMs: 75_000, outputBytesMax },
    execute: ({ command: id, wait_ms: waitMs = 30_000, ...place }, context) =>
      lookAt(commands, id, placeOf(place), { waitMs, until: 'end' }, context).catch(asFailure),
  });
}

/** Makes `command_write`: bytes for the standard input of a running command, handed over once. */
export function commandWrite(options: CommandToolOptions, surroundings: CommandSurroundings): Tool {
  const commands = commandsOf('command_write', options, surroundings);
  return defineTool<{ readonly command: string; readonly text: string; readonly end?: boolean }>({
    name: 'command_write',
    description:
      'Sends text to the standard input of a command that was started with stdin. A line needs its line end. ' +
      'Returns how many bytes it has got in all.',
    parameters: {
      type: 'object',
      properties: {
        command,
        text: { type: 'string', maxLength: 256 * 1024 },
        end: { type: 'boolean', description: 'True to close the input after it.' },
      },
      required: ['command', 'text'],
      additionalProperties: false,
    },
    capability: 'commands',
    access: 'write',
    repeat: 'once',
    repeatable: true,
    limits: { timeoutMs: 15_000, outputBytesMax: 4096 },
    look: 'Call command_read: it says how many bytes of input the command has taken.',
    effectKey: ({ command: id }) => `input of ${id}`,
    async execute({ command: id, text, end = false }, { signal }) {
      const status = await commands.status(named(commands, id), signal);
      if (status.state === 'absent') return failed('sandbox.not-found', `There is no command ${id} here.`);
      if (status.state !== 'running')
        return failed('command.not-running', `The command ${id} is ${status.state}; nothing was sent.`);
      const input = { offset: status.stdinBytes, bytes: Buffer.from(text), end };
      const receipt = await commands.write(named(commands, id), input, signal);
      if (receipt.accepted) return { command: id, stdin_bytes: receipt.received };
      return failed('command.input-refused', refusals[receipt.reason]);
    },
  });
}

const refusals = {
  offset: 'Something else was sent to it at the same time; nothing of this was. Look at it, then decide.',
  full: 'It does not read its input, and no more is held for it; nothing was sent.',
  closed: 'It takes no input: it was started without stdin, or its input is closed. Nothing was sent.',
  ended: 'It has ended; nothing was sent.',
} as const;

/** Makes `command_cancel`: ends a command and all that it started, and says so only with proof. */
export function commandCancel(options: CommandToolOptions, surroundings: CommandSurroundings): Tool {
  const commands = commandsOf('command_cancel', options, surroundings);
  return defineTool<{ readonly command: string }>({
    name: 'command_cancel',
    description:
      'Ends a command and everything that it started: it is asked first and killed after 2 seconds. Returns its end.',
    parameters: {
      type: 'object',
      properties: { command },
      required: ['command'],
      additionalProperties: false,
    },
    capability: 'commands',
    access: 'write',
    repeat: 'safe',
    limits: { timeoutMs: 20_000, outputBytesMax },
    look: 'Call command_read: it says whether the command still runs. To cancel it again does no harm.',
    effectKey: ({ command: id }) => `end of ${id}`,
    async execute({ command: id }, context) {
      try {
        const end = await commands.cancel(named(commands, id), { graceMs: 2_000 }, context.signal);
        if (!end.done) throw new Error(end.message);
        return await lookAt(commands, id, { tailBytes: 8192 }, { waitMs: 0, until: 'end' }, context);
      } catch (thrown) {
        return asFailure(thrown);
      }
    },
  });
}
