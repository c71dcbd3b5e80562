/** Where a program is measured: a scripted model behind the recorder, and a home and a workspace of its own, for one harness. */
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Clock } from '../../clock.ts';
import type { AuthMode, DeliveryPlan } from '../../protocol/delivery.ts';
import type { Fidelity, Intent } from '../../protocol/intent.ts';
import type { Adapter } from '../adapter.ts';
import { planDelivery } from '../plan-delivery.ts';
import { conversations } from '../recorder/conversations.ts';
import type { Exchange } from '../recorder/exchange.ts';
import { type ModelRequest, readModelRequest } from '../recorder/model-request.ts';
import { startRecorder } from '../recorder/recorder.ts';
import { type ScriptedAnswer, type ScriptedAsk, startScriptedModel } from '../recorder/scripted-model.ts';
import { runAcpTurn } from './acp-turn.ts';
import { claimedCell } from './claimed-cell.ts';
import { namedFile } from './traps.ts';
import { runTurn, type TurnEnd } from './turn.ts';

export interface StageOptions {
  readonly adapter: Adapter;
  readonly adapters: readonly Adapter[];
  /** The path of the program. */
  readonly program: string;
  /** What stands behind it in the command of an agent of a protocol. */
  readonly words?: readonly string[];
  readonly version: string | null;
  /** Null for the harness's own choice. */
  readonly model: string | null;
  readonly authMode: AuthMode;
  /** Its `PATH` alone is handed on. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

export interface Wish {
  readonly intent: Intent;
  readonly text: string;
  readonly fidelity?: Fidelity;
  readonly task?: string;
  /** The vendor's session that is continued; by default a new one in an empty home. */
  readonly resume?: string | null;
  /** A text that stands before ours at the same flag of the command, as a wrapper around the program would put it. */
  readonly flagBefore?: string;
}

export interface Seen {
  readonly plan: DeliveryPlan;
  readonly end: TurnEnd;
  /** Requests of the task's own conversation, in order. */
  readonly main: readonly ModelRequest[];
  readonly side: readonly ModelRequest[];
  /** Requests to a model that could not be read, with the reason. */
  readonly unreadable: readonly string[];
  readonly exchanges: readonly Exchange[];
}

export interface Stage {
  readonly workspace: string;
  readonly user: string;
  /** Plans a turn without running it. Throws as `turn` does. */
  plan(wish: Wish): DeliveryPlan;
  /** Plans and runs one turn. Throws a `deliver.*` refusal before anything is touched. */
  turn(wish: Wish): Promise<Seen>;
  /** What the model answers from now on. */
  answer(script: (ask: ScriptedAsk) => ScriptedAnswer): void;
  /** Writes a file into the workspace or the user's home folder. */
  plant(where: 'workspace' | 'user', path: string, text: string): Promise<void>;
  /** Empties both again, but for the file whose name is a trap. */
  clear(): Promise<void>;
  close(): Promise<void>;
}

/** Where each protocol begins below a base URL: programs for OpenAI's protocols take the version into theirs. */
const basePaths: Readonly<Record<string, string>> = {
  codex: '/v1',
  opencode: '/v1',
  pi: '/v1',
  'qwen-code': '/v1',
};

// A program that lets a model choose its model asks that again until the answer has this form.
const routerAnswer = {
  text: '{"complexity_reasoning":"one word","complexity_score":1,"reasoning":"one word","model_choice":"flash"}',
};
const isRouter = ({ messages }: ScriptedAsk) =>
  messages.some(
    ({ role, content }) => role === 'system' && /model_choice|complexity_score/.test(JSON.stringify(content)),
  );

const agentKeys = ['ANTHROPIC_API_KEY', 'GEMINI_API_KEY', 'OPENAI_API_KEY'];

