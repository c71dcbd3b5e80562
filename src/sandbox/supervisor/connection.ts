/** One question to a supervisor over its socket, in bounded time. */
import { open } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { type Frame, frameReader, frameText } from './frames.ts';
import { commandFiles } from './state-file.ts';

export type Reply =
  | { readonly got: 'reply'; readonly frame: Frame }
  /** Nobody listens: what was asked was not sent. */
  | { readonly got: 'nobody' }
  /** It was sent, and no answer came. */
  | { readonly got: 'silence' };

// What the address of a socket can hold, less its end.
const pathBytesMax = 100;

/** Asks once. Resolves with `silence` when the signal aborts or the time is spent after the question was sent. */
export async function ask(
  folder: string,
  question: Frame,
  { signal, timeoutMs }: { readonly signal: AbortSignal; readonly timeoutMs: number },
): Promise<Reply> {
  if (signal.aborted) return { got: 'silence' };
  const path = join(folder, commandFiles.socket);
  if (Buffer.byteLength(path) <= pathBytesMax) return exchange(path, question, signal, timeoutMs);
  const handle = await open(folder, 'r').catch(() => null);
  if (handle === null) return { got: 'nobody' };
  try {
    return await exchange(`/proc/self/fd/${handle.fd}/${commandFiles.socket}`, question, signal, timeoutMs);
  } finally {
    await handle.close();
  }
}

function exchange(path: string, question: Frame, signal: AbortSignal, timeoutMs: number): Promise<Reply> {
  return new Promise((resolve) => {
    const socket = connect(path);
    let connected = false;
    const end = (reply: Reply) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', silence);
      socket.destroy();
      resolve(reply);
    };
    const silence = () => end({ got: connected ? 'silence' : 'nobody' });
    const timer = setTimeout(silence, timeoutMs);
    signal.addEventListener('abort', silence, { once: true });
    socket.on('error', silence);
    socket.on('close', silence);
    socket.on('connect', () => {
      connected = true;
      socket.write(frameText(question));
    });
    socket.on(
      'data',
      frameReader((frame) => end(frame === null ? { got: 'silence' } : { got: 'reply', frame })),
    );
  });
}
