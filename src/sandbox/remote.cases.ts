/** A sandbox behind a command router: the client that a remote provider would have, small and whole. */
import { connect, type TLSSocket } from 'node:tls';
import { messageOf } from '../errors.ts';
import { isTransportFault } from './error-graph.ts';
import { SandboxError } from './errors.ts';
import type { Locator, Route } from './locator.ts';
import type {
  CancelReceipt,
  CommandStatus,
  ListedCommand,
  OutputPage,
  Sandbox,
  SignalReceipt,
  WriteReceipt,
} from './sandbox.ts';
import { rejectionCodes, startFault } from './start-outcome.ts';
import { type Frame, frameReader, frameText } from './supervisor/frames.ts';

export interface RemoteOptions {
  readonly port: number;
  readonly ca: string;
  readonly token: string;
  /** Where the pointer leads now. A command stays with the box in which it was started. */
  readonly route: () => Route;
  /** How long the channel may take to stand. */
  readonly readyMs?: number;
}

/** Observations are read again so often over a new channel; nothing else ever is. */
const readsMax = 3;

export function remote({ port, ca, token, route, readyMs = 5_000 }: RemoteOptions): Sandbox {
  let channel: Channel | undefined;
  let closed = false;
  const closing = new AbortController();

  /** A channel that stands. A fault here is proof that nothing was sent. */
  async function ready(signal: AbortSignal): Promise<Channel> {
    if (channel?.alive() === true) return channel;
    const stop = AbortSignal.any([signal, closing.signal, AbortSignal.timeout(readyMs)]);
    try {
      channel = await openChannel({ port, ca }, stop);
      return channel;
    } catch (thrown) {
      if (closed) throw startFault({ kind: 'not-dispatched', why: 'closed' }, 'The sandbox is closed.');
      if (signal.aborted) throw startFault({ kind: 'not-dispatched', why: 'cancelled' }, 'It was cancelled.');
      throw startFault({ kind: 'unavailable' }, `The router cannot be reached: ${messageOf(thrown)}`);
    }
  }

  // A command stays with the box to which its start was sent, wherever the pointer leads by then.
  const sentTo = new Map<string, Route>();
  const routeOf = ({ id, route: own }: Locator): Route | undefined => own ?? sentTo.get(id);
  const placed = (locator: Locator): Locator => ({ ...locator, route: routeOf(locator) ?? route() });

  async function observe(frame: Frame, signal: AbortSignal): Promise<unknown> {
    for (let reads = 1; ; reads += 1) {
      try {
        const { status, message, value } = await (await ready(signal)).ask({ ...frame, token }, signal);
        if (status === 'OK') return value;
        throw new Error(String(message));
      } catch (thrown) {
        if (reads < readsMax && isTransportFault(thrown) && !signal.aborted) continue;
        throw new SandboxError(
          'sandbox.lost-sight',
          `The command could not be looked at: ${messageOf(thrown)}`,
          {
            cause: thrown,
          },
        );
      }
    }
  }

  return {
    name: 'remote',
    confines: { files: true, network: false, processes: true },
    async prepare(spec, signal) {
      if (closed) throw startFault({ kind: 'not-dispatched', why: 'closed' }, 'The sandbox is closed.');
      const at = placed({ sandbox: 'remote', id: 'none' });
      const answer = await (await ready(signal)).ask({ op: 'prepare', spec, locator: at, token }, signal);
      if (answer.status !== 'OK')
        throw startFault({ kind: 'not-dispatched', why: 'invalid' }, String(answer.message));
    },
    async dispatch(spec, locator, signal) {
      const standing = await ready(signal);
      if (signal.aborted) throw startFault({ kind: 'not-dispatched', why: 'cancelled' }, 'It was cancelled.');
      // From here on it may have been sent, and only these five answers prove something.
      const at = placed(locator);
      if (at.route !== undefined) sentTo.set(at.id, at.route);
      const answer = await standing.ask({ op: 'start', spec, locator: at, token }, signal);
      if (answer.status === 'OK') return;
      const code = rejectionCodes.find((one) => one.toUpperCase().replaceAll('-', '_') === answer.status);
      const message = String(answer.message ?? answer.status);
      throw code === undefined ? new Error(message) : startFault({ kind: 'rejected', code }, message);
    },
    async release(locator, signal) {
      const { status, message } = await (await ready(signal)).ask(
        { op: 'release', locator: placed(locator), token },
        signal,
      );
      if (status !== 'OK') throw new Error(String(message));
    },
    status: async (locator, signal) =>
      (await observe({ op: 'status', locator: placed(locator) }, signal)) as CommandStatus,
    read: async (locator, request, signal) =>
      (await observe({ op: 'read', locator: placed(locator), request }, signal)) as OutputPage,
    async write(locator, { offset, bytes, end }, signal) {
      const frame = {
        op: 'write',
        locator: placed(locator),
        offset,
        bytes: Buffer.from(bytes).toString('base64'),
        end,
      };
      const standing = await ready(signal);
      try {
        const { status, value, message } = await standing.ask({ ...frame, token }, signal);
        if (status === 'OK') return value as WriteReceipt;
        throw new Error(String(message));
      } catch (cause) {
        throw new SandboxError('sandbox.input-unknown', messageOf(cause), { cause });
      }
    },
    signal: async (locator, name, signal) =>
      (await observe({ op: 'signal', locator: placed(locator), name }, signal)) as SignalReceipt,
    cancel: async (locator, { graceMs }, signal) =>
      (await observe({ op: 'cancel', locator: placed(locator), graceMs }, signal)) as CancelReceipt,
    acknowledge: async (locator, receipt, signal) =>
      (await observe({ op: 'acknowledge', locator: placed(locator), receipt }, signal)) === true,
    list: async (owner, signal) => {
      const boxes = new Map([...sentTo.values(), route()].map((one) => [one.instance, one]));
      const lists = await Promise.all(
        [...boxes.values()].map((one) =>
          observe({ op: 'list', owner, locator: { sandbox: 'remote', id: 'none', route: one } }, signal),
        ),
      );
      return (lists as (readonly ListedCommand[])[])
        .flat()
        .map(({ locator: { id }, status }) => ({ locator: { sandbox: 'remote', id }, status }));
    },
    // Only the box to which it was sent can tell.
    neverStarts: async (locator, { spend }, signal) =>
      routeOf(locator) !== undefined &&
      (await observe({ op: 'neverStarts', locator: placed(locator), spend }, signal)) === true,
    async close() {
      closed = true;
      closing.abort();
      channel?.end();
    },
  };
}

