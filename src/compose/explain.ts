/** A composition shown: as plain text for people, and as the object that `--json` prints. */
import type { Composition, Decision, FactRecord, Layer } from '../protocol/composition.ts';
import { oneLine } from './outside-text.ts';

const columns = 100;

/** Layers with their sizes, each decision with its condition and facts, and the stable prefix; 100 columns wide. */
export function explain(composition: Composition): string {
  const { agent, profile, digest, bytes, characters, tokens, tokenMethod: method } = composition;
  const lines = [
    ...wrapped(`agent ${agent}, profile ${profile}`, 0),
    `sha256 ${digest}`,
    `${bytes} bytes, ${characters} characters, about ${tokens} tokens (${method})`,
    `stable prefix: ${stableText(composition)}`,
    '',
    'LAYERS',
    ...(composition.layers.length === 0
      ? ['  none: the text is empty']
      : composition.layers.flatMap(layerLines)),
    '',
    'FRAGMENTS',
    ...(composition.decisions.length === 0
      ? ['  none in this profile']
      : composition.decisions.flatMap(decisionLines)),
  ];
  return `${lines.join('\n')}\n`;
}

// The prefix ends in a layer: naming it says what has to move for a longer one.
function stableText({ stablePrefixBytes, bytes, layers }: Composition): string {
  if (stablePrefixBytes === bytes) return `all ${bytes} bytes`;
  let start = 0;
  for (const layer of layers) {
    const end = start + Buffer.byteLength(layer.joinBefore) + layer.bytes;
    if (stablePrefixBytes < end)
      return `${stablePrefixBytes} of ${bytes} bytes, up to a point in the layer ${layer.id}`;
    start = end;
  }
  return `${stablePrefixBytes} of ${bytes} bytes`;
}

function layerLines(layer: Layer): string[] {
  const head = `  ${layer.id.padEnd(12)}${String(layer.bytes).padStart(8)} bytes${String(layer.tokens).padStart(8)} tokens`;
  const fragments = layer.fragments.length === 0 ? 'given for the session' : layer.fragments.join(', ');
  return [head, ...wrapped(fragments, 6)];
}

function decisionLines(decision: Decision): string[] {
  const { fragment, included, value, when } = decision;
  const head = wrapped(`${included ? 'in ' : 'out'}  ${fragment}`, 2);
  if (when === null)
    return included ? head : [...head, '       replaced by the identity given for the session'];
  const kept = value === 'unknown' ? (included ? ', kept' : ', dropped') : '';
  const replaced = value === 'true' && !included ? ', replaced by the identity given for the session' : '';
  return [
    ...head,
    ...wrapped(`when ${oneLine(when)} → ${value}${kept}${replaced}`, 7),
    ...decision.facts.flatMap((fact) => wrapped(factText(fact), 9)),
  ];
}

function factText(fact: FactRecord): string {
  if (!fact.known) return `${fact.name} is unknown: ${oneLine(fact.reason)} (${fact.source})`;
  return `${fact.name} = ${oneLine(JSON.stringify(fact.value))} (${fact.source})`;
}

/** Lines of at most 100 columns, broken at spaces where there are any; continued ones stand two columns further in. */
function wrapped(text: string, indent: number): string[] {
  const lines: string[] = [];
  let rest = text;
  for (let margin = indent; ; margin = indent + 2) {
    const width = columns - margin;
    const pad = ' '.repeat(margin);
    if (rest.length <= width) return [...lines, pad + rest];
    const space = rest.lastIndexOf(' ', width);
    const cut = space > 0 ? space : width;
    lines.push(pad + rest.slice(0, cut));
    rest = rest.slice(space > 0 ? cut + 1 : cut);
  }
}

/** What `compose --json` prints: the composition in a fixed order of keys, the text once and not again by layer. */
export interface CompositionJson
  extends Pick<
    Composition,
    'agent' | 'digest' | 'bytes' | 'characters' | 'tokens' | 'tokenMethod' | 'text' | 'stablePrefixBytes'
  > {
  readonly layers: readonly Pick<Layer, 'id' | 'title' | 'bytes' | 'tokens' | 'digest' | 'fragments'>[];
  readonly decisions: readonly Decision[];
}

export function compositionJson(composition: Composition): CompositionJson {
  return {
    agent: composition.agent,
    digest: composition.digest,
    bytes: composition.bytes,
    characters: composition.characters,
    tokens: composition.tokens,
    tokenMethod: composition.tokenMethod,
    text: composition.text,
    stablePrefixBytes: composition.stablePrefixBytes,
    layers: composition.layers.map(({ id, title, bytes, tokens, digest, fragments }) => ({
      id,
      title,
      bytes,
      tokens,
      digest,
      fragments,
    })),
    decisions: composition.decisions.map(({ fragment, included, value, when, facts }) => ({
      fragment,
      included,
      value,
      when,
      facts: facts.map(factJson),
    })),
  };
}

function factJson(fact: FactRecord): FactRecord {
  return fact.known
    ? { name: fact.name, known: true, value: fact.value, source: fact.source }
    : { name: fact.name, known: false, reason: fact.reason, source: fact.source };
}
