/** Fragments that a program defines instead of a file: checked when they are defined, and pure when they are rendered. */
import { type Fragment, fragmentLayers } from './agent.ts';
import type { ReadFact } from './conditions.ts';
import { ComposeError } from './errors.ts';
import { type FactValue, factNamePattern } from './facts.ts';
import { namingMend } from './nearest.ts';
import { oneLine, plainLine } from './outside-text.ts';
import { inRealm, type RenderCall, type Rendered } from './render-realm.ts';

export interface FragmentDefinition {
  /** Letters, digits, dot, underscore and hyphen; no fragment of the agent may have it. */
  readonly id: string;
  /** `contract` where it is left out. */
  readonly layer?: Fragment['layer'];
  readonly title?: string;
  /** A condition over the agent's facts; left out, the fragment is always in. */
  readonly when?: string;
  /** What an unknown condition does: `keep` where it is left out. */
  readonly unknown?: Fragment['unknown'];
  readonly evidence?: readonly string[];
  /** The facts that `render` may read. */
  readonly facts?: readonly string[];
  /**
   * The text, or a function that writes it from facts. `read` gives a fact's value, undefined where it is unknown; texts
   * come as one line that cannot open a heading. The function is taken by its source into a realm of its own: it sees its
   * parameter and the language, but no variable around it, no module, clock, chance, locale, input or output.
   */
  readonly render: string | ((read: ReadFact) => string);
}

/** A checked definition; `withFragments` and `compose` take it. */
export interface DefinedFragment {
  readonly id: string;
  readonly layer: Fragment['layer'];
  readonly title: string | null;
  readonly when: string | null;
  readonly unknown: Fragment['unknown'];
  readonly evidence: readonly string[];
  readonly facts: readonly string[];
  /** The text, or what writes it and throws `compose.impure-render`. */
  readonly render: string | ((read: ReadFact) => string);
}

const keys = ['id', 'layer', 'title', 'when', 'unknown', 'evidence', 'facts', 'render'];
const idPattern = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/** Defines a fragment. Throws `compose.bad-fragment` for a definition that is none; conditions are read with the agent. */
export function defineFragment(definition: FragmentDefinition): DefinedFragment {
  const { id, layer = 'contract', unknown = 'keep', render } = definition;
  const wrong = (found: string, next: string) => badFragment(String(id), found, next);
  for (const key of Object.keys(definition))
    if (!keys.includes(key)) throw wrong(`has no field '${key}'`, namingMend(key, keys));
  if (typeof id !== 'string' || !idPattern.test(id))
    throw wrong('needs an id of letters, digits, dot, underscore and hyphen', 'Give it such an id.');
  if (!fragmentLayers.includes(layer))
    throw wrong(`has no layer '${String(layer)}'`, namingMend(String(layer), fragmentLayers));
  if (unknown !== 'keep' && unknown !== 'drop')
    throw wrong(`takes keep or drop for unknown, not '${String(unknown)}'`, 'Write one of the two.');
  const facts = textsOf(
    definition.facts,
    (field) => wrong(`needs texts in '${field}'`, 'Correct it.'),
    'facts',
  );
  for (const name of facts)
    if (!factNamePattern.test(name))
      throw wrong(`lists '${name}', which cannot be a fact`, 'Write the name of a fact, such as mode.');
  for (const field of ['title', 'when'] as const)
    if (!['string', 'undefined'].includes(typeof definition[field]))
      throw wrong(`needs a text as '${field}'`, 'Correct it.');
  return Object.freeze({
    id,
    layer,
    title: definition.title ?? null,
    when: definition.when ?? null,
    unknown,
    evidence: textsOf(
      definition.evidence,
      (field) => wrong(`needs texts in '${field}'`, 'Correct it.'),
      'evidence',
    ),
    facts,
    render: typeof render === 'string' ? wellFormed(id, render) : writerOf(id, facts, render),
  });
}

function textsOf(value: unknown, wrong: (field: string) => ComposeError, field: string): readonly string[] {
  if (value === undefined) return [];
  const texts: readonly unknown[] | undefined = Array.isArray(value) ? value : undefined;
  if (texts === undefined || !texts.every((text): text is string => typeof text === 'string'))
    throw wrong(field);
  return Object.freeze([...texts]);
}

function writerOf(id: string, facts: readonly string[], render: unknown): (read: ReadFact) => string {
  if (typeof render !== 'function')
    throw badFragment(id, 'needs a text or a function as render', 'Give it one of the two.');
  let call: RenderCall;
  try {
    call = inRealm(render as (read: ReadFact) => string);
  } catch (cause) {
    const said =
      typeof cause === 'object' && cause !== null && 'message' in cause ? String(cause.message) : '';
    throw badFragment(
      id,
      `has a render function that cannot stand alone (${said})`,
      'Write it as one function that uses nothing but its parameter.',
    );
  }
  return (read) => {
    const values: Record<string, FactValue> = {};
    for (const name of facts) {
      const value = read(name);
      if (value !== undefined) values[name] = plainValue(value);
    }
    return twice(id, () => textOf(id, call(facts, values)));
  };
}

/** What `write` gives, if it gives the same twice. Throws `compose.impure-render`. */
export function twice(id: string, write: () => string): string {
  const text = write();
  if (text === write()) return wellFormed(id, text);
  throw impure(id, 'it gave another text when it was called again with the same facts');
}

function textOf(id: string, rendered: Rendered): string {
  if ('fault' in rendered) throw impure(id, rendered.fault);
  const { text } = rendered;
  if (typeof text === 'string') return text;
  throw impure(id, `it gave ${text === null ? 'null' : `a value of type ${typeof text}`} and no text`);
}

function wellFormed(id: string, text: string): string {
  if (!/\p{Surrogate}/u.test(text)) return text;
  throw impure(id, 'its text holds half a character');
}

// As a template writes them: a value of outside origin must not open a heading wherever the function puts it.
function plainValue(value: FactValue): FactValue {
  if (typeof value === 'string') return plainLine(oneLine(value));
  return typeof value === 'object' ? value.map((text) => plainLine(oneLine(text))) : value;
}

function badFragment(id: string, found: string, next: string): ComposeError {
  return new ComposeError('compose.bad-fragment', `The fragment '${oneLine(id)}' ${found}.`, {
    next,
    details: { fragment: id },
  });
}

function impure(id: string, found: string): ComposeError {
  return new ComposeError(
    'compose.impure-render',
    `The render function of the fragment '${id}' should give one text for the same facts, with nothing else to go by: ${found}.`,
    {
      next: 'Let it use only its parameter; hand it what it needs as facts, or build a constant text outside and give that.',
      details: { fragment: id },
    },
  );
}
