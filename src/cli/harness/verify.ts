/** `writ harness verify`: runs the agent programs of this machine against a scripted model and measures what they do. */
import { resolve } from 'node:path';
import { allAdapters } from '../../catalog.ts';
import { namingMend } from '../../compose/nearest.ts';
import type { Adapter } from '../../deliver/adapter.ts';
import type { AuthMode, Cell } from '../../protocol/delivery.ts';
import { collect } from '../compose/situation-flags.ts';
import { type Context, printJson } from '../context.ts';
import { findOnPath } from '../doctor/program-version.ts';
import { CliError } from '../errors.ts';
import { exitCodes } from '../exit.ts';
import { type NewCommand, withExamples } from '../program.ts';
import { type Verified, verifiedLines } from './verified-lines.ts';

interface VerifyFlags {
  readonly bin: readonly string[];
  readonly binArg: readonly string[];
  readonly model?: string | undefined;
  readonly login?: true | undefined;
  readonly json?: true | undefined;
}

export function verifyCommand({ context, command, done }: NewCommand) {
  const verify = command('verify')
    .summary('measure what the agent programs of this machine do with a prompt')
    .description(
      [
        'Runs each found program some fifty times against a scripted model behind the recording proxy, with a home and a',
        'workspace of its own: nothing is installed, and no key of yours is given to it. Measures for each intent',
        'where the text lands, what of the vendor stays beside it, which texts suffer, what a resume does with it, and',
        'which files of others reach the model. What was measured is kept and decides from then on.',
      ].join(' '),
    )
    .argument('[name...]', 'harnesses; all that are found unless named')
    .option(
      '--bin <[name=]path>',
      'the program of a harness, whose name may be left out beside one name; may be repeated',
      collect,
      [],
    )
    .option('--bin-arg <word>', 'a word behind the program of an ACP agent; may be repeated', collect, [])
    .option('--model <name>', "measure with this model's name, for prompts depend on it")
    .option('--login', 'measure them logged in, with a login made up for it, instead of with a key')
    .option('--json', 'print one JSON object');
  return withExamples(verify, [
    'writ harness verify',
    'writ harness verify codex --bin codex=./codex',
    'writ harness verify claude-code codex --login',
    'writ harness verify acp --bin /usr/local/bin/gemini --bin-arg=--acp',
  ]).action(async (names, options, self) =>
    // The group takes --json for its table, wherever the word stands.
    done(await verifyAll(context, names, { ...options, ...self.optsWithGlobals() })),
  );
}

async function verifyAll(context: Context, names: readonly string[], flags: VerifyFlags): Promise<number> {
  const all = await allAdapters();
  const known = all.map(({ name }) => name);
  for (const name of names) checkName(name, known);
  const programs = programsOf(context, flags.bin, { known, names });
  mustHaveAgent(flags.binArg, programs);
  const chosen = all.filter(({ name }) => (names.length === 0 ? true : names.includes(name)));
  const { keepMeasuredCells, measuredCellsPath, readMeasuredCells } = await import(
    '../../deliver/verify/measured-cells.ts'
  );
  const stored = measuredCellsPath(context.env);
  const before = await readMeasuredCells(stored);
  const signal = context.interrupts();
  const verified: Verified[] = [];
  for (const adapter of chosen) {
    const one = await verifyOne(context, {
      adapter,
      all,
      before,
      signal,
      model: flags.model ?? null,
      authMode: flags.login === true ? 'login' : 'api-key',
      programs,
      words: flags.binArg,
    });
    verified.push(one);
    // Kept at once: an interrupted call loses the harness it was at, and none before it.
    if (one.status === 'measured')
      await keepMeasuredCells(
        stored,
        one.report.intents.flatMap(({ cells }) => cells),
      );
    if (!flags.json) context.stdout.write(verifiedLines(one, names.length > 0));
  }
  const absent = verified.flatMap((one) => (one.status === 'not-found' ? [one.program] : []));
  if (!flags.json && names.length === 0 && absent.length > 0)
    context.stdout.write(`not found on PATH: ${absent.join(', ')}\n`);
  const measured = verified.filter(({ status }) => status === 'measured').length;
  if (flags.json) printJson(context, { stored, harnesses: verified });
  else if (measured > 0) context.stdout.write(`\nkept in ${stored}\n`);
  const good = verified.every(
    (one) =>
      (one.status === 'measured' && one.report.faults.length === 0) ||
      (names.length === 0 && one.status !== 'measured'),
  );
  return good && measured > 0 ? exitCodes.completed : exitCodes.failed;
}

