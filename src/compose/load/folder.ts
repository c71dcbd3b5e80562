/** What an agent folder holds: its names in order, and the files that are fragments or would be taken for some. */

import { readdir, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode } from '../../errors.ts';
import { ComposeError } from '../errors.ts';

/** Throws `compose.no-agent` where there is no folder with an agent.yaml. */
export async function mustBeAgentFolder(folder: string): Promise<void> {
  const isFolder = await stat(folder).then(
    (found) => found.isDirectory(),
    (cause) => {
      const missing = systemCode(cause) === 'ENOENT';
      throw new ComposeError(
        'compose.no-agent',
        missing
          ? `An agent folder was expected at ${folder}, and nothing is there.`
          : `The folder ${folder} cannot be read: ${systemCode(cause) ?? 'no code'}.`,
        {
          next: missing
            ? `Check the path, or run: writ init ${shellWord(folder)}`
            : 'Make the folder readable.',
          details: { folder },
          cause,
        },
      );
    },
  );
  if (!isFolder) {
    throw new ComposeError('compose.no-agent', `${folder} should be an agent folder and is a file.`, {
      next: 'Give the folder that holds agent.yaml.',
      details: { folder },
    });
  }
  const names = await list(folder);
  if (names !== undefined && !names.includes('agent.yaml')) {
    throw new ComposeError('compose.no-agent', `The folder ${folder} should hold agent.yaml and does not.`, {
      next: names.includes('agent.yml')
        ? 'Rename agent.yml to agent.yaml.'
        : `Run: writ init ${shellWord(folder)}`,
      details: { folder },
    });
  }
}

// The folder as a word that a POSIX shell, and the parser of `writ`, read as it is.
function shellWord(folder: string): string {
  const path = folder.startsWith('-') ? `./${folder}` : folder;
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

/** Names in the order of their code units, so that no locale of a machine decides; undefined where there is no folder. */
export async function list(folder: string): Promise<string[] | undefined> {
  try {
    return (await readdir(folder)).sort();
  } catch (cause) {
    if (systemCode(cause) === 'ENOENT') return undefined;
    throw new ComposeError(
      'compose.unreadable',
      `The folder ${folder} cannot be listed: ${systemCode(cause) ?? 'no code'}.`,
      {
        next: 'Make it a readable folder.',
        details: { folder },
        cause,
      },
    );
  }
}

const markdownName = /\.(md|mdx|mkd|mdown|markdown)$/i;

/**
 * The fragments of an instructions folder. Throws for a file that its author surely means as a fragment and that would be
 * none: one of another ending, or in a folder further in. A name that begins with a dot is an editor's.
 */
export async function fragmentPaths(instructions: string): Promise<string[]> {
  const paths: string[] = [];
  for (const name of await visibleNames(instructions)) {
    const path = join(instructions, name);
    if (name.endsWith('.md')) paths.push(path);
    else if (await isFolder(path)) await mustHoldNoFragment(path, new Set());
    else if (markdownName.test(name)) {
      throw misplaced(
        path,
        'the name of a fragment ends in .md',
        `Rename it to ${name.replace(markdownName, '.md')}.`,
      );
    }
  }
  return paths;
}

async function mustHoldNoFragment(folder: string, seen: Set<string>): Promise<void> {
  const real = await realpath(folder);
  if (seen.has(real)) return;
  seen.add(real);
  for (const name of await visibleNames(folder)) {
    const path = join(folder, name);
    if (await isFolder(path)) await mustHoldNoFragment(path, seen);
    else if (markdownName.test(name)) {
      throw misplaced(
        path,
        'fragments lie in instructions/ itself',
        'Move it there, or out of instructions/.',
      );
    }
  }
}

async function visibleNames(folder: string): Promise<string[]> {
  return ((await list(folder)) ?? []).filter((name) => !name.startsWith('.'));
}

function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

function misplaced(file: string, rule: string, next: string): ComposeError {
  return new ComposeError('compose.misplaced-fragment', `${file} would be passed over: ${rule}.`, {
    next,
    details: { file },
  });
}