interface Channel {
  alive(): boolean;
  /** Sends once. Rejects if the channel breaks or the signal aborts before the answer comes. */
  ask(frame: Frame, signal: AbortSignal): Promise<Frame>;
  end(): void;
}

function openChannel(
  to: { readonly port: number; readonly ca: string },
  signal: AbortSignal,
): Promise<Channel> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(new Error('stopped'));
    const socket = connect({ host: '127.0.0.1', ...to });
    const stop = () => socket.destroy(new Error('stopped'));
    signal.addEventListener('abort', stop, { once: true });
    socket.once('error', reject);
    socket.once('secureConnect', () => {
      signal.removeEventListener('abort', stop);
      resolve(conversation(socket));
    });
  });
}

function conversation(socket: TLSSocket): Channel {
  const waiting = new Map<number, { resolve: (frame: Frame) => void; reject: (fault: Error) => void }>();
  let asked = 0;
  const hear = (frame: Frame | null) => {
    if (frame !== null) waiting.get(Number(frame.n))?.resolve(frame);
  };
  socket.on('error', () => {});
  socket.on('data', frameReader(hear, 64 * 1024 * 1024));
  socket.on('close', () => {
    const fault = Object.assign(new Error('The connection broke.'), { code: 'ECONNRESET' });
    for (const { reject } of waiting.values()) reject(fault);
    waiting.clear();
  });
  return {
    alive: () => !socket.destroyed && socket.writable,
    ask: async (frame, signal) => {
      asked += 1;
      const n = asked;
      let stop = () => {};
      try {
        return await new Promise<Frame>((resolve, reject) => {
          stop = () => reject(new Error('It was cancelled.'));
          waiting.set(n, { resolve, reject });
          signal.addEventListener('abort', stop, { once: true });
          socket.write(frameText({ ...frame, n }));
        });
      } finally {
        waiting.delete(n);
        signal.removeEventListener('abort', stop);
      }
    },
    end: () => socket.destroy(),
  };
}
