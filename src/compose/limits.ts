/** How large a layer and a text given for the session may be: what is over a limit is refused, never cut. */
import type { Layer, LayerId } from '../protocol/composition.ts';
import type { LayerLimits } from './agent.ts';
import { ComposeError } from './errors.ts';
import { tokenMethod } from './layers.ts';
import type { SessionTexts } from './situation.ts';

/** The most UTF-8 bytes of each given text, whatever an agent says: beyond it lies a mistaken file, no instruction. */
export const textBytesMax = {
  identity: 8_000,
  governance: 131_072,
  memory: 131_072,
  session: 65_536,
} as const satisfies Record<keyof SessionTexts, number>;

/** Throws `compose.layer-too-large` for the first layer that is over its limit. */
export function mustFitLayers(limits: LayerLimits, layers: readonly Layer[]): void {
  for (const { id, tokens } of layers) {
    const limit = limits[id];
    if (limit !== undefined && tokens > limit)
      throw tooLarge(id, tokens, limit, tokenMethod, `Shorten it, or raise limits.${id} in agent.yaml.`);
  }
}

/** Throws `compose.layer-too-large` for the first text that has more bytes than one may have. */
export function mustFitTexts(texts: SessionTexts): void {
  for (const id of ['identity', 'governance', 'memory', 'session'] as const) {
    const bytes = Buffer.byteLength(texts[id] ?? '');
    if (bytes > textBytesMax[id])
      throw tooLarge(id, bytes, textBytesMax[id], 'bytes', `Give a shorter ${id} text.`);
  }
}

function tooLarge(layer: LayerId, size: number, limit: number, method: string, next: string): ComposeError {
  const unit = method === 'bytes' ? 'bytes' : `tokens (${method})`;
  const what = method === 'bytes' ? `The ${layer} text` : `The layer ${layer}`;
  return new ComposeError(
    'compose.layer-too-large',
    `${what} should have at most ${limit} ${unit} and has ${size}.`,
    { next, details: { layer, size, limit, method } },
  );
}
