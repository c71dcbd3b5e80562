/** Puts tool calls together from the pieces in which OpenAI-shaped servers stream them. */
import { type ExactJson, exactJsonText, isRecord } from '../protocol/json.ts';
import type { ToolCall } from '../protocol/messages.ts';
import { badCall, type CallFault, callsMax, tooManyCalls } from './call-fault.ts';

interface Slot {
  id: string;
  name: string;
  arguments: string;
  readonly end: ObjectEnd;
}

/** The calls as they came: order and ids are the provider's, an id given twice included. */
export class CallParts {
  readonly #slots: Slot[] = [];
  /** The newest slot of each index and of each id. */
  readonly #byIndex = new Map<number, Slot>();
  readonly #byId = new Map<string, Slot>();
  #tooMany = false;

  /** True once more calls came than one answer may have; nothing is added any more. */
  get tooMany(): boolean {
    return this.#tooMany;
  }

  /** One element of `tool_calls`. A field that is null or empty adds nothing. */
  add(part: unknown): void {
    if (!isRecord(part) || this.#tooMany) return;
    const piece = isRecord(part.function) ? part.function : {};
    const id = textOf(part.id);
    const name = textOf(piece.name);
    const args = argumentsOf(piece.arguments);
    const index = typeof part.index === 'number' ? part.index : null;
    const slot = this.#slotOf(index, id, name) ?? this.#open(index);
    if (slot === undefined) return;
    if (slot.id === '' && id !== '') {
      slot.id = id;
      this.#byId.set(id, slot);
    }
    if (slot.name === '') slot.name = name;
    slot.arguments += args;
    slot.end.read(args);
  }

  /** Every call, or what is wrong with the first that cannot be one. */
  finish(): { readonly calls: readonly ToolCall[] } | CallFault {
    if (this.#tooMany) return tooManyCalls;
    for (const [at, slot] of this.#slots.entries()) {
      const where = `Tool call ${at + 1} of ${this.#slots.length}`;
      if (slot.name === '') return badCall(`${where} has no function name (id ${quote(slot.id)}).`);
      if (slot.id === '') return badCall(`${where} (function ${quote(slot.name)}) has no id.`);
    }
    return { calls: this.#slots.map(({ id, name, arguments: text }) => ({ id, name, arguments: text })) };
  }

  #open(index: number | null): Slot | undefined {
    this.#tooMany = this.#slots.length === callsMax;
    if (this.#tooMany) return undefined;
    const slot: Slot = { id: '', name: '', arguments: '', end: new ObjectEnd() };
    this.#slots.push(slot);
    if (index !== null) this.#byIndex.set(index, slot);
    return slot;
  }

  // What really comes: OpenAI sends id and name once and then pieces by index. Others repeat id and name in every piece;
  // send a new id in every piece, but the name once; send every whole call as index 0; or leave the index out.
  #slotOf(index: number | null, id: string, name: string): Slot | undefined {
    if (index !== null) {
      const slot = this.#byIndex.get(index);
      return slot !== undefined && name !== '' && id !== '' && id !== slot.id && slot.id !== ''
        ? undefined
        : slot;
    }
    if (id === '') return name === '' ? this.#slots.at(-1) : undefined;
    const slot = this.#byId.get(id);
    return slot !== undefined && name !== '' && slot.end.reached ? undefined : slot;
  }
}

/** Notices, piece by piece, that a JSON object has come to its end; parsing all of it at each piece would take ever longer. */
class ObjectEnd {
  #depth = 0;
  #quoted = false;
  #escaped = false;
  #begun = false;

  get reached(): boolean {
    return this.#begun && this.#depth <= 0;
  }

  read(piece: string): void {
    for (const character of piece) {
      if (this.#escaped) this.#escaped = false;
      else if (this.#quoted && character === '\\') this.#escaped = true;
      else if (character === '"') this.#quoted = !this.#quoted;
      else if (this.#quoted) continue;
      else if (character === '{' || character === '[') {
        this.#depth += 1;
        this.#begun = true;
      } else if (character === '}' || character === ']') this.#depth -= 1;
    }
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

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 80));
}
