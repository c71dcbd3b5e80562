/** `writ init`: a new agent folder with a place for its record, all of it or nothing. */

import { mkdir, readdir, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { systemCode } from '../../errors.ts';
import { printJson } from '../context.ts';
import { CliError } from '../errors.ts';
import { exitCodes } from '../exit.ts';
import { type NewCommand, withExamples } from '../program.ts';
import { shellWord } from '../run/open-store.ts';
import { count } from '../view/figures.ts';
import { visible } from '../view/visible.ts';

export function initCommand({ context, command, done }: NewCommand) {
  const init = command('init')
    .summary('make a new agent')
    .description('Makes a small agent in a folder that is new or empty.')
    .argument('<dir>', 'the folder')
    .option('--key <key>', 'what records and conditions call the agent (default: the name of the folder)')
    .option('--json', 'print what was made as one JSON object');
  return withExamples(init, ['writ init agents/helper', 'writ init . --key helper']).action(
    async (dir, options) => {
      const folder = resolve(context.cwd, dir);
      const key = readKey(options.key ?? keyFrom(basename(folder)));
      const files = await makeAgent(folder, key, context.clock.id('new'));
      if (options.json) printJson(context, { folder, key, files });
      else context.stdout.write(nextSteps(dir, files));
      done(exitCodes.completed);
    },
  );
}

function nextSteps(dir: string, files: readonly string[]): string {
  return [
    `Made ${visible(dir)} with ${files.join(', ')}.`,
    '',
    'Next:',
    // From inside, the record of its runs goes into the folder's own .writ.
    ...(dir === '.' ? [] : [`  cd ${shellWord(dir)}`]),
    '  writ compose .',
    '  writ run . --model openrouter/VENDOR/NAME -- "What is in this folder?"',
    '',
  ].join('\n');
}

const keyPattern = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

function keyFrom(name: string): string {
  return name.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^[._-]+|-+$/g, '') || 'agent';
}

function readKey(key: string): string {
  if (keyPattern.test(key)) return key;
  throw new CliError('cli.bad-value', `--key expected letters, digits, dot, _ and -, found '${key}'.`, {
    next: 'Choose a key like sales-analyst; the display name in agent.yaml may be anything.',
    details: { option: '--key' },
  });
}

/**
 * Everything is written into a draft first. A new folder is the draft under its final name; into a folder that exists
 * the parts are moved one by one, because somebody's shell may stand in it. A failure takes all of it back.
 */
async function makeAgent(folder: string, key: string, id: string): Promise<readonly string[]> {
  const { scaffoldAgent } = await import('../../compose/scaffold.ts');
  const exists = await isFreeFolder(folder);
  // The record stays out of version control from its first day.
  const files = new Map([...scaffoldAgent(key), ['.writ/.gitignore', '*\n']]);
  const above = dirname(folder);
  const draft = exists ? join(folder, `.${id}`) : join(above, `.${basename(folder)}-${id}`);
  const moved: string[] = [];
  let firstMade: string | undefined;
  try {
    firstMade = await mkdir(above, { recursive: true });
    await mkdir(draft);
    for (const [path, text] of files) {
      await mkdir(dirname(join(draft, path)), { recursive: true });
      await writeFile(join(draft, path), text, { flag: 'wx' });
    }
    if (!exists) await rename(draft, folder);
    else {
      for (const name of await readdir(draft)) {
        await rename(join(draft, name), join(folder, name));
        moved.push(join(folder, name));
      }
      await rmdir(draft);
    }
  } catch (cause) {
    for (const path of [draft, ...moved]) await rm(path, { recursive: true, force: true }).catch(() => {});
    if (firstMade !== undefined) await removeEmpty(above, firstMade);
    throw unwritable(folder, cause);
  }
  return [...files.keys()];
}

// From the inside out, and only as far as the folders are empty: others may have begun to use them.
async function removeEmpty(from: string, to: string): Promise<void> {
  for (let at = from; at.length >= to.length; at = dirname(at)) {
    const gone = await rmdir(at).then(
      () => true,
      () => false,
    );
    if (!gone) return;
  }
}

/** True for an empty folder, false where nothing is there; anything else is refused. */
async function isFreeFolder(folder: string): Promise<boolean> {
  let names: readonly string[];
  try {
    names = await readdir(folder);
  } catch (cause) {
    const code = systemCode(cause) ?? 'unknown';
    if (code === 'ENOENT') return false;
    if (code !== 'ENOTDIR') throw unwritable(folder, cause);
    throw notFree(folder, 'a file');
  }
  if (names.length > 0) throw notFree(folder, `${count(names.length, 'thing')} in it`);
  return true;
}

function notFree(folder: string, found: string): CliError {
  return new CliError(
    'cli.folder-not-empty',
    `Expected a new or empty folder at ${folder}, found ${found}; nothing was changed.`,
    { next: 'Name another folder.', details: { folder } },
  );
}

function unwritable(folder: string, cause: unknown): CliError {
  return new CliError(
    'cli.unwritable',
    `Expected to make ${folder}, found a fault (${systemCode(cause) ?? 'unknown'}); nothing was left behind.`,
    { next: 'Name a folder that you may write to.', details: { folder }, cause },
  );
}
