/** What a run needs of the harness that was opened for it. */
import type { Harness } from '../../harness.ts';
import type { Secret } from '../../ledger/secrets.ts';
import type { Lowered } from '../../run/guarantees.ts';

export interface HarnessParts {
  readonly harness: Harness;
  /** What must be taken out of everything that is stored. */
  readonly secrets: readonly Secret[];
  /** What a person should know before the run begins. */
  readonly notices: readonly string[];
  close(): Promise<void>;
  /** What the caller does without. */
  readonly lowered?: Lowered;
}
