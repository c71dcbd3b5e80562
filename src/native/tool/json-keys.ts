/** `repeatedKey`: what a JSON parser passes over in silence: a key given twice, `__proto__`, and depth without end. */
import { short } from './short.ts';

// Strings whole, so that a brace inside one is no brace; the colon after one makes it a key. The loop is unrolled because
// the shorter (?:[^"\\]|\\.)* overflows the stack on a string of some megabytes.
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|[{}[\]]/g;

/**
 * What is wrong with the keys of a text that is valid JSON, as the end of "found …"; null if nothing is. A key given
 * twice has no meaning that two readers share; `__proto__` would set the prototype of what is read.
 */
export function repeatedKey(text: string, depthMax: number): string | null {
  const open: Array<Set<string>> = [];
  for (const { 0: token, 1: colon } of text.matchAll(tokens)) {
    if (token === '{' || token === '[') {
      if (open.push(new Set()) > depthMax) return `values nested deeper than ${depthMax} levels`;
    } else if (token === '}' || token === ']') open.pop();
    else if (colon !== undefined) {
      const key: string = JSON.parse(token.slice(0, -colon.length));
      if (key === '__proto__') return 'the key "__proto__", which no tool takes';
      const keys = open.at(-1);
      if (keys?.has(key)) return `the key ${short(key)} twice in one object`;
      keys?.add(key);
    }
  }
  return null;
}
