/** `writ doctor`: what works here, what does not, and the next step for each. It changes nothing and sends nothing. */
import { type Context, printJson } from '../context.ts';
import { exitCodes } from '../exit.ts';
import { type NewCommand, withExamples } from '../program.ts';
import type { LedgerFlags } from '../run/open-store.ts';
import { ledgerWords } from '../runs/find-run.ts';
import { visible } from '../view/visible.ts';
import type { Check } from './checks.ts';

interface DoctorFlags extends LedgerFlags {
  readonly json?: true | undefined;
}

export function doctorCommand({ context, command, done }: NewCommand) {
  const doctor = command('doctor')
    .summary('what works here, and what does not')
    .description(
      'Looks at what runs need and what they can use. Names of keys are shown, never their values.',
    )
    .option('--ledger <path>', ledgerWords)
    .option('--json', 'print one JSON object');
  return withExamples(doctor, ['writ doctor', 'writ doctor --json']).action(async (options) =>
    done(await examine(context, options)),
  );
}

async function examine(context: Context, flags: DoctorFlags): Promise<number> {
  const look = await import('./checks.ts');
  const { checkSandboxes } = await import('./sandbox-checks.ts');
  const { env } = context;
  const checks: readonly Check[] = [
    look.checkNode(process.versions.node),
    await look.checkSqlite(),
    await look.checkLedger(context, flags.ledger),
    ...look.checkFolders(env),
    ...look.checkKeys(env),
    ...look.checkProxies(env),
    ...(await checkSandboxes(context)),
    ...(await look.checkPrograms(context)),
  ];
  const possible = checks.every(({ needed, status }) => !needed || status === 'ok');
  if (flags.json) printJson(context, { possible, checks });
  else context.stdout.write(doctorText(checks, possible));
  return possible ? exitCodes.completed : exitCodes.failed;
}

function doctorText(checks: readonly Check[], possible: boolean): string {
  const width = Math.max(...checks.map(({ name }) => name.length));
  const lines = checks.flatMap(({ name, status, found, next }) => [
    `${status.padEnd(7)}  ${name.padEnd(width)}  ${visible(found).replaceAll('\n', ' ')}`,
    ...(next === null ? [] : [`${''.padEnd(9 + width)}  next: ${next}`]),
  ]);
  const end = possible
    ? 'Runs are possible: with a key above, or with a server of your own by --base-url.'
    : 'Runs are not possible until the problems above are mended.';
  return `${lines.join('\n')}\n\n${end}\n`;
}
