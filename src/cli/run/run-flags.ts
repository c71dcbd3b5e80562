/** The flags of `writ run`, as they were given. */
import type { SurfaceMode } from '../../compose/surface/mode.ts';
import type { PermissionMode } from '../../deliver/request.ts';
import type { WireName } from '../../native/model/wire-names.ts';
import type { Root } from '../../native/plan/session-plans.ts';
import type { Fidelity, Intent } from '../../protocol/intent.ts';
import type { ReasoningEffort } from '../../wire/settings.ts';
import type { SituationFlags } from '../compose/situation-flags.ts';
import type { LedgerFlags } from './open-store.ts';
import type { SeatFlags } from './run-seat.ts';

export interface RunFlags extends SituationFlags, LedgerFlags, SeatFlags {
  readonly workspace?: string | undefined;
  readonly model?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly wire?: WireName | undefined;
  readonly keyEnv?: string | undefined;
  readonly session?: string | undefined;
  readonly budget?: readonly string[] | undefined;
  readonly maxTokens?: number | undefined;
  readonly reasoningEffort?: ReasoningEffort | undefined;
  readonly decisionEffort?: ReasoningEffort | undefined;
  readonly spec?: string | undefined;
  readonly taskFile?: string | undefined;
  readonly context?: readonly string[] | undefined;
  readonly trust?: true | undefined;
  readonly surface?: SurfaceMode | undefined;
  readonly harness?: string | undefined;
  readonly intent?: Intent | undefined;
  readonly fidelity?: Fidelity | undefined;
  readonly unmeasured?: 'refuse' | 'warn' | undefined;
  readonly verify?: true | undefined;
  readonly permissions?: PermissionMode | undefined;
  readonly bin?: string | undefined;
  readonly binArg?: readonly string[] | undefined;
  readonly metered?: true | undefined;
  readonly lower?: readonly string[] | undefined;
  readonly root?: Root | undefined;
  /** Where nothing of the task can ask a model. No flag: it is found out. */
  readonly modelless?: true | undefined;
}
