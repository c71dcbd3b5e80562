/** A composition shown: as plain text for people, and as the object that `--json` prints. */
import { type Digest, sha256 } from '../digest.ts';
import type { Composition, Decision, FactRecord, Layer } from '../protocol/composition.ts';
import type { Agent } from './agent.ts';
import { oneLine } from './outside-text.ts';

const columns = 100;

/**
 * Layers with their sizes, each decision with its condition and facts, and the stable prefix; 100 columns wide. With the
 * agent, fragments bear their titles and evidence, and those that stand in no profile are named.
 */
export function explain(composition: Composition, agentOf?: Pick<Agent, 'fragments' | 'unused'>): string {
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
      : composition.decisions.flatMap((decision) => decisionLines(decision, agentOf))),
    ...unusedLines(agentOf),
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

function decisionLines(decision: Decision, agentOf: Pick<Agent, 'fragments'> | undefined): string[] {
  const { fragment, included, value, when, replaced, facts } = decision;
  const { title = null, evidence = [] } = agentOf?.fragments.get(fragment) ?? {};
  const unknown = value !== 'unknown' || replaced ? '' : included ? ', kept' : ', dropped';
  return [
    ...wrapped(`${included ? 'in ' : 'out'}  ${fragment}${title === null ? '' : ` · ${oneLine(title)}`}`, 2),
    ...(replaced ? ['       replaced by the identity given for the session'] : []),
    ...(when === null ? [] : wrapped(`when ${oneLine(when)} → ${value}${unknown}`, 7)),
    ...facts.flatMap((fact) => wrapped(factText(fact), 9)),
    ...evidence.flatMap((place) => wrapped(`evidence: ${oneLine(place)}`, 7)),
  ];
}

function unusedLines(agentOf: Pick<Agent, 'fragments' | 'unused'> | undefined): string[] {
  if (agentOf === undefined || agentOf.unused.length === 0) return [];
  const line = (id: string) => `${id} · ${oneLine(agentOf.fragments.get(id)?.file ?? '')}`;
  return ['', 'NOT USED, in no profile', ...agentOf.unused.flatMap((id) => wrapped(line(id), 2))];
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
    const cut = space > 0 ? space : wholeCharacters(rest, width);
    lines.push(pad + rest.slice(0, cut));
    rest = rest.slice(space > 0 ? cut + 1 : cut);
  }
}

// The place at or before `at` that does not cut a character in half.
function wholeCharacters(text: string, at: number): number {
  return /[\ud800-\udbff]/.test(text.charAt(at - 1)) ? at - 1 : at;
}

/** What `compose --json` prints: the composition in a fixed order of keys, the text once and not again by layer. */
interface CompositionJson
  extends Pick<
    Composition,
    'agent' | 'digest' | 'bytes' | 'characters' | 'tokens' | 'tokenMethod' | 'text' | 'stablePrefixBytes'
  > {
  readonly layers: readonly (Pick<Layer, 'id' | 'title' | 'bytes' | 'tokens' | 'fragments'> & {
    readonly digest: Digest;
  })[];
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
    layers: composition.layers.map(({ id, title, text, bytes, tokens, fragments }) => ({
      id,
      title,
      bytes,
      tokens,
      digest: sha256(text),
      fragments,
    })),
    decisions: composition.decisions.map(({ fragment, included, value, when, facts, replaced }) => ({
      fragment,
      included,
      value,
      when,
      facts: facts.map(factJson),
      ...(replaced ? { replaced } : {}),
    })),
  };
}

function factJson(fact: FactRecord): FactRecord {
  return fact.known
    ? { name: fact.name, known: true, value: fact.value, source: fact.source }
    : { name: fact.name, known: false, reason: fact.reason, source: fact.source };
}