function checkName(name: string, known: readonly string[]): void {
  if (known.includes(name)) return;
  throw new CliError('cli.bad-value', `There is no harness '${name}'.`, {
    next: namingMend(name, known),
    details: { name },
  });
}

function programsOf(
  context: Context,
  bins: readonly string[],
  { known, names }: { readonly known: readonly string[]; readonly names: readonly string[] },
): ReadonlyMap<string, string> {
  return new Map(
    bins.map((bin) => {
      const [only] = names;
      if (only !== undefined && names.length === 1 && !known.some((name) => bin.startsWith(`${name}=`)))
        return [only, resolve(context.cwd, bin)];
      const at = bin.indexOf('=');
      const [name, path] = [bin.slice(0, Math.max(0, at)), bin.slice(at + 1)];
      if (at < 1 || path === '')
        throw new CliError('cli.bad-value', `--bin expected NAME=PATH, found '${bin}'.`, {
          next: 'Write the name of a harness, an equals sign and the path of its program.',
        });
      checkName(name, known);
      return [name, resolve(context.cwd, path)];
    }),
  );
}

// A word that nothing is started with would be dropped in silence.
function mustHaveAgent(words: readonly string[], programs: ReadonlyMap<string, string>): void {
  if (words.length === 0 || programs.has('acp')) return;
  throw new CliError('cli.bad-value', '--bin-arg is for the command of an ACP agent, and --bin names none.', {
    next: 'Name its program: writ harness verify acp --bin PATH --bin-arg WORD',
    details: { option: '--bin-arg' },
  });
}

interface One {
  readonly adapter: Adapter;
  readonly all: readonly Adapter[];
  readonly before: readonly Cell[];
  readonly signal: AbortSignal;
  readonly model: string | null;
  readonly authMode: AuthMode;
  readonly programs: ReadonlyMap<string, string>;
  readonly words: readonly string[];
}

async function verifyOne(
  context: Context,
  { adapter, all, before, signal, model, authMode, programs, words }: One,
): Promise<Verified> {
  const harness = adapter.name;
  if (adapter.needsCell === false)
    return { status: 'not-measurable', harness, reason: 'it starts no program that could be sent elsewhere' };
  if (authMode === 'login' && adapter.loginForVerify === undefined)
    return {
      status: 'not-measurable',
      harness,
      reason: 'nobody can make up a login that leads it to this machine',
    };
  const found = adapter.program === null ? undefined : findOnPath(adapter.program, context.env);
  const program = programs.get(harness) ?? found;
  if (program === undefined && adapter.program === null)
    return { status: 'not-measurable', harness, reason: `--bin ${harness}=PATH has to name the agent` };
  if (program === undefined) return { status: 'not-found', harness, program: adapter.program ?? harness };
  const { verifyHarness } = await import('../../deliver/verify/verify.ts');
  const report = await verifyHarness({
    adapter,
    adapters: all,
    program,
    words: adapter.program === null ? words : [],
    model,
    authMode,
    known: [...before, ...adapter.cells],
    env: context.env,
    clock: context.clock,
    signal,
    progress: (what) => {
      if (context.stderr.terminal) context.stderr.write(`measuring ${harness}: ${what}\n`);
    },
  });
  return { status: 'measured', harness, report };
}
