/** What an agent program is made a harness with. */
import type { Cell } from '../../protocol/delivery.ts';
import type { Fidelity, Intent } from '../../protocol/intent.ts';
import type { Adapter } from '../adapter.ts';
import type { MeterOptions } from '../meter/meter.ts';
import type { RequestedDimensions } from '../request.ts';

export interface OutsideOptions {
  readonly adapter: Adapter;
  /** Every harness there is, so that a refusal can name those that can. */
  readonly adapters: readonly Adapter[];
  /** The path of the program. */
  readonly program: string;
  /** What the program says it is; null where nobody looked. */
  readonly version: string | null;
  readonly intent: Intent;
  readonly fidelity: Fidelity;
  /** All that is asked for beside text and task. */
  readonly dimensions?: RequestedDimensions;
  /** Where the program sends its model requests instead of to its vendor. */
  readonly baseUrl?: string | null;
  /** Its requests go through a recorder of ours, which keeps the budget and proves the text in each; then `baseUrl` counts for nothing. */
  readonly meter?: MeterOptions;
  /** Absolute. */
  readonly workspace: string;
  /** The folder of all sessions' homes: `homesFolder(env)`. */
  readonly homes: string;
  /** The caller's environment, of which a start gets a short list. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What the program gets as its user's home in the place of the caller's, whose login is copied all the same. */
  readonly userHome?: string;
  /** The user's own measurements, which win over those that ship. */
  readonly measured?: readonly Cell[];
  /** Whether the harness may be used in a state that nobody measured. */
  readonly unmeasured?: 'refuse' | 'warn';
  /** Sentences that every receipt bears beside those of its plan. */
  readonly notices?: readonly string[];
}
