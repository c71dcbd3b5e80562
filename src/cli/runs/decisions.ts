/** `writ runs list --decisions`: how often each conditional fragment of an agent was kept, left out, or undecided. */
import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { FireRate } from '../../compose/proof/fire-rate.ts';
import type { Store } from '../../ledger/store.ts';
import type { Composition } from '../../protocol/composition.ts';
import { type Context, printJson } from '../context.ts';
import { count } from '../view/figures.ts';
import { visible, visibleLine } from '../view/visible.ts';

/** `word` is an agent's key, or its folder. Every session counts once, however many runs it has. */
export async function printDecisions(
  context: Context,
  store: Store,
  word: string,
  json: boolean,
): Promise<void> {
  const [{ fireRateNote, fireRates }, agent] = await Promise.all([
    import('../../compose/proof/fire-rate.ts'),
    keyOf(context, word),
  ]);
  const sessions = new Set((await store.runs({ agent })).map((run) => run.session));
  const read = await Promise.all([...sessions].map((session) => compositionOf(store, session)));
  const compositions = read.filter((one) => one !== null);
  const unreadable = read.length - compositions.length;
  const fragments = fireRates(compositions).map((rate) => ({ ...rate, note: fireRateNote(rate) }));
  if (json) printJson(context, { agent, sessions: compositions.length, unreadable, fragments });
  else if (compositions.length === 0) context.stderr.write(`No session of ${visible(agent)} is on record.\n`);
  else context.stdout.write(table(agent, compositions.length, fragments, context.stdout.columns()));
  if (unreadable > 0 && !json)
    context.stderr.write(
      `${count(unreadable, 'session')} could not be counted: the stored text is damaged.\n`,
    );
}

function table(
  agent: string,
  sessions: number,
  fragments: readonly (FireRate & { readonly note: string | null })[],
  columns: number,
): string {
  const head = `${visibleLine(agent, 60)}: ${count(sessions, 'session')}\n`;
  if (fragments.length === 0) return `${head}  no fragment has a condition\n`;
  const lines = fragments.map(({ fragment, profile, when, kept, left, unknown, note }) => {
    const figures = `kept ${kept}, left out ${left}, unknown ${unknown}`;
    const all = [
      `  ${fragment} (profile ${profile}): ${figures}`,
      `      when ${when}`,
      ...(note === null ? [] : [`      ${note}`]),
    ];
    return all.map((line) => `${visibleLine(line, columns)}\n`).join('');
  });
  return head + lines.join('');
}

async function keyOf(context: Context, word: string): Promise<string> {
  const folder = resolve(context.cwd, word);
  const isAgent = await stat(join(folder, 'agent.yaml')).then(
    (found) => found.isFile(),
    () => false,
  );
  if (!isAgent) return word;
  const [{ loadAgent }, { vocabulary }] = await Promise.all([
    import('../../compose/load/agent.ts'),
    import('../../catalog.ts'),
  ]);
  return (await loadAgent(folder, vocabulary)).key;
}

async function compositionOf(store: Store, id: string): Promise<Composition | null> {
  const session = await store.session(id);
  const bytes = session === undefined ? undefined : await store.blob(session.composition);
  if (bytes === undefined) return null;
  try {
    // Written by startRun as a whole Composition; secrets in it may be replaced, its form never is.
    return JSON.parse(new TextDecoder().decode(bytes)) as Composition;
  } catch {
    return null;
  }
}
