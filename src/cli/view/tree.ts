/** Draws nested texts as a tree of lines. */
import { wrapLine } from './wrap.ts';

export interface Branch {
  /** May have several lines; must hold no control characters but line breaks. */
  readonly text: string;
  readonly branches?: readonly Branch[];
}

/** The lines below a heading, each at most `cells` wide. */
export function treeLines(branches: readonly Branch[], cells: number): readonly string[] {
  return branches.flatMap(({ text, branches: inner = [] }, at) => {
    const last = at === branches.length - 1;
    const below = last ? '   ' : '│  ';
    const room = Math.max(10, cells - 3);
    const own = text.split('\n').flatMap((line) => wrapLine(line.replaceAll('\t', '  '), room));
    return [
      ...own.map((line, i) => (i === 0 ? `${last ? '└─' : '├─'} ${line}` : `${below}${line}`.trimEnd())),
      ...treeLines(inner, room).map((line) => `${below}${line}`),
    ];
  });
}