/** Opens it; the caller closes it, and then nothing is left of it. */
export async function openStage(options: StageOptions): Promise<Stage> {
  const { adapter, clock } = options;
  const root = await realpath(await mkdtemp(join(tmpdir(), 'writ-verify-')));
  const [home, workspace, user, temporary] = ['home', 'workspace', 'user', 'tmp'].map((name) =>
    join(root, name),
  ) as [string, string, string, string];
  let script: (ask: ScriptedAsk) => ScriptedAnswer = () => ({ text: 'Done.' });
  let exchanges: Exchange[] = [];
  const model = await startScriptedModel((ask) => (isRouter(ask) ? routerAnswer : script(ask)));
  const recorder = await startRecorder({
    upstream: model.url,
    clock,
    take: (exchange) => exchanges.push(exchange),
  });
  const stage: Stage = {
    workspace,
    user,
    plan: (wish) =>
      planned(options, wish, { home, workspace, baseUrl: recorder.url + (basePaths[adapter.name] ?? '') }),
    answer(next) {
      script = next;
    },
    async plant(where, path, text) {
      const file = join(where === 'user' ? user : workspace, path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text);
    },
    async clear() {
      for (const folder of [workspace, user, temporary]) {
        await rm(folder, { recursive: true, force: true });
        await mkdir(folder, { recursive: true, mode: 0o700 });
      }
      await stage.plant('workspace', namedFile.name, namedFile.text);
    },
    async turn(wish) {
      const planned = stage.plan(wish);
      const plan = wish.flagBefore === undefined ? planned : flagTwice(planned, wish.flagBefore);
      if ((wish.resume ?? null) === null) await rm(home, { recursive: true, force: true });
      await mkdir(home, { recursive: true, mode: 0o700 });
      // What a continued session renewed in its home stays.
      if (options.authMode === 'login' && (wish.resume ?? null) === null) await logIn(adapter, home);
      exchanges = [];
      const end = await runPlan(options, plan, childEnvironment(options, { user, temporary }));
      return { plan, end, ...sorted(exchanges), exchanges };
    },
    async close() {
      await recorder.close();
      await model.stop();
      await rm(root, { recursive: true, force: true });
    },
  };
  await stage.clear();
  return stage;
}

function planned(
  options: StageOptions,
  { intent, fidelity = 'base', text, task = 'Say done.', resume = null }: Wish,
  places: Pick<DeliveryPlan, 'home' | 'workspace'> & { readonly baseUrl: string },
): DeliveryPlan {
  const { adapter, adapters, program, words = [], version, model, authMode } = options;
  return planDelivery(
    adapter.name,
    {
      ...places,
      ...(model === null ? {} : { model }),
      ...(adapter.program === null ? { agent: [program, ...words] } : {}),
      intent,
      fidelity,
      text,
      task,
      version,
      authMode,
      platform: process.platform,
      resume,
    },
    { measured: [claimedCell(options, intent, fidelity)], unmeasured: 'warn', adapters },
  );
}

async function logIn({ loginForVerify }: Adapter, home: string): Promise<void> {
  for (const { path, text } of loginForVerify?.() ?? []) {
    const file = join(home, path);
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(file, text, { mode: 0o600, flag: 'wx' });
  }
}

function runPlan(
  { adapter, program, timeoutMs, signal }: StageOptions,
  plan: DeliveryPlan,
  env: Readonly<Record<string, string>>,
): Promise<TurnEnd> {
  const { acp } = plan;
  const options = { program, env, timeoutMs, signal };
  if (acp === null || adapter.converse === undefined) return runTurn(plan, options);
  return runAcpTurn({ ...plan, acp }, adapter.converse, options);
}

/** The same plan with the intent's flag given once more, and before ours. */
function flagTwice(plan: DeliveryPlan, text: string): DeliveryPlan {
  const flag = plan.controls[0]?.control ?? '';
  const at = plan.argv.findIndex((word) => word === flag || word.startsWith(`${flag}=`));
  const file = { path: 'before.md', text, until: 'run' } as const;
  const more = plan.argv[at] === flag ? [flag, join(plan.home, file.path)] : [`${flag}=${text}`];
  return { ...plan, argv: plan.argv.toSpliced(at, 0, ...more), files: [...plan.files, file] };
}

function childEnvironment(
  { adapter, env, authMode }: StageOptions,
  { user, temporary }: { readonly user: string; readonly temporary: string },
): Record<string, string> {
  // An agent of a protocol says nowhere which key it takes.
  const named = adapter.program === null ? agentKeys : adapter.keyVariables;
  const keys = authMode === 'login' ? [] : named;
  return {
    PATH: env.PATH ?? '',
    HOME: user,
    TMPDIR: temporary,
    LANG: 'C.UTF-8',
    NO_COLOR: '1',
    // No key of the caller's goes anywhere here.
    ...Object.fromEntries(keys.map((name) => [name, 'writ-verify'])),
  };
}

function sorted(exchanges: readonly Exchange[]): Pick<Seen, 'main' | 'side' | 'unreadable'> {
  const readings = exchanges.map(readModelRequest);
  const all = conversations(readings.flatMap((one) => (one.kind === 'model' ? [one.request] : [])));
  return {
    main: all.filter(({ side }) => !side).flatMap(({ requests }) => requests),
    side: all.filter(({ side }) => side).flatMap(({ requests }) => requests),
    unreadable: readings.flatMap((one) => (one.kind === 'unreadable' ? [one.reason] : [])),
  };
}
