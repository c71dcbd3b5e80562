/** `writ runs reconcile`: what a run did outside that nobody knows the outcome of, and a person's decision about it. */
import { stateOf } from '../../run/derive.ts';
import type { EffectDecision } from '../../run/reconcile.ts';
import type { EffectDecisionKind, UnsettledEffect } from '../../run/unsettled.ts';
import { type Context, printJson } from '../context.ts';
import { CliError } from '../errors.ts';
import { exitCodes } from '../exit.ts';
import { type NewCommand, withExamples } from '../program.ts';
import { personName } from '../run/ask.ts';
import { type LedgerFlags, type OpenedStore, openStoreToLook, openStoreToRead } from '../run/open-store.ts';
import { visible } from '../view/visible.ts';
import { type FoundRun, findRun, ledgerWords, runWords } from './find-run.ts';
import { resumeHint } from './resume-hint.ts';

interface ReconcileFlags extends LedgerFlags {
  readonly observed?: string | true | undefined;
  readonly failed?: true | undefined;
  readonly notDispatched?: true | undefined;
  readonly abandon?: true | undefined;
  readonly retry?: true | undefined;
  readonly reason?: string | undefined;
  readonly by?: string | undefined;
  readonly json?: true | undefined;
}

export function reconcileCommand({ context, command, done }: NewCommand) {
  const reconcile = command('reconcile')
    .summary('settle what a run did and nobody saw')
    .description(
      'Without a decision: lists the effects of a run whose outcome is unknown, what is known of each, and what can be done. With one: records it. Nothing is sent.',
    )
    .argument('<run>', runWords)
    .argument('[effect]', 'turn.position, as the list names it; may be left out where only one is unknown')
    .option('--observed [text]', 'it happened; the model reads the text in the place of its result')
    .option('--failed', 'with --observed: it was carried out and failed')
    .option('--not-dispatched', 'it surely did not happen and never will; a resume may send it')
    .option('--abandon', 'give it up as unknown; calls of its kind wait no longer')
    .option('--retry', 'let a resume send it again, although it may have happened')
    .option('--reason <text>', 'why; needed with a decision, and recorded')
    .option('--by <name>', 'who decides (default: you)')
    .option('--ledger <path>', ledgerWords)
    .option('--json', 'print one JSON object');
  return withExamples(reconcile, [
    'writ runs reconcile last',
    'writ runs reconcile last 1.2 --observed "Booked under X7F2." --reason "It stands in the desk\'s list."',
    'writ runs reconcile last 1.2 --retry --reason "Two mails do no harm."',
  ]).action(async (run, effect, options) => done(await reconcileRun(context, run, effect, options)));
}

async function reconcileRun(
  context: Context,
  word: string,
  effect: string | undefined,
  flags: ReconcileFlags,
): Promise<number> {
  const decision = decisionIn(flags);
  const opened = await (decision === undefined ? openStoreToLook : openStoreToRead)(context, flags);
  try {
    const found = await findRun(opened.store, word, opened.path);
    const { unsettledOf } = await import('../../run/unsettled.ts');
    const held = (await opened.store.holder(found.run.id)) !== undefined;
    const events = await opened.store.events(found.run.id);
    // What a living process has just sent is no question for anybody yet.
    const open = unsettledOf(events).filter(({ state }) => !held || state === 'unknown');
    if (decision !== undefined)
      return await decide(context, opened, found, { ...decision, effect: placeIn(effect, open) }, flags);
    const shown = effect === undefined ? open : open.filter((one) => one.effect === effect);
    await showOpen(context, opened, found, { state: stateOf(events, held), shown }, flags.json === true);
    return exitCodes.completed;
  } finally {
    await opened.store.close();
  }
}

