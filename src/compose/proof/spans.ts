/** Which bytes of a composed text each fragment owns. */
import type { Composition, LayerId } from '../../protocol/composition.ts';
import type { Agent } from '../agent.ts';
import { fragmentText } from '../compose.ts';
import { factReader, type Situation } from '../situation.ts';

/** Spans follow each other without a gap; what joins two belongs to the later one. */
export interface Span {
  readonly layer: LayerId;
  /** Null where the layer is a text given for the session. */
  readonly fragment: string | null;
  /** The fragment's own text, or the layer's where no fragment made it. */
  readonly text: string;
  /** Byte offsets into the composed text. */
  readonly start: number;
  readonly end: number;
}

/** The spans of a composition that `compose(agent, situation)` gave. */
export function spansOf(agent: Agent, situation: Situation, composition: Composition): Span[] {
  const read = factReader(situation.facts);
  const spans: Span[] = [];
  let layerEnd = 0;
  for (const layer of composition.layers) {
    const start = layerEnd;
    layerEnd += Buffer.byteLength(layer.joinBefore) + layer.bytes;
    const parts = layer.fragments.map((id) => {
      const fragment = agent.fragments.get(id);
      return { id, text: fragment === undefined ? '' : fragmentText(fragment, agent.join, read) };
    });
    const between = agent.join !== 'verbatim' ? '\n\n'.length : 0;
    let end = start + Buffer.byteLength(layer.joinBefore);
    let first = true;
    for (const { id, text } of parts) {
      const from = spans.at(-1)?.end ?? 0;
      if (text !== '') end += (first ? 0 : between) + Buffer.byteLength(text);
      first &&= text === '';
      spans.push({ layer: layer.id, fragment: id, text, start: from, end: text === '' ? from : end });
    }
    if (parts.length === 0)
      spans.push({ layer: layer.id, fragment: null, text: layer.text, start, end: layerEnd });
    stretchTo(spans, layerEnd);
  }
  return spans;
}

// The newline that ends a layer belongs to its last span.
function stretchTo(spans: Span[], end: number): void {
  const last = spans.at(-1);
  if (last !== undefined) spans[spans.length - 1] = { ...last, end };
}
