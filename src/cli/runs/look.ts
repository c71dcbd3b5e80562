/** `writ runs list`, `show` and `events`: the record as it is, and nothing is changed. */
import type { Store } from '../../ledger/store.ts';
import type { RunRecord } from '../../protocol/record.ts';
import type { Usage } from '../../protocol/usage.ts';
import type { KnownUsage, RunState } from '../../run/derive.ts';
import type { RunView } from '../../run/run-view.ts';
import { type Context, printJson } from '../context.ts';
import { CliError } from '../errors.ts';
import { exitCodes } from '../exit.ts';
import { type NewCommand, withExamples } from '../program.ts';
import { type LedgerFlags, type OpenedStore, openStoreToLook } from '../run/open-store.ts';
import { count, moment, usageText } from '../view/figures.ts';
import type { PlanCall } from '../view/plan-calls.ts';
import { visible, visibleLine } from '../view/visible.ts';
import { findRun, ledgerWords, runWords } from './find-run.ts';
import { type MadeFor, madeFor, madeForText, ownRuns } from './trials.ts';

/** Opens the ledger for one look and closes it after. */
async function look(
  context: Context,
  flags: LedgerFlags,
  work: (opened: OpenedStore) => Promise<void>,
): Promise<number> {
  const opened = await openStoreToLook(context, flags);
  try {
    await work(opened);
    return exitCodes.completed;
  } finally {
    await opened.store.close();
  }
}

export function listCommand({ context, command, done }: NewCommand) {
  const list = command('list')
    .summary('the newest runs')
    .description('Lists runs, the newest first.')
    .option('--agent <key>', 'only runs of this agent')
    .option('--limit <n>', 'at most this many', (text) => readWhole('--limit', text, 1), 20)
    .option('--trials', 'those of experiments too')
    .option('--decisions <agent>', 'instead: how often each conditional fragment of an agent was in or out')
    .option('--ledger <path>', ledgerWords)
    .option('--json', 'print one JSON object');
  return withExamples(list, [
    'writ runs list',
    'writ runs list --agent analyst --limit 5 --json',
    'writ runs list --decisions agents/analyst',
  ]).action(async (options) =>
    done(
      await look(context, options, async ({ store, path }) => {
        const { agent, limit } = options;
        if (options.decisions !== undefined) {
          const { printDecisions } = await import('./decisions.ts');
          return printDecisions(context, store, options.decisions, options.json === true);
        }
        const records = await store.runs({
          ...(agent === undefined ? {} : { agent }),
          ...(options.trials ? { limit } : {}),
        });
        const { runs: shown, leftOut } = options.trials
          ? { runs: records, leftOut: 0 }
          : await ownRuns(store, records, limit);
        const runs = await Promise.all(shown.map((record) => listed(store, record)));
        if (options.json) {
          const { unknownIsNull } = await import('../view/unknown-is-null.ts');
          printJson(context, { ledger: path, runs: runs.map(unknownIsNull), leftOut });
        } else if (runs.length > 0)
          context.stdout.write(runs.map((run) => listLines(run, context.stdout.columns())).join(''));
        else {
          const whose = agent === undefined ? '' : ` of the agent '${visible(agent)}'`;
          context.stderr.write(`No runs${whose} in ${visible(path)}.\n`);
        }
        if (leftOut > 0 && !options.json)
          context.stderr.write(`left out: ${count(leftOut, 'run')} of experiments; --trials lists them\n`);
      }),
    ),
  );
}

interface Listed {
  readonly run: string;
  readonly session: string;
  readonly agent: string;
  readonly state: RunState;
  readonly createdAt: number;
  readonly model: string | null;
  /** Null where the text is no longer in the ledger. */
  readonly task: string | null;
  readonly usage: Usage;
  readonly known: KnownUsage;
  /** Null where no experiment made it. */
  readonly experiment: MadeFor;
}

async function listed(store: Store, record: RunRecord): Promise<Listed> {
  const { knownUsageOf, lastOf, stateOf, usageOf } = await import('../../run/derive.ts');
  const [session, events, holder] = await Promise.all([
    store.session(record.session),
    store.events(record.id),
    store.holder(record.id),
  ]);
  const { id, createdAt } = record;
  const state = stateOf(events, holder !== undefined);
  const start = lastOf(events, 'run-start');
  const task = start === undefined ? undefined : await store.blob(start.task);
  return {
    run: id,
    session: record.session,
    agent: session?.agent ?? '',
    state,
    createdAt,
    model: start?.model ?? session?.model ?? null,
    task: task === undefined ? null : Buffer.from(task).toString('utf8'),
    usage: usageOf(events),
    known: knownUsageOf(events),
    experiment: session === undefined ? null : madeFor(session),
  };
}

function listLines(
  { run, session, state, createdAt, agent, task, usage, known, experiment }: Listed,
  cells: number,
): string {
  const head = `${run}  ${state.padEnd(11)}  ${moment(createdAt)}  ${visibleLine(agent, 40)}\n  ${session}`;
  const figures = usageText(usage, known);
  const mark = experiment === null ? '' : `\n  ${visibleLine(madeForText(experiment), cells - 2)}`;
  return `${head}${mark}\n  ${figures} · ${visibleLine(task ?? '(its task is not in the ledger)', cells - figures.length - 5)}\n`;
}

interface ShowFlags extends LedgerFlags {
  readonly prompt?: true | undefined;
  readonly calls?: true | undefined;
  readonly message?: string | undefined;
  readonly surface?: true | undefined;
  readonly json?: true | undefined;
}

