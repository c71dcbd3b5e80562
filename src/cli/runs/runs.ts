/** `writ runs`: what the ledger knows of runs, and what a person can decide about them. */
import { type NewCommand, withExamples } from '../program.ts';
import { approveCommand, denyCommand } from './answer.ts';
import { cancelCommand } from './cancel.ts';
import { forgetCommand } from './forget.ts';
import { eventsCommand, listCommand, showCommand } from './look.ts';
import { reconcileCommand } from './reconcile.ts';
import { resumeCommand } from './resume.ts';
import { traceCommand } from './trace.ts';

/** Groups the commands. RUN is an id, a beginning or an end of one, or `last`. */
export function runsCommand(parts: NewCommand) {
  const runs = parts
    .command('runs')
    .summary('look at runs and decide about them')
    .description(
      'Looks at runs and decides about them. RUN is an id, a part at its beginning or end, or last.',
    );
  for (const command of [
    listCommand(parts),
    showCommand(parts),
    eventsCommand(parts),
    traceCommand(parts),
    resumeCommand(parts),
    cancelCommand(parts),
    approveCommand(parts),
    denyCommand(parts),
    reconcileCommand(parts),
    forgetCommand(parts),
  ])
    runs.addCommand(command);
  return withExamples(runs, ['writ runs list', 'writ runs show last', 'writ runs resume last']);
}
