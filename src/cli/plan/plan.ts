/** `writ plan`: what a plan needs before it is run, and its run with the tools, the rights and the record of an agent. */
import { type NewCommand, withExamples } from '../program.ts';
import { planCheckCommand } from './check.ts';
import { planRunCommand } from './run.ts';

/** Groups the commands. FILE is a file of JSON, or - for standard input. */
export function planCommand(parts: NewCommand) {
  const plan = parts
    .command('plan')
    .summary('check a typed plan, or run one')
    .description(
      'A plan is a closed list of steps in JSON: looks into contexts, tool calls, model steps, branches, tries.\nFILE is a file, or - for standard input.',
    );
  for (const command of [planCheckCommand(parts), planRunCommand(parts)]) plan.addCommand(command);
  return withExamples(plan, [
    'writ plan check plan.json --agent agents/analyst',
    'writ plan run plan.json --agent agents/analyst --input question="Which country grew fastest?"',
  ]);
}
