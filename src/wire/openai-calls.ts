/** Puts tool calls together from the pieces in which OpenAI-shaped servers stream them. */
import { type ExactJson, exactJsonText, isRecord } from '../protocol/json.ts';
import type { ToolCall } from '../protocol/messages.ts';

interface Slot {
  id: string;
  name: string;
  arguments: string;
  readonly index: number | null;
}

/** The calls as they came: order and ids are the provider's, an id given twice included. */
export class CallParts {
  readonly #slots: Slot[] = [];

  /** One element of `tool_calls`. A field that is null or empty adds nothing. */
  add(part: unknown): void {
    if (!isRecord(part)) return;
    const piece = isRecord(part.function) ? part.function : {};
    const id = textOf(part.id);
    const name = textOf(piece.name);
    const args = argumentsOf(piece.arguments);
    const index = typeof part.index === 'number' ? part.index : null;
    const slot = this.#slotOf(index, id, name);
    if (slot === undefined) this.#slots.push({ id, name, arguments: args, index });
    else {
      if (slot.id === '') slot.id = id;
      if (slot.name === '') slot.name = name;
      slot.arguments += args;
    }
  }

  /** Every call, or what is wrong with the first that cannot be one. */
  finish(): { readonly calls: readonly ToolCall[] } | { readonly problem: string } {
    for (const [at, slot] of this.#slots.entries()) {
      const where = `Tool call ${at + 1} of ${this.#slots.length}`;
      if (slot.name === '') return { problem: `${where} has no function name (id ${quote(slot.id)}).` };
      if (slot.id === '') return { problem: `${where} (function ${quote(slot.name)}) has no id.` };
    }
    return { calls: this.#slots.map(({ id, name, arguments: text }) => ({ id, name, arguments: text })) };
  }

  // What really comes: OpenAI sends id and name once and then pieces by index. Others repeat id and name in every piece;
  // send a new id in every piece, but the name once; send every whole call as index 0; or leave the index out.
  #slotOf(index: number | null, id: string, name: string): Slot | undefined {
    if (index !== null) {
      const slot = this.#slots.findLast((one) => one.index === index);
      return slot !== undefined && name !== '' && id !== '' && id !== slot.id && slot.id !== ''
        ? undefined
        : slot;
    }
    if (id === '') return name === '' ? this.#slots.at(-1) : undefined;
    const slot = this.#slots.findLast((one) => one.id === id);
    return slot !== undefined && name !== '' && isWhole(slot.arguments) ? undefined : slot;
  }
}

// Some servers send the arguments as an object although the protocol asks for its text.
function argumentsOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return isRecord(value) ? exactJsonText(value as ExactJson) : '';
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function isWhole(json: string): boolean {
  try {
    JSON.parse(json);
    return true;
  } catch {
    return false;
  }
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 80));
}