export function showCommand({ context, command, done }: NewCommand) {
  const show = command('show')
    .summary('one run: turns, calls, usage, answer')
    .description('Shows what a run was asked, what it did, what it used, and how it ended.')
    .argument('<run>', runWords)
    .option('--calls', 'show the arguments and results of all calls in full')
    .option('--prompt', 'print exactly the instructions that the model got, and nothing else')
    .option('--surface', 'print which tools the session shows, and why each other one is left out')
    .option('--message <digest>', 'print the one stored text whose digest begins so')
    .option('--ledger <path>', ledgerWords)
    .option('--json', 'print one JSON object');
  return withExamples(show, [
    'writ runs show last',
    'writ runs show last --calls',
    'writ runs show last --prompt | sha256sum',
  ]).action(async (word, options) =>
    done(await look(context, options, (opened) => showRun(context, opened, word, options))),
  );
}

async function showRun(context: Context, opened: OpenedStore, word: string, flags: ShowFlags): Promise<void> {
  const { store, path, commandFor } = opened;
  const found = await findRun(store, word, path);
  const { run, session } = found;
  if (flags.prompt) {
    const bytes = await promptOf(store, session.prompt);
    if (!flags.json) return context.stdout.write(bytes);
    const text = Buffer.from(bytes).toString('utf8');
    return printJson(context, { run: run.id, prompt: session.prompt, text });
  }
  if (flags.message !== undefined) {
    const { storedText } = await import('./stored-text.ts');
    const stored = await storedText(store, found, flags.message);
    if (flags.json) return printJson(context, { run: run.id, message: flags.message, text: stored });
    const text = visible(stored);
    return context.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
  }
  if (flags.surface) {
    const { printSurface } = await import('./surface.ts');
    return printSurface(context, store, session, flags.json === true);
  }
  const { readRunView } = await import('../../run/run-view.ts');
  const view = await readRunView(store, run, session);
  if (flags.json) {
    const { unknownIsNull } = await import('../view/unknown-is-null.ts');
    return printJson(context, unknownIsNull(view));
  }
  const [{ drawRun }, { resumeHint }] = await Promise.all([
    import('../view/draw-run.ts'),
    import('./resume-hint.ts'),
  ]);
  const results = flags.calls ? { results: await resultsOf(store, view) } : {};
  const planCalls = await planCallsOf(store, view);
  const resume = await resumeHint(opened, found);
  context.stdout.write(
    drawRun(view, { commandFor, resume, cells: context.stdout.columns(), planCalls, ...results }),
  );
}

async function resultsOf(store: Store, { turns, plans }: RunView): Promise<ReadonlyMap<string, string>> {
  const { resultTexts, valueTexts } = await import('./stored-text.ts');
  const calls = turns.flatMap((turn) => turn.calls);
  const messages = calls.flatMap(({ result }) => (result === null ? [] : [result.message]));
  const values = plans.flatMap(({ steps }) => steps.flatMap(({ value }) => value ?? []));
  return new Map([...(await resultTexts(store, messages)), ...(await valueTexts(store, values))]);
}

/** The calls of all steps of plans, by lane and path; none of a plan whose text is gone. */
async function planCallsOf(store: Store, { plans }: RunView): Promise<ReadonlyMap<string, PlanCall>> {
  const calls = new Map<string, PlanCall>();
  if (plans.length === 0) return calls;
  const { parsed, planCallAt } = await import('../view/plan-calls.ts');
  for (const { lane, plan, steps } of plans) {
    const bytes = await store.blob(plan);
    const written = bytes === undefined ? undefined : parsed(Buffer.from(bytes).toString('utf8'));
    for (const { path } of steps) {
      const call = planCallAt(written, path);
      if (call !== undefined) calls.set(`${lane} ${path}`, call);
    }
  }
  return calls;
}

async function promptOf(store: Store, digest: string): Promise<Uint8Array> {
  const [bytes, { sha256 }, { RunError }] = await Promise.all([
    store.blob(digest),
    import('../../digest.ts'),
    import('../../run/errors.ts'),
  ]);
  if (bytes !== undefined && sha256(bytes) === digest) return bytes;
  const found = bytes === undefined ? 'none' : 'other bytes: they were altered, or a secret was replaced';
  throw new RunError('run.record-damaged', `Expected the text of digest ${digest}, found ${found}.`, {
    next: 'Compose the agent again with: writ compose AGENT.',
  });
}

export function eventsCommand({ context, command, done }: NewCommand) {
  const events = command('events')
    .summary('the record of one run, event by event')
    .description('Prints the events of a run in order, one a line.')
    .argument('<run>', runWords)
    .option('--after <n>', 'only events with a higher number', (text) => readWhole('--after', text), 0)
    .option('--ledger <path>', ledgerWords)
    .option('--json', 'print each event as one line of JSON');
  return withExamples(events, ['writ runs events last', 'writ runs events last --after 12 --json']).action(
    async (word, options) =>
      done(
        await look(context, options, async ({ store, path }) => {
          const { run } = await findRun(store, word, path);
          const { eventBlock, eventJson, eventLine } = await import('../view/draw-event.ts');
          const { stdout } = context;
          for (const event of await store.events(run.id, options.after)) {
            if (options.json) stdout.write(`${eventJson(event)}\n`);
            else if (stdout.terminal) stdout.write(`${eventBlock(event, stdout.columns()).join('\n')}\n`);
            else stdout.write(`${eventLine(event)}\n`);
          }
        }),
      ),
  );
}

function readWhole(option: string, text: string, least: 0 | 1 = 0): number {
  const amount = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(amount) && amount >= least) return amount;
  const words = least === 0 ? 'zero or more' : 'one or more';
  throw new CliError('cli.bad-value', `${option} expected a whole number of ${words}, found '${text}'.`, {
    next: `Write it like ${option} 10.`,
    details: { option },
  });
}
