/** Keeps a model's reasoning as its provider sent it, so that it can be sent back unaltered. */
import type { Json } from '../protocol/json.ts';
import { isRecord } from '../protocol/json.ts';
import type { Reasoning } from '../protocol/messages.ts';

/** The fields in which OpenAI-shaped servers send plain reasoning, in the order in which one is chosen. */
const plainFields = ['reasoning_content', 'reasoning'] as const;

/** The fields that a recorded message may carry back to its provider. */
export const reasoningFields: readonly string[] = ['reasoning_details', ...plainFields];

export class ReasoningParts {
  #text = '';
  #field: (typeof plainFields)[number] | null = null;
  readonly #details: Record<string, Json>[] = [];

  /** The fields of one delta, or of a whole message; returns the text in them, once where it stands there twice. */
  add(source: Record<string, unknown>, whole: boolean): string {
    const details = Array.isArray(source.reasoning_details) ? source.reasoning_details : [];
    let detailText = '';
    for (const piece of details) {
      if (!isRecord(piece)) continue;
      detailText += textOf(piece.text) || textOf(piece.summary);
      this.#addDetail(piece as Record<string, Json>, whole);
    }
    const field = plainFields.find((one) => textOf(source[one]) !== '');
    if (field !== undefined) this.#field ??= field;
    const text = field === undefined ? detailText : textOf(source[field]);
    this.#text += text;
    return text;
  }

  /** Undefined where the model sent none. Structured details are sent back instead of the plain text, never both. */
  finish(): Reasoning | undefined {
    if (this.#details.length > 0) return { text: this.#text, opaque: { reasoning_details: this.#details } };
    return this.#field === null ? undefined : { text: this.#text, opaque: { [this.#field]: this.#text } };
  }

  #addDetail(piece: Record<string, Json>, whole: boolean): void {
    const last = this.#details.at(-1);
    if (whole || last === undefined || !continues(last, piece)) {
      this.#details.push({ ...piece });
      return;
    }
    for (const [key, value] of Object.entries(piece)) {
      if (growing.has(key) && typeof value === 'string') last[key] = textOf(last[key]) + value;
      else if (value !== null) last[key] = value;
    }
  }
}

const growing = new Set(['text', 'summary']);

// A stream cuts one block into pieces of one type and index; encrypted blocks come whole.
function continues(last: Record<string, Json>, piece: Record<string, Json>): boolean {
  const otherId = last.id != null && piece.id != null && last.id !== piece.id;
  const encrypted = piece.type === 'reasoning.encrypted';
  return last.type === piece.type && last.index === piece.index && !otherId && !encrypted;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
