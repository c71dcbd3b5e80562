/** Reads the pages of the documentation: their code fences, what each fence promises, and their links and paths. */
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, normalize } from 'node:path';

/**
 * What stands behind the opening of a fence says how its code is held:
 * - `yaml title=PATH`, `md title=PATH`, `mjs title=PATH`: a file of the page's folder; `yaml` alone: a part of an agent.yaml;
 * - `sh run`: each line is run in the page's folder; `sh`: the commands and flags of `writ` in it must exist;
 * - `ts`: must fit the types; `ts run`: is run as well; `text`: is only shown.
 */
export interface Fence {
  readonly language: 'yaml' | 'md' | 'mjs' | 'sh' | 'ts' | 'text';
  readonly run: boolean;
  readonly title: string | undefined;
  readonly page: string;
  /** The line of the page, from 1, on which the code begins. */
  readonly line: number;
  readonly code: string;
}

const promises = /^(?:(yaml|md|mjs) title=(\S+)|(sh|ts)( run)?|(yaml|text))$/;

/** The fences of a page in order. Throws for one that is not closed or says something unknown. */
export function fencesOf(page: string, text: string): Fence[] {
  const fences: Fence[] = [];
  const lines = text.split('\n');
  for (let at = 0; at < lines.length; at += 1) {
    const opening = /^\s*(`{3,})\s*(.*?)\s*$/.exec(lines[at] ?? '');
    if (opening === null) continue;
    const [, ticks = '', promise = ''] = opening;
    const end = lines.findIndex((line, i) => i > at && line.trim() === ticks);
    if (end < 0) throw new Error(`${page}:${at + 1}: this fence is never closed`);
    const said = promises.exec(promise);
    if (said === null) {
      throw new Error(
        `${page}:${at + 1}: a fence says '${promise}'; expected yaml [title=PATH], md or mjs title=PATH, sh [run], ts [run] or text`,
      );
    }
    fences.push({
      language: (said[1] ?? said[3] ?? said[5]) as Fence['language'],
      run: said[4] !== undefined,
      title: said[2],
      page,
      line: at + 2,
      code: `${lines.slice(at + 1, end).join('\n')}\n`,
    });
    at = end;
  }
  return fences;
}

/** A page's text with its fences blanked, line for line. */
function prose(page: string, text: string): string {
  const lines = text.split('\n');
  for (const { line, code } of fencesOf(page, text)) {
    const length = code.split('\n').length;
    lines.fill('', line - 2, line - 1 + length);
  }
  return lines.join('\n');
}

/** Commands of `writ` written in running text, with the line each stands on. */
export function inlineCommands(
  page: string,
  text: string,
): { readonly line: number; readonly code: string }[] {
  return prose(page, text)
    .split('\n')
    .flatMap((line, i) =>
      [...line.matchAll(/`(writ [^`]+)`/g)].map((found) => ({
        line: i + 1,
        // In a table a bar is escaped; here it stands between two placeholders.
        code: (found[1] ?? '').replaceAll('\\|', '/'),
      })),
    );
}

/** One sentence for each relative link that leads nowhere. `root` is the folder that `page` is relative to. */
export function linkFaults(page: string, text: string, root: string): string[] {
  const faults: string[] = [];
  for (const [, target = ''] of prose(page, text).matchAll(/\]\(([^)\s]+)\)/g)) {
    if (/^[a-z]+:/.test(target)) continue;
    const [path = '', anchor] = target.split('#');
    const to = path === '' ? page : normalize(join(dirname(page), path));
    if (path !== '' && !existsSync(join(root, to)))
      faults.push(`${page} links to ${target}, and there is no ${to}`);
    else if (anchor !== undefined) {
      const there = path === '' ? text : readFileSync(join(root, to), 'utf8');
      if (!anchorsOf(to, there).has(anchor))
        faults.push(`${page} links to ${target}, and ${to} has no heading for #${anchor}`);
    }
  }
  return faults;
}

/** Headings as GitHub links to them; a heading that stands again gets a number. */
function anchorsOf(page: string, text: string): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of prose(page, text).matchAll(/^#{1,6} +(.+?) *$/gm)) {
    const slug = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-');
    let anchor = slug;
    for (let n = 1; anchors.has(anchor); n += 1) anchor = `${slug}-${n}`;
    anchors.add(anchor);
  }
  return anchors;
}

/** Paths that exist only on the machine of whoever wrote them down. */
export function machinePaths(page: string, text: string): string[] {
  const homes = text.match(/(?<![\w.~:/-])\/(?:home|Users|root)\/[^\s`"')]*/g) ?? [];
  const own = [process.cwd(), homedir()].filter((path) => path.length > 1 && text.includes(`${path}/`));
  return [...homes, ...own].map((path) => `${page} names ${path}, a path of one machine`);
}
