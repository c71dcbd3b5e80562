/** What is left of a condition once some of its facts are settled: two situations with the same rest need no telling apart. */
import type { ASTNode } from '@marcbachmann/cel-js';
import { type Condition, conditionPart, type FactTypes, type ReadFact } from '../conditions.ts';
import { syntaxOf } from './fact-values.ts';

/** `T`, `F`, `U` (unknown), or the rest as a text that is equal only where all completions agree. */
export type Rest = string;

/** The rest of a condition; `settled` says which facts have their value by now, unknown being one. */
export type RestOf = (read: ReadFact, settled: (name: string) => boolean) => Rest;

const joins = ['&&', '||', '!_', '?:'];
const booleans = [...joins, '==', '!=', '<', '<=', '>', '>=', 'in', 'rcall'];

/** Takes a condition apart at its connectives; each part in between is compiled and answers for itself. */
export function restOf(condition: Condition, types: FactTypes): RestOf {
  let leaves = 0;
  const build = (node: ASTNode): RestOf => {
    switch (node.op) {
      case '!_':
        return negated(build(node.args));
      case '&&':
        return joined(build(node.args[0]), build(node.args[1]), 'F');
      case '||':
        return joined(build(node.args[0]), build(node.args[1]), 'T');
      case '?:':
        return chosen(build(node.args[0]), build(node.args[1]), build(node.args[2]));
      case '==':
      case '!=':
        if (node.args.some((side) => booleans.includes(side.op)))
          return equal(build(node.args[0]), build(node.args[1]), node.op === '==');
    }
    leaves += 1;
    return leaf(conditionPart(node, types), leaves);
  };
  return build(syntaxOf(condition.source));
}

const isKnown = (rest: Rest) => rest === 'T' || rest === 'F';
const isSettled = (rest: Rest) => isKnown(rest) || rest === 'U';

function leaf(condition: Pick<Condition, 'facts' | 'evaluate'>, index: number): RestOf {
  return (read, settled) => {
    const value = condition.evaluate(read);
    if (value !== undefined) return value ? 'T' : 'F';
    if (condition.facts.every(settled)) return 'U';
    const values = condition.facts.map((name) => (settled(name) ? (JSON.stringify(read(name)) ?? '?') : '_'));
    return `${index}[${values.join()}]`;
  };
}

function negated(inner: RestOf): RestOf {
  return (read, settled) => {
    const rest = inner(read, settled);
    if (isKnown(rest)) return rest === 'T' ? 'F' : 'T';
    return rest === 'U' ? 'U' : `!${rest}`;
  };
}

function joined(left: RestOf, right: RestOf, decisive: 'T' | 'F'): RestOf {
  const neutral = decisive === 'T' ? 'F' : 'T';
  return (read, settled) => {
    const a = left(read, settled);
    if (a === decisive) return decisive;
    const b = right(read, settled);
    if (b === decisive) return decisive;
    if (a === neutral) return b;
    if (b === neutral || a === b) return a;
    return `(${a}${decisive}${b})`;
  };
}

function chosen(condition: RestOf, then: RestOf, otherwise: RestOf): RestOf {
  return (read, settled) => {
    const which = condition(read, settled);
    if (isKnown(which)) return which === 'T' ? then(read, settled) : otherwise(read, settled);
    const a = then(read, settled);
    const b = otherwise(read, settled);
    if (a === b) return a;
    if (which === 'U' && isSettled(a) && isSettled(b)) return 'U';
    return `(${which}?${a}:${b})`;
  };
}

function equal(left: RestOf, right: RestOf, wanted: boolean): RestOf {
  return (read, settled) => {
    const a = left(read, settled);
    const b = right(read, settled);
    if (a === 'U' || b === 'U') return 'U';
    if (isKnown(a) && isKnown(b)) return (a === b) === wanted ? 'T' : 'F';
    return `(${a}${wanted ? '=' : '#'}${b})`;
  };
}
