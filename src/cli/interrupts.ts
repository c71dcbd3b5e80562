/** Ctrl-C and SIGTERM: the first asks for a clean end, a second Ctrl-C ends the process at once. */
import { exitCodes } from './exit.ts';

/** Gives the signal that aborts when a person or another process asks for the end. */
export type Interrupts = () => AbortSignal;

type SignalSource = Pick<NodeJS.Process, 'on' | 'exit'>;

/**
 * Nothing is caught before the first call, so that a command which has nothing to finish dies of Ctrl-C as every program
 * does. Child processes are not touched here: each ends when the pipe from its parent closes.
 */
export function openInterrupts(source: SignalSource): Interrupts {
  let controller: AbortController | undefined;
  return () => {
    if (controller !== undefined) return controller.signal;
    const opened = new AbortController();
    controller = opened;
    source.on('SIGINT', () => {
      if (opened.signal.aborted) source.exit(exitCodes.cancelled);
      opened.abort('Ctrl-C');
    });
    // Another process may ask more than once without meaning "at once": only a person's second Ctrl-C does.
    source.on('SIGTERM', () => opened.abort('SIGTERM'));
    return opened.signal;
  };
}
