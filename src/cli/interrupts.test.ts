/** Ctrl-C: nothing is caught before somebody asks for it, the first ends cleanly, the second at once. */
import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { openInterrupts } from './interrupts.ts';

function source() {
  const exits: unknown[] = [];
  const emitter = Object.assign(new EventEmitter(), { exit: (code?: unknown) => exits.push(code) as never });
  return { emitter: emitter as never as NodeJS.Process, exits };
}

test('the first Ctrl-C aborts, the second exits with 130', () => {
  const { emitter, exits } = source();
  const interrupts = openInterrupts(emitter);
  expect(emitter.listenerCount('SIGINT')).toBe(0);
  const signal = interrupts();
  expect(interrupts()).toBe(signal);
  emitter.emit('SIGINT');
  expect([signal.aborted, signal.reason, exits]).toEqual([true, 'Ctrl-C', []]);
  emitter.emit('SIGINT');
  expect(exits).toEqual([130]);
});

test('SIGTERM asks for a clean end however often it comes', () => {
  const { emitter, exits } = source();
  const signal = openInterrupts(emitter)();
  for (let i = 0; i < 3; i += 1) emitter.emit('SIGTERM');
  expect([signal.reason, exits]).toEqual(['SIGTERM', []]);
});
