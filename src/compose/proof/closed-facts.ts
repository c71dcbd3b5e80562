/** Conditions that compare a fact of few values with something that it never is: they are decided before anything is known. */
import type { Agent, Fragment } from '../agent.ts';
import { textTests } from '../conditions.ts';
import type { Piece } from '../template.ts';
import { cutsOf, modes } from './fact-values.ts';
import { type Finding, finding } from './finding.ts';

/**
 * Fragments whose conditions, or those of their templates, compare the mode with what is no mode. `lineOf` is the line of
 * a fragment's file on which the text in quotes stands.
 */
export function closedFactFindings(
  agent: Agent,
  lineOf: (fragment: Fragment, text: string) => number,
): Finding[] {
  return [...agent.fragments.values()].flatMap((fragment) =>
    strangers(sourcesOf(fragment)).map((text) =>
      finding(
        'never-so',
        `a condition of '${fragment.id}' compares mode with ${JSON.stringify(text)}, and mode is ${modes.join(' or ')}`,
        { file: fragment.file, line: lineOf(fragment, text) },
      ),
    ),
  );
}

function strangers(sources: readonly string[]): readonly string[] {
  const found = sources.flatMap((source) => {
    const { constants, tests, sampled } = cutsOf([source]);
    // Beside another fact it stands for what that fact may be.
    if (sampled.has('mode')) return [];
    const tried = [...(tests.get('mode') ?? [])].map((test) => {
      const [kind = '', ...part] = test.split(' ');
      return { text: part.join(' '), holds: textTests[kind] };
    });
    const whole = [...(constants.get('mode') ?? [])].map(String);
    return whole.filter((text) => {
      const as = tried.filter((one) => one.text === text);
      if (as.length === 0) return !modes.some((mode) => mode === text);
      return as.some(({ holds }) => !modes.some((mode) => holds?.(mode, text)));
    });
  });
  return [...new Set(found)];
}

function sourcesOf({ when, template }: Fragment): readonly string[] {
  const inTemplate = (pieces: readonly Piece[]): readonly string[] =>
    pieces.flatMap((piece) =>
      piece.kind === 'when'
        ? [piece.condition.source, ...inTemplate(piece.first), ...inTemplate(piece.otherwise)]
        : [],
    );
  return [...(when === null ? [] : [when.source]), ...inTemplate(template?.pieces ?? [])];
}
