/** One output stream of the command line: what is written, whether a person watches, and a reader that went away. */

import { systemCode } from '../errors.ts';

/** The part of a Node stream that is needed here. */
export type OutStream = NodeJS.WritableStream & {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
};

export interface Output {
  /** True where a person sees it, so that lines may be redrawn. */
  readonly terminal: boolean;
  /** Columns of the terminal as it is now; 80 where there is none. */
  columns(): number;
  /** Lines of the terminal as it is now; 24 where there is none. */
  rows(): number;
  /** Writes in order without waiting. After the reader has gone, nothing is written any more. */
  write(text: string | Uint8Array): void;
  /** Resolves when all was taken; rejects if the stream failed otherwise than by a reader that went away. */
  flush(): Promise<void>;
}

/** Opens an output on a stream, which stays the caller's. */
export function openOutput(stream: OutStream): Output {
  let gone = false;
  let failure: Error | undefined;
  let pending: Promise<void> = Promise.resolve();
  const fail = (error: Error) => {
    // `writ … | head` ends the reader first; that is its right and no fault.
    if (!gone && !isClosedPipe(error)) failure = error;
    gone = true;
  };
  stream.on('error', fail);
  return {
    terminal: stream.isTTY === true,
    columns: () => stream.columns || 80,
    rows: () => stream.rows || 24,
    write(text) {
      if (gone || text.length === 0) return;
      const written = new Promise<void>((resolve) => {
        stream.write(text, (error) => {
          if (error) fail(error);
          resolve();
        });
      });
      pending = pending.then(() => written);
    },
    async flush() {
      await pending;
      if (failure !== undefined) throw failure;
    },
  };
}

function isClosedPipe(error: Error): boolean {
  return ['EPIPE', 'ERR_STREAM_DESTROYED'].includes(systemCode(error) ?? '');
}