/** The one decision among the flags; undefined for none. Throws `cli.bad-value` for several. */
function decisionIn(flags: ReconcileFlags): Pick<EffectDecision, 'decision' | 'observation'> | undefined {
  const { observed, failed, notDispatched, abandon, retry } = flags;
  const all: readonly (readonly [EffectDecisionKind, boolean])[] = [
    ['observed', observed !== undefined],
    ['not-dispatched', notDispatched === true],
    ['abandoned', abandon === true],
    ['retry-authorized', retry === true],
  ];
  const [first, second] = all.filter(([, given]) => given);
  if (second !== undefined) throw oneDecision('several');
  if (failed === true && first?.[0] !== 'observed') throw oneDecision('--failed without --observed');
  if (first === undefined) {
    if (flags.reason !== undefined || flags.by !== undefined) throw oneDecision('a reason and none');
    return undefined;
  }
  const [decision] = first;
  const status = failed === true ? 'failed' : 'succeeded';
  if (decision !== 'observed' || (observed === true && failed !== true)) return { decision };
  const words = `A person looked: it was carried out and failed. ${flags.reason ?? ''}`.trim();
  return { decision, observation: { status, text: typeof observed === 'string' ? observed : words } };
}

function oneDecision(found: string): CliError {
  return new CliError('cli.bad-value', `Expected one decision, found ${found}.`, {
    next: 'Give one of --observed, --not-dispatched, --abandon, --retry, with --reason.',
  });
}

function placeIn(effect: string | undefined, open: readonly UnsettledEffect[]) {
  const [only, other] = open;
  const name = effect ?? (other === undefined ? only?.effect : undefined) ?? '';
  const [, turn, position] = /^(\d{1,9})\.(\d{1,9})$/.exec(name) ?? [];
  if (turn !== undefined && position !== undefined) return { turn: Number(turn), position: Number(position) };
  const names = open.map((one) => one.effect).join(', ');
  throw new CliError('cli.bad-value', `Expected an effect as turn.position, found '${effect ?? ''}'.`, {
    next: names === '' ? 'Nothing of this run is unknown.' : `Name one of: ${names}.`,
  });
}

async function decide(
  context: Context,
  opened: OpenedStore,
  found: FoundRun,
  given: Pick<EffectDecision, 'decision' | 'observation'> & {
    readonly effect: { readonly turn: number; readonly position: number };
  },
  flags: ReconcileFlags,
): Promise<number> {
  const [{ reconcileEffect }, { thisHolder }] = await Promise.all([
    import('../../run/reconcile.ts'),
    import('../../ledger/holder.ts'),
  ]);
  const { run } = found;
  const { effect: place, ...decision } = given;
  const by = flags.by ?? personName(context.env);
  const reason = flags.reason ?? '';
  const effect = await reconcileEffect(opened.store, thisHolder(context.clock), {
    run: run.id,
    ...place,
    ...decision,
    by,
    reason,
  });
  const name = `${place.turn}.${place.position}`;
  const state = stateOf(await opened.store.events(run.id), false);
  const waits = state === 'interrupted' || state === 'paused';
  const next = waits ? (await resumeHint(opened, found)).text : null;
  if (flags.json)
    printJson(context, { run: run.id, effect: name, tool: effect.tool, ...decision, by, reason, next });
  else
    context.stdout.write(
      `${name} ${visible(effect.tool)}: ${effect.state}\n${next === null ? '' : `next: ${next}\n`}`,
    );
  return exitCodes.completed;
}

async function showOpen(
  context: Context,
  opened: OpenedStore,
  found: FoundRun,
  { state, shown }: { readonly state: string; readonly shown: readonly UnsettledEffect[] },
  json: boolean,
): Promise<void> {
  const { run } = found;
  if (json) return printJson(context, { run: run.id, state, unknown: shown });
  if (shown.length === 0) return context.stderr.write(`Nothing that ${run.id} did is unknown.\n`);
  const { drawUnsettled } = await import('../view/draw-unsettled.ts');
  const waits = state === 'interrupted' || state === 'paused';
  const resume = waits ? (await resumeHint(opened, found)).text : null;
  const { commandFor } = opened;
  const cells = context.stdout.columns();
  context.stdout.write(drawUnsettled(shown, { run: run.id, commandFor, resume, cells }));
}
