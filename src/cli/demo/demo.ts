/** `writ demo`: composes the example analyst, runs it on the scripted model with real tools over real data, shows the record. */
import { existsSync } from 'node:fs';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { explain } from '../../compose/explain.ts';
import { startRun } from '../../run/run.ts';
import { readRunView } from '../../run/run-view.ts';
import { type Composed, composeFolder } from '../compose/situation-flags.ts';
import type { Context } from '../context.ts';
import { CliError } from '../errors.ts';
import { openHarness } from '../run/harness-parts.ts';
import { type OpenedStore, openStore, shellWord } from '../run/open-store.ts';
import { type Origin, originRecord } from '../run/origin.ts';
import { inSeat } from '../run/run-seat.ts';
import { usageLines } from '../view/draw-run.ts';
import { demoTask, startDemoModel } from './demo-model.ts';

/** The root of the package, from the sources as from what was built. */
const root = new URL('../../../', import.meta.url);

/** Runs the demo and returns the exit code of its run. The workspace is a copy and is removed; the record stays. */
export async function demo(context: Context): Promise<number> {
  const agentFolder = packagePath('examples/analyst');
  const workspace = await mkdtemp(join(tmpdir(), 'writ-demo-'));
  try {
    await cp(packagePath('dist/data/vega.sqlite'), join(workspace, 'vega.sqlite'));
    await cp(packagePath('examples/analyst/workspace/notes.md'), join(workspace, 'notes.md'));
    const composed = await composeFolder(context, agentFolder, { workspace });
    introduce(context, composed);
    const model = await startDemoModel();
    try {
      return await runOn(context, composed, model.baseUrl);
    } finally {
      await model.stop();
    }
  } finally {
    await rm(workspace, { recursive: true, force: true });
  }
}

function introduce(context: Context, { folder, composition }: Composed): void {
  const near = relative(context.cwd, folder);
  const agent = shellWord(near.startsWith('..') ? folder : near);
  context.stdout.write(
    [
      'The model is a script behind a real server on this machine; agent, tools and data are real. Nothing leaves it.',
      '',
      `1. What the model will read, and why      (writ compose ${agent} --explain)`,
      '',
      explain(composition),
      `2. The task      (writ run ${agent} -- TASK)`,
      '',
      `   ${demoTask}`,
      '',
      '',
    ].join('\n'),
  );
}

async function runOn(context: Context, composed: Composed, baseUrl: string): Promise<number> {
  const { agent, folder, workspace, composition } = composed;
  const origin: Origin = {
    agentFolder: folder,
    workspace,
    model: 'demo/scripted',
    baseUrl,
    tools: agent.tools.map(({ name, options }) => ({ name, options: { ...options } })),
    situation: {},
  };
  const parts = await openHarness(context, origin);
  const opened = await openStore(context, {});
  try {
    let run = '';
    const code = await inSeat(context, opened, parts, {}, async (seat) => {
      const result = await startRun({
        ...seat,
        composition,
        capabilities: agent.capabilities,
        limits: agent.budget,
        task: demoTask,
        origin: originRecord(origin),
      });
      run = result.run;
      return result;
    });
    await account(context, opened, run);
    return code;
  } finally {
    await opened.store.close();
    await parts.close();
  }
}

async function account(context: Context, { store, commandFor }: OpenedStore, id: string): Promise<void> {
  const run = await store.run(id);
  const session = run === undefined ? undefined : await store.session(run.session);
  if (run === undefined || session === undefined) return;
  const view = await readRunView(store, run, session);
  // Whoever started it by npm has perhaps no `writ` on the path.
  const byNpm = context.env.npm_lifecycle_event === undefined ? '' : 'npx ';
  context.stdout.write(
    [
      '',
      '3. What it used',
      '',
      ...usageLines(view),
      '',
      `Its record: ${byNpm}${commandFor('runs', 'show', id)}`,
      '',
    ].join('\n'),
  );
}

function packagePath(path: string): string {
  const found = fileURLToPath(new URL(path, root));
  if (existsSync(found)) return found;
  throw new CliError('cli.unreadable', `The demo expected ${path} beside its program, found nothing there.`, {
    next: 'Install the package again, or run npm run build in its sources.',
    details: { path: found },
  });
}
