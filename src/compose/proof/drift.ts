/** How a text has drifted from its pin: what changed, as far as digests can tell, and in sentences where a text is there. */
import { sha256 } from '../../digest.ts';
import type { Pin, PinnedText } from './lock.ts';

export interface Drift {
  /** `text`: other bytes. `record`: the same bytes, made of other files or facts. */
  readonly kind: 'text' | 'record';
  /** Fragments by id: with other text, new, gone, or in another place. */
  readonly changed: readonly string[];
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly reordered: boolean;
  /** Facts that have another value than the pin says. */
  readonly facts: readonly string[];
  /** True where the pinned text comes back if only the line ends are turned around. */
  readonly lineEndings: boolean;
}

/** Null where the text and what it is made of are as pinned. */
export function driftOf(pin: Pin, now: PinnedText): Drift | null {
  if (JSON.stringify(pin) === JSON.stringify(now.pin)) return null;
  const same = pin.sha256 === now.pin.sha256;
  const before = new Map(pin.fragments.map((one) => [one.id, one]));
  const after = new Map(now.pin.fragments.map((one) => [one.id, one]));
  const digestOf = (one: Pin['fragments'][number] | undefined) => (same ? one?.fileSha256 : one?.sha256);
  const shared = now.pin.fragments.filter((one) => before.has(one.id)).map((one) => one.id);
  const facts = new Set([...Object.keys(pin.facts), ...Object.keys(now.pin.facts)]);
  return {
    kind: same ? 'record' : 'text',
    changed: shared.filter((id) => digestOf(before.get(id)) !== digestOf(after.get(id))),
    added: [...after.keys()].filter((id) => !before.has(id)),
    removed: [...before.keys()].filter((id) => !after.has(id)),
    reordered: [...before.keys()].filter((id) => after.has(id)).join('\n') !== shared.join('\n'),
    facts: [...facts]
      .filter((name) => JSON.stringify(pin.facts[name]) !== JSON.stringify(now.pin.facts[name]))
      .sort(),
    lineEndings: !same && turned(now.composition.text).some((text) => sha256(text) === pin.sha256),
  };
}

/** The text with each of the two line ends throughout. */
function turned(text: string): string[] {
  const plain = text.replaceAll('\r\n', '\n');
  return [plain, plain.replaceAll('\n', '\r\n')];
}

/** One line: `changed: base; gone: finish; the order differs`. */
export function driftLine({ changed, added, removed, reordered, facts }: Drift): string {
  const parts = [
    changed.length > 0 ? `changed: ${changed.join(', ')}` : '',
    added.length > 0 ? `new: ${added.join(', ')}` : '',
    removed.length > 0 ? `gone: ${removed.join(', ')}` : '',
    reordered ? 'the order of the fragments differs' : '',
    facts.length > 0 ? `facts that differ: ${facts.join(', ')}` : '',
  ].filter((part) => part !== '');
  return parts.length > 0 ? parts.join('; ') : 'what joins the fragments differs';
}
