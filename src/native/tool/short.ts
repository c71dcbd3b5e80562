/** `short`: a value in a few characters, for a message that must stay small whatever it is about. */
import { wellFormed } from './result-text.ts';

const charactersMax = 60;

/** The value as JSON, cut after 60 characters; `nothing` for undefined. Never throws. */
export function short(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'bigint') return cut(String(value));
  if (typeof value === 'string') return cut(JSON.stringify(value.slice(0, charactersMax + 1)));
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'object' && value !== null) return cut(`an object with ${keysOf(value)}`);
  return cut(String(value));
}

function keysOf(value: object): string {
  const keys = Object.keys(value);
  return keys.length === 0 ? 'no fields' : keys.slice(0, 5).join(', ');
}

function cut(text: string): string {
  return wellFormed(text.length > charactersMax ? `${text.slice(0, charactersMax - 1)}…` : text);
}
