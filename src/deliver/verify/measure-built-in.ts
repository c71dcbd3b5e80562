/** The harness without us: what it says above the conversation when it is given nothing. */
import type { Intent } from '../../protocol/intent.ts';
import { isAbove } from '../recorder/model-request.ts';
import type { BuiltIn } from './measure-intent.ts';
import { residueOf } from './observe.ts';
import type { Stage } from './stage.ts';

/**
 * Measured by adding nothing, in each way in which the harness can be added to: some put a heading around even an empty
 * text, so the smallest counts. Null where it can only be replaced, or does not start.
 */
export async function measureBuiltIn(stage: Stage, additive: readonly Intent[]): Promise<BuiltIn | null> {
  const found: BuiltIn[] = [];
  for (const intent of additive) {
    const [request] = (await stage.turn({ intent, text: '' })).main;
    if (request !== undefined)
      found.push({ parts: request.parts.filter(isAbove), bytes: residueOf(request, '').bytes });
  }
  return found.reduce<BuiltIn | null>(
    (least, one) => (least === null || one.bytes < least.bytes ? one : least),
    null,
  );
}
