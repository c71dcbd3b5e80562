/** `writ runs list`, `show` and `events`: the record as it is, and nothing is changed. */
import type { Store } from '../../ledger/store.ts';
import type { RunRecord } from '../../protocol/record.ts';
import type { Usage } from '../../protocol/usage.ts';
import type { RunState } from '../../run/derive.ts';
import { type Context, printJson } from '../context.ts';
import { CliError } from '../errors.ts';
import { exitCodes } from '../exit.ts';
import { type NewCommand, withExamples } from '../program.ts';
import { type LedgerFlags, type OpenedStore, openStoreToRead } from '../run/open-store.ts';
import { moment, usageText } from '../view/figures.ts';
import { visible, visibleLine } from '../view/visible.ts';
import { findRun, ledgerWords, runWords } from './find-run.ts';

/** Opens the ledger for one look and closes it after. */
async function look(
  context: Context,
  flags: LedgerFlags,
  work: (opened: OpenedStore) => Promise<void>,
): Promise<number> {
  const opened = await openStoreToRead(context, flags);
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
    .option('--limit <n>', 'at most this many', (text) => readWhole('--limit', text), 20)
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
        const records = await store.runs({ ...(agent === undefined ? {} : { agent }), limit });
        const runs = await Promise.all(records.map((record) => listed(store, record)));
        if (options.json) printJson(context, { ledger: path, runs });
        else if (runs.length > 0)
          context.stdout.write(runs.map((run) => listLines(run, context.stdout.columns())).join(''));
        else context.stderr.write(`No runs in ${visible(path)}.\n`);
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
}

async function listed(store: Store, record: RunRecord): Promise<Listed> {
  const { lastOf, stateOf, usageOf } = await import('../../run/derive.ts');
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
  };
}

function listLines({ run, state, createdAt, agent, task, usage }: Listed, cells: number): string {
  const head = `${run}  ${state.padEnd(11)}  ${moment(createdAt)}  ${visibleLine(agent, 40)}`;
  const figures = usageText(usage);
  return `${head}\n  ${figures} · ${visibleLine(task ?? '(its task is not in the ledger)', cells - figures.length - 5)}\n`;
}

export function showCommand({ context, command, done }: NewCommand) {
  const show = command('show')
    .summary('one run: turns, calls, usage, answer')
    .description('Shows what a run was asked, what it did, what it used, and how it ended.')
    .argument('<run>', runWords)
    .option('--prompt', 'print exactly the instructions that the model got, and nothing else')
    .option('--ledger <path>', ledgerWords)
    .option('--json', 'print one JSON object');
  return withExamples(show, ['writ runs show last', 'writ runs show last --prompt | sha256sum']).action(
    async (word, options) =>
      done(
        await look(context, options, async ({ store, path, commandFor }) => {
          const { run, session } = await findRun(store, word, path);
          if (options.prompt) return context.stdout.write(await promptOf(store, session.prompt));
          const { readRunView } = await import('../../run/run-view.ts');
          const view = await readRunView(store, run, session);
          if (options.json) return printJson(context, view);
          const { drawRun } = await import('../view/draw-run.ts');
          context.stdout.write(drawRun(view, commandFor, context.stdout.columns()));
        }),
      ),
  );
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
          const cells = context.stdout.terminal ? context.stdout.columns() : 200;
          for (const event of await store.events(run.id, options.after)) {
            if (options.json) context.stdout.write(`${JSON.stringify(event)}\n`);
            else {
              const { seq, at, type, run: _run, epoch: _epoch, ...body } = event;
              const line = `${String(seq).padStart(4)}  ${moment(at)}  ${type.padEnd(16)}  ${JSON.stringify(body)}`;
              context.stdout.write(`${visibleLine(line, cells)}\n`);
            }
          }
        }),
      ),
  );
}

function readWhole(option: string, text: string): number {
  const amount = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(amount)) return amount;
  throw new CliError('cli.bad-value', `${option} expected a whole number of zero or more, found '${text}'.`, {
    next: `Write it like ${option} 10.`,
    details: { option },
  });
}
