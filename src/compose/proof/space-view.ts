/** A space as people read it: how many prompts, what tells them apart, and what is odd about the conditions. */
import { oneLine } from '../outside-text.ts';
import type { Space, SpaceGroup, SpacePrompt } from './space.ts';

/** The report; with `render` each listed prompt is followed by its text. */
export function spaceText(space: Space, render: boolean): string {
  const { agent, profile, count, complete, bytes, prompts } = space;
  const size = bytes.min === bytes.max ? `${bytes.min} bytes` : `${bytes.min} to ${bytes.max} bytes`;
  const lines = [
    `agent ${agent}, profile ${profile}: ${complete ? '' : 'at least '}${count} distinct ${count === 1 ? 'prompt' : 'prompts'}, ${size}`,
    '',
    'GROUPS',
    ...(space.groups.length === 0
      ? ['  none: no fragment has a condition']
      : space.groups.flatMap(groupLines)),
    '',
    'PROMPTS',
    ...prompts.flatMap((prompt, i) => promptLines(prompt, i + 1, render)),
    ...(count > prompts.length ? [`  and ${count - prompts.length} more that are not listed`] : []),
    ...section('NEVER IN', space.never),
    ...section('ALWAYS IN, ALTHOUGH CONDITIONAL', space.always),
    ...section(
      'CONTRADICTIONS',
      space.contradictions.map(
        ({ fragments, together }) =>
          `${fragments.join(' and ')} are never both true${together ? ', and an unknown fact keeps both' : ''}`,
      ),
    ),
    ...section(
      'NOT COVERED BY THE LOCK',
      space.notLocked === 0
        ? []
        : [`${count > prompts.length ? 'at least ' : ''}${space.notLocked} of ${count}`],
    ),
    ...section('NOT EXACT', space.notes),
  ];
  return `${lines.join('\n')}\n`;
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${line}`)];
}

function groupLines({ facts, fragments, points, ways }: SpaceGroup): string[] {
  const read = facts.map(({ name, values }) => `${name} (${values.length})`).join(', ') || 'no fact';
  return [
    `  ${fragments.join(', ')}`,
    `      over ${read}: ${points} situations, ${ways ?? 'too many'} ways`,
  ];
}

function promptLines(
  { digest, bytes, tokens, example, locked, text, fragments }: SpacePrompt,
  number: number,
  render: boolean,
): string[] {
  const facts = Object.entries(example).map(
    ([name, value]) => `${name}=${value === null ? 'unknown' : oneLine(JSON.stringify(value))}`,
  );
  return [
    `  ${number}. ${digest.slice(0, 12)}  ${bytes} bytes, ${tokens} tokens${locked ? ', locked' : ''}`,
    `      when ${facts.join(', ') || 'always'}`,
    `      of ${fragments.join(', ') || 'no fragment'}`,
    ...(render ? ['', text.replace(/\n$/, ''), ''] : []),
  ];
}
