/** Draws effects of unknown outcome for a person: what is known of each, and the commands that settle it. */
import type { EffectDecisionKind, UnsettledEffect } from '../../run/unsettled.ts';
import { count, moment } from './figures.ts';
import { visible, visibleLine } from './visible.ts';

const flags: Readonly<Record<EffectDecisionKind, readonly [string, string]>> = {
  observed: ['it happened', '--observed'],
  'not-dispatched': ['it did not', '--not-dispatched'],
  abandoned: ['give it up', '--abandon'],
  'retry-authorized': ['send it again', '--retry'],
};

export interface DrawUnsettledOptions {
  readonly run: string;
  readonly commandFor: (...words: readonly string[]) => string;
  /** How the run goes on; null where it has ended. Its tools are asked first where they can look. */
  readonly resume: string | null;
  readonly cells: number;
}

/** Several lines, the last one ended. */
export function drawUnsettled(
  effects: readonly UnsettledEffect[],
  { run, commandFor, resume, cells }: DrawUnsettledOptions,
): string {
  const lines = effects.flatMap((effect) => {
    const decide = effect.can.map((kind) => {
      const [words, flag] = flags[kind];
      return `  ${`${words}:`.padEnd(15)}${commandFor('runs', 'reconcile', run, effect.effect)} ${flag} --reason "…"`;
    });
    return [...knownLines(effect, cells), ...decide, ''];
  });
  const ask =
    resume === null
      ? []
      : ['Resuming asks the tools that can look, and sends none of these again:', `  ${resume}`];
  return `${[...lines, ...ask].join('\n').trimEnd()}\n`;
}

function knownLines(effect: UnsettledEffect, cells: number): readonly string[] {
  const { tool, repeat, key, attempts, sentAt, reason, approvedBy } = effect;
  const head = `${effect.effect} ${tool}${effect.arguments === null ? '' : ` ${effect.arguments}`}`;
  const approved = approvedBy === null ? '' : `, approved by ${visible(approvedBy)}`;
  return [
    visibleLine(head, cells),
    visibleLine(`  sent ${moment(sentAt)}, ${count(attempts, 'attempt')}, ${repeat}${approved}`, cells),
    `  unknown because: ${visible(reason ?? 'its process ended before a result was recorded')}`,
    visibleLine(`  until it is settled, calls of '${key}' wait`, cells),
  ];
}

/** One line for each, and where to decide: for the end of a longer text. */
export function unsettledLines(
  effects: readonly UnsettledEffect[],
  { run, commandFor, cells }: Omit<DrawUnsettledOptions, 'resume'>,
): readonly string[] {
  if (effects.length === 0) return [];
  return [
    ...effects.map(({ effect, tool }) =>
      visibleLine(`unknown: ${effect} ${tool}; it may have happened`, cells),
    ),
    `  decide: ${commandFor('runs', 'reconcile', run)}`,
  ];
}
