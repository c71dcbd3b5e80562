/** A realm of its own for functions that write text: no clock, chance, locale, input or output, and nothing that keeps state. */
import { createContext, runInContext } from 'node:vm';
import type { FactValue } from './facts.ts';

/** What a call came to; a thrown error is its message. */
export type Rendered = { readonly text: unknown } | { readonly fault: string };

/** Calls the function once with these facts. A fact without a value is unknown; reading any other name is a fault. */
export type RenderCall = (names: readonly string[], values: Readonly<Record<string, FactValue>>) => Rendered;

// All that is left of the language. Promise, Proxy, Date, Intl and the like are not among it; JSON and Math are, without chance.
const kept =
  `Object Function Array String Number Boolean BigInt Symbol RegExp Map Set Math JSON Error EvalError RangeError
  ReferenceError SyntaxError TypeError URIError NaN Infinity undefined isNaN isFinite parseInt parseFloat encodeURI
  encodeURIComponent decodeURI decodeURIComponent`.split(/\s+/);

// Frozen is also what syntax alone reaches: generators, iterators, async functions. Stacks would hold paths of this machine,
// RegExp.$1 and its kin remember the last match, and locales differ from machine to machine.
const harden = `'use strict';
((kept, global, { ownKeys, getOwnPropertyDescriptor, getPrototypeOf }) => {
  Error.stackTraceLimit = 0;
  delete Error.captureStackTrace;
  delete Math.random;
  for (const name of ownKeys(RegExp)) {
    if (typeof name === 'string' && !['length', 'name', 'prototype'].includes(name)) delete RegExp[name];
  }
  for (const { prototype } of [Object, Array, String, Number, BigInt, Object.getPrototypeOf(Int8Array)]) {
    for (const name of ['toLocaleString', 'toLocaleUpperCase', 'toLocaleLowerCase', 'localeCompare']) delete prototype[name];
  }
  const seen = new Set();
  const freeze = (value) => {
    if (value === null || !['object', 'function'].includes(typeof value) || seen.has(value)) return;
    seen.add(value);
    Object.freeze(value);
    freeze(getPrototypeOf(value));
    for (const key of ownKeys(value)) {
      const { value: held, get, set } = getOwnPropertyDescriptor(value, key);
      for (const one of [held, get, set]) freeze(one);
    }
  };
  for (const name of kept) freeze(global[name]);
  for (const value of [
    function* () {}, async function () {}, async function* () {}, (function* () {})(), (async function* () {})(),
    (async () => {})(), [].values(), ''[Symbol.iterator](), new Map().keys(), new Set().keys(), ''.matchAll(/x/g),
  ]) freeze(value);
  for (const name of ownKeys(global)) if (!kept.includes(name)) delete global[name];
  for (const name of kept) {
    Object.defineProperty(global, name, { value: global[name], writable: false, configurable: false });
  }
})`;

// Inside a strict function, so that \`this\` is nothing. Facts come in as JSON: an object of ours would lead out of the realm.
const callable = (source: string) => `'use strict';
(function () {
  const render = (${source});
  Object.freeze(render);
  return (json) => {
    const { names, values } = JSON.parse(json);
    const read = (name) => {
      if (!names.includes(name)) throw new Error("it reads the fact '" + String(name) + "', which its facts do not list");
      return values[name];
    };
    try {
      return { text: render(Object.freeze(read)) };
    } catch (thrown) {
      try {
        return { fault: String(thrown instanceof Error ? thrown.message : thrown) };
      } catch {
        return { fault: 'it threw what cannot be read' };
      }
    }
  };
})()`;

let realm: object | undefined;

/**
 * Takes a function into the realm by its source, so that it can use nothing but its parameter and the language. Throws a
 * SyntaxError for one whose source cannot stand alone, such as a bound or built-in function.
 */
export function inRealm(render: (...parameters: never[]) => unknown): RenderCall {
  realm ??= newRealm();
  const source = Function.prototype.toString.call(render);
  if (/\bimport\s*\(/.test(source)) throw new SyntaxError('it imports a module');
  const call = compiled(realm, source);
  return (names, values) => {
    const rendered = call(JSON.stringify({ names, values }));
    if ('text' in rendered) quieten(rendered.text);
    return rendered;
  };
}

function newRealm(): object {
  const made = createContext(Object.create(null), { codeGeneration: { strings: false, wasm: false } });
  const run = runInContext(harden, made);
  run(runInContext(`(${JSON.stringify(kept)})`, made), ...runInContext('[globalThis, Reflect]', made));
  return made;
}

function compiled(context: object, source: string): (json: string) => Rendered {
  try {
    return runInContext(callable(source), context);
  } catch (fault) {
    // The source of a method is no expression: it needs an object around it.
    if (!isSyntaxError(fault)) throw fault;
    return runInContext(callable(`Object.values({ ${source} })[0]`), context);
  }
}

// Of another realm, so that instanceof does not know it.
function isSyntaxError(fault: unknown): boolean {
  return typeof fault === 'object' && fault !== null && 'name' in fault && fault.name === 'SyntaxError';
}

// A promise is refused like everything that is no text; its rejection, which nobody awaits, must not end the process.
function quieten(value: unknown): void {
  if (typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function')
    value.then(
      () => {},
      () => {},
    );
}
