/** One turn of an agent that is talked with, by a plan: the conversation, a deadline, and nothing left of it. */
import { randomUUID } from 'node:crypto';
import { messageOf } from '../../errors.ts';
import type { AcpTurn, DeliveryPlan } from '../../protocol/delivery.ts';
import type { Adapter } from '../adapter.ts';
import { markVariable } from '../drive/environment.ts';
import { runProgram } from '../drive/program.ts';
import type { TurnEnd, TurnOptions } from './turn.ts';

/** Resolves however the agent ends. Its words are not kept: what counts is what its model was sent. */
export async function runAcpTurn(
  plan: Pick<DeliveryPlan, 'argv' | 'env' | 'workspace'> & { readonly acp: AcpTurn },
  converse: NonNullable<Adapter['converse']>,
  { program, env, timeoutMs, signal }: TurnOptions,
): Promise<TurnEnd> {
  const mark = `verify-${randomUUID()}`;
  const deadline = AbortSignal.timeout(timeoutMs);
  let fault: string | null = null;
  const end = await runProgram(
    {
      program,
      argv: plan.argv,
      cwd: plan.workspace,
      env: { ...env, ...plan.env, [markVariable]: mark },
      stdin: null,
      mark: `${markVariable}=${mark}`,
    },
    {
      onStart: () => {},
      onLines: async () => {},
      converse: (streams) =>
        converse(plan.acp, { ...streams, tell: () => {} }).catch((thrown: unknown) => {
          fault = messageOf(thrown);
        }),
      signal: AbortSignal.any([signal, deadline]),
    },
  );
  if (!end.started)
    return { exitCode: null, stopped: `it could not be started: ${end.message}`, stdout: '', stderr: '' };
  const cut = signal.aborted ? 'it was cancelled' : `it did not end within ${timeoutMs / 1000} s`;
  const isWell = end.isDone && fault === null;
  return {
    exitCode: isWell ? 0 : (end.exit.code ?? 1),
    stopped: signal.aborted || (deadline.aborted && !end.isDone) ? cut : null,
    stdout: '',
    stderr: fault ?? end.stderr,
  };
}
