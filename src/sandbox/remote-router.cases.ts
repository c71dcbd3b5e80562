/** A command router over TLS, as a remote provider would run one: boxes behind routes, every request counted, faults on order. */

import type { AddressInfo } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import type { Locator } from './locator.ts';
import type { CommandSpec, Sandbox } from './sandbox.ts';
import { type Frame, frameReader, frameText } from './supervisor/frames.ts';

/** What the router does with one request instead of doing it and answering. */
export type Fault =
  | { readonly answer: Frame }
  /** The connection breaks before, or after, it was done. `silent`: it was done and nobody is told. */
  | { readonly break: 'before' | 'after' }
  | { readonly silent: true };

export interface Router {
  readonly port: number;
  readonly token: string;
  /** Requests by operation, counted as they arrive. */
  count(op: string): number;
  /** Boxes by instance; the last one put here is where the pointer leads, under the next epoch. */
  put(instance: string, box: Sandbox): void;
  route(): { readonly instance: string; readonly epoch: number };
  /** What happens to every following request of this operation; null for nothing. */
  break(op: string, fault: Fault | null): void;
  close(): Promise<void>;
}

const never = new AbortController().signal;

export async function openRouter(
  tls: { readonly key: string; readonly cert: string },
  at = 0,
): Promise<Router> {
  const token = 'token-0123456789';
  const boxes = new Map<string, Sandbox>();
  const faults = new Map<string, Fault>();
  const counts = new Map<string, number>();
  const sockets = new Set<TLSSocket>();
  let route = { instance: '', epoch: 0 };

  const server = createServer(tls, (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    socket.on(
      'data',
      frameReader((frame) => void serve(frame, socket)),
    );
  });

  async function serve(frame: Frame | null, socket: TLSSocket): Promise<void> {
    if (frame === null) return void socket.destroy();
    const op = String(frame.op);
    counts.set(op, (counts.get(op) ?? 0) + 1);
    const fault = faults.get(op);
    const answer = (reply: Frame) => socket.write(frameText({ ...reply, n: frame.n }));
    if (fault !== undefined && 'answer' in fault) return void answer(fault.answer);
    if (fault !== undefined && 'break' in fault && fault.break === 'before') return void socket.destroy();
    const reply = await perform(op, frame);
    if (fault === undefined) answer(reply);
    else if ('break' in fault) socket.destroy();
  }

  async function perform(op: string, frame: Frame): Promise<Frame> {
    if (frame.token !== token) return { status: 'UNAUTHENTICATED', message: 'The token is wrong.' };
    const locator = frame.locator as Locator;
    const at = locator.route ?? route;
    const box = boxes.get(at.instance);
    if (box === undefined) return { status: 'NOT_FOUND', message: 'There is no such box.' };
    const moved = op === 'start' && (at.instance !== route.instance || at.epoch !== route.epoch);
    if (moved) return { status: 'STALE_ROUTE', message: 'The box was moved.' };
    try {
      return { status: 'OK', value: await operate(box, op, locator, frame) };
    } catch (thrown) {
      return { status: 'FAILED', message: thrown instanceof Error ? thrown.message : 'failed' };
    }
  }

  async function operate(box: Sandbox, op: string, locator: Locator, frame: Frame): Promise<unknown> {
    switch (op) {
      case 'prepare':
        return box.prepare(frame.spec as CommandSpec, never);
      case 'start':
        return box.dispatch(frame.spec as CommandSpec, locator, never);
      case 'release':
        return box.release(locator, never);
      case 'status':
        return box.status(locator, never);
      case 'read':
        return box.read(locator, frame.request as Parameters<Sandbox['read']>[1], never);
      case 'write': {
        const { offset, bytes, end } = frame as unknown as { offset: number; bytes: string; end: boolean };
        return box.write(locator, { offset, bytes: Buffer.from(bytes, 'base64'), end }, never);
      }
      case 'signal':
        return box.signal(locator, frame.name as Parameters<Sandbox['signal']>[1], never);
      case 'cancel':
        return box.cancel(locator, { graceMs: Number(frame.graceMs) }, never);
      case 'acknowledge':
        return box.acknowledge(locator, String(frame.receipt), never);
      case 'list':
        return box.list(String(frame.owner), never);
      case 'neverStarts':
        return box.neverStarts(locator, { spend: frame.spend === true }, never);
      default:
        throw new Error(`no operation ${op}`);
    }
  }

  await new Promise<void>((resolve) => server.listen(at, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    token,
    count: (op) => counts.get(op) ?? 0,
    put(instance, box) {
      boxes.set(instance, box);
      route = { instance, epoch: route.epoch + 1 };
    },
    route: () => route,
    break(op, fault) {
      if (fault === null) faults.delete(op);
      else faults.set(op, fault);
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      for (const box of boxes.values()) await box.close();
    },
  };
}
