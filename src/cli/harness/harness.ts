/** `writ harness`: the agent programs that can be delivered to, and what was measured of them. */
import { type NewCommand, withExamples } from '../program.ts';
import { verifyCommand } from './verify.ts';

/** Groups the commands. */
export function harnessCommand(parts: NewCommand) {
  const harness = parts
    .command('harness')
    .summary('agent programs that can be delivered to')
    .description('The agent programs that a composition can be delivered to, and what was measured of them.');
  harness.addCommand(verifyCommand(parts));
  return withExamples(harness, ['writ harness verify', 'writ harness verify codex']);
}
