/** An agent with fragments that a program defined: a new agent value, in which they stand like those of its folder. */
import { type Agent, declarationOf, type Fragment, factsReadBy, factTypesOf } from './agent.ts';
import { type CompileCondition, conditionCompiler } from './conditions.ts';
import type { DefinedFragment } from './define-fragment.ts';
import { ComposeError, TextFault } from './errors.ts';
import { unknownName } from './nearest.ts';
import { trimBlank } from './outside-text.ts';

/**
 * The agent with these fragments at the end of every profile, in their order; the one given stays as it is. Throws
 * `compose.repeated-name` for an id that is taken, `compose.unknown-name` for a fact that there is not, and
 * `compose.condition`.
 */
export function withFragments(agent: Agent, extra: readonly DefinedFragment[]): Agent {
  if (extra.length === 0) return agent;
  const compile = conditionCompiler(factTypesOf(agent));
  const fragments = new Map(agent.fragments);
  const facts = new Map(agent.facts);
  for (const defined of extra) {
    if (fragments.has(defined.id))
      throw new ComposeError('compose.repeated-name', `Two fragments are called '${defined.id}'.`, {
        next: 'Give one of the two another id.',
        details: { fragment: defined.id },
      });
    const fragment = fragmentOf(defined, agent, compile);
    // Facts such as `env.CI` are declared by being read.
    for (const name of factsReadBy(fragment)) {
      const declaration = declarationOf(agent, name);
      if (declaration !== undefined) facts.set(name, declaration);
    }
    fragments.set(defined.id, fragment);
  }
  const ids = extra.map(({ id }) => id);
  const profiles = new Map([...agent.profiles].map(([name, own]) => [name, [...own, ...ids]]));
  return { ...agent, fragments, facts, profiles };
}

function fragmentOf(defined: DefinedFragment, agent: Agent, compile: CompileCondition): Fragment {
  const { id, layer, title, when, unknown, evidence, facts, render } = defined;
  for (const name of facts)
    if (declarationOf(agent, name) === undefined) throw unknownName('fact', name, agent.facts.keys());
  const body = typeof render === 'string' ? render : '';
  return {
    id,
    file: `(defined) ${id}`,
    layer,
    title,
    when: when === null ? null : condition(id, when, compile),
    unknown,
    evidence,
    body,
    trimmed: trimBlank(body),
    template: null,
    ...(typeof render === 'string' ? {} : { render: { facts, write: render } }),
  };
}

function condition(id: string, source: string, compile: CompileCondition) {
  try {
    return compile(source);
  } catch (thrown) {
    if (!(thrown instanceof TextFault)) throw thrown;
    throw new ComposeError('compose.condition', `The condition of the fragment '${id}': ${thrown.message}.`, {
      next: thrown.next,
      details: { fragment: id, offset: thrown.offset },
    });
  }
}
