/** Measures the one state that a run is about to be in, so that the run rests on what was seen and on nothing older. */
import type { Cell } from '../../protocol/delivery.ts';
import type { Fidelity, Intent } from '../../protocol/intent.ts';
import { DeliverError } from '../errors.ts';
import { loginText } from '../unmeasured.ts';
import { type VerifyOptions, verifyHarness } from './verify.ts';

export interface VerifiedFirst {
  /** As cells bear it. */
  readonly version: string | null;
  /** Of the intent, each fidelity; whether they honour it is for the seam to say. */
  readonly cells: readonly Cell[];
  /** What was seen, for the receipt of the run. */
  readonly notice: string;
}

/**
 * Runs the program some ten times against a scripted model. Throws `deliver.unmeasurable`, before anything is started,
 * for a login that cannot be made up, and after it where no request to a model was seen.
 */
export async function verifyFirst(
  options: VerifyOptions & { readonly intent: Intent; readonly fidelity: Fidelity },
): Promise<VerifiedFirst> {
  const { adapter, authMode = 'api-key', intent, fidelity } = options;
  if (authMode === 'login' && adapter.loginForVerify === undefined)
    throw new DeliverError(
      'deliver.unmeasurable',
      `${adapter.name} would run with a login of its own, and nobody can make one up that leads it to this machine.`,
      {
        next: `Set ${adapter.keyVariables.join(' or ')}, or take --unmeasured warn in the place of --verify.`,
        details: { harness: adapter.name, authMode },
      },
    );
  const { version, intents, modelFamily } = await verifyHarness(options);
  const [report] = intents;
  const cell = report?.cells.find((one) => one.fidelity === fidelity);
  if (report === undefined || cell === undefined)
    throw new DeliverError(
      'deliver.unmeasurable',
      `${adapter.name} ${version ?? '(version not known)'} could not be measured: ${report?.fault ?? `it has no control for ${intent}`}.`,
      {
        next: `See what it says with: writ harness verify ${adapter.name}`,
        details: { harness: adapter.name, version, modelFamily, authMode },
      },
    );
  return { version, cells: report.cells, notice: noticeOf(cell) };
}

function noticeOf(cell: Cell): string {
  const { intent, fidelity, version, modelFamily, authMode, position, residue, altered } = cell;
  const where = position === null ? 'nowhere' : `in ${position.field} (${position.role})`;
  const suffers = altered.length === 0 ? 'no kind of text suffers' : `suffering: ${altered.join(', ')}`;
  return `Measured right before this run: ${intent} ${fidelity} on ${version}, model family ${modelFamily}, ${loginText[authMode]}; the text stands ${where}, ${residue.bytes} bytes of the vendor's beside it, ${suffers}.`;
}
