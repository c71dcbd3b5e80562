/** `isPlainSchema`: whether a JSON Schema is so simple that it compiles for sure, found out without loading a compiler. */
import { isRecord } from '../../protocol/json.ts';

const types = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object', 'null']);
const counts = new Set(['minLength', 'maxLength', 'minItems', 'maxItems']);
const bounds = new Set(['minimum', 'maximum']);
const words = new Set(['title', 'description']);

/** True only if every keyword is one of a few and has a value of the right kind; false for anything that must be tried. */
export function isPlainSchema(schema: unknown): boolean {
  return isRecord(schema) && Object.entries(schema).every(([keyword, value]) => isPlain(keyword, value));
}

function isPlain(keyword: string, value: unknown): boolean {
  if (words.has(keyword)) return typeof value === 'string';
  if (counts.has(keyword)) return Number.isInteger(value) && Number(value) >= 0;
  if (bounds.has(keyword)) return typeof value === 'number';
  switch (keyword) {
    case 'type':
      return Array.isArray(value) ? isListOf(value, isType) : isType(value);
    case 'enum':
    case 'required':
      return isListOf(value, (item) => typeof item === 'string');
    case 'properties':
      return isRecord(value) && Object.values(value).every(isPlainSchema);
    case 'items':
      return isPlainSchema(value);
    case 'additionalProperties':
      return typeof value === 'boolean';
    default:
      return false;
  }
}

function isType(value: unknown): boolean {
  return typeof value === 'string' && types.has(value);
}

// The compiler wants such lists without an item given twice; an empty one is right in some places only.
function isListOf(value: unknown, isItem: (item: unknown) => boolean): boolean {
  return (
    Array.isArray(value) && value.length > 0 && value.every(isItem) && new Set(value).size === value.length
  );
}
