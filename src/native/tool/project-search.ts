/** `project_search`: the lines of the workspace's text files that hold a text or fit an expression; nothing outside, no secrets. */
import { opendir } from 'node:fs/promises';
import type { ExactJson } from '../../protocol/json.ts';
import { blockReader } from '../context/block-reader.ts';
import { handleBytes } from '../context/bytes.ts';
import { ContextError } from '../context/errors.ts';
import { defaultContextLimits, openPace, type Pace } from '../context/limits.ts';
import { compilePattern, type Pattern } from '../context/pattern.ts';
import { searchText } from '../context/search.ts';
import { indexText } from '../context/text-index.ts';
import { type OpenedPath, openBeneath, pathFault, placeOf } from './confine.ts';
import { defineTool, failed, type ToolEnding } from './define-tool.ts';
import { readOptions } from './options.ts';
import { closed, isClosed, workspaceRoot } from './project-read.ts';
import type { Tool, ToolContext } from './tool.ts';

export interface ProjectSearchOptions {
  /** The folder that may be searched. */
  readonly workspace: string;
  /** True to search `.env` and the other names of `isSecret` as well; false unless set. `.writ/` stays closed. */
  readonly secrets?: boolean;
}

interface Arguments {
  readonly query: string;
  readonly regex?: boolean;
  readonly path?: string;
}

const matchesMax = 200;
const matchesBytesMax = 48 * 1024;
const filesMax = 20_000;
const timeoutMs = 15_000;
/** The search ends by itself before the call is cut off, so that what was found is not lost. */
const searchMs = 10_000;
/** A file with a NUL among its first bytes is no text, whatever its encoding. */
const sampleBytes = 8 * 1024;

/** Folders that hold what others wrote: history and packages. */
const ignored = new Set(['.git', 'node_modules']);

/** Makes the tool. The workspace must exist; its links are resolved once, here. */
export function projectSearch(options: ProjectSearchOptions): Tool {
  const { workspace, secrets = false } = readOptions('project_search', options, {
    workspace: 'string',
    secrets: 'boolean?',
  });
  const root = workspaceRoot('project_search', workspace);
  return defineTool<Arguments>({
    name: 'project_search',
    description:
      'Finds lines in the text files of the workspace, letter for letter, or with regex true by an RE2 expression. ' +
      'Returns matches as "path:line:text" (lines from 1), files searched, skipped (not text, or not readable), truncated.',
    parameters: {
      type: 'object',
      properties: {
        query: { type: 'string', minLength: 1, maxLength: 1024, description: 'What a line has to hold.' },
        regex: { type: 'boolean', description: 'True for an expression; false if left out.' },
        path: {
          type: 'string',
          minLength: 1,
          maxLength: 1024,
          description: 'A folder or file, relative to the workspace root; all of it if left out.',
        },
      },
      required: ['query'],
      additionalProperties: false,
    },
    capability: 'project',
    access: 'read',
    limits: { timeoutMs },
    async execute({ query, regex = false, path = '.' }, context) {
      if (pathFault(path) === null && isClosed(path, secrets)) return closed(path);
      try {
        const pattern = await compilePattern({ pattern: query, regex });
        return await searchFrom(root, path, pattern, secrets, context);
      } catch (thrown) {
        if (thrown instanceof ContextError) return failed(thrown.code, thrown.message);
        throw thrown;
      }
    },
  });
}

async function searchFrom(
  root: string,
  path: string,
  pattern: Pattern,
  secrets: boolean,
  { signal, clock }: ToolContext,
): Promise<ExactJson | ToolEnding> {
  const opened = await openBeneath(root, path);
  if (!opened.ok) return failed(opened.code, opened.message);
  await opened.file.close();
  if (isClosed(opened.inside, secrets)) return closed(path);
  const pace = openPace(clock, [signal], searchMs);
  const found: Found = { matches: [], bytesLeft: matchesBytesMax, cut: false };
  let files = 0;
  let skipped = 0;
  const places = opened.stats.isDirectory()
    ? filesBeneath(root, opened.inside, secrets, pace)
    : [opened.inside];
  for await (const place of places) {
    if (found.cut || pace.spent() || files + skipped >= filesMax) {
      found.cut = true;
      break;
    }
    if (await searchFile(root, place, pattern, secrets, pace, found)) files += 1;
    else skipped += 1;
  }
  return { matches: found.matches, files, skipped, truncated: found.cut };
}

interface Found {
  readonly matches: string[];
  bytesLeft: number;
  cut: boolean;
}

/** False for what cannot be searched: no text, not readable, or no longer there. */
async function searchFile(
  root: string,
  place: string,
  pattern: Pattern,
  secrets: boolean,
  pace: Pace,
  found: Found,
): Promise<boolean> {
  const opened = await openBeneath(root, place);
  if (!opened.ok) return false;
  const source = handleBytes(opened.file, opened.stats.size);
  try {
    // A name may have become a link meanwhile, to a place inside that is closed.
    if (!opened.stats.isFile() || isClosed(opened.inside, secrets)) return false;
    if ((await source.read(0, Math.min(sampleBytes, source.size))).includes(0)) return false;
    const index = await indexText(source, pace);
    // Also a full list looks for one more: only that makes it incomplete.
    const resultsMax = Math.max(1, matchesMax - found.matches.length);
    const limits = { ...defaultContextLimits, resultsMax, bytesMax: matchesBytesMax };
    const work = { limits, pace, inspect: () => {} };
    const text = { size: source.size, index, read: blockReader(source, work) };
    const { value, truncated } = await searchText(text, work, pattern, 0);
    for (const hit of value.hits) add(found, `${place}:${hit.index + 1}:${hit.value}`);
    found.cut ||= truncated;
    return true;
  } catch (thrown) {
    if (thrown instanceof ContextError) return false;
    throw thrown;
  } finally {
    await source.close();
  }
}

function add(found: Found, match: string): void {
  found.bytesLeft -= Buffer.byteLength(JSON.stringify(match)) + 1;
  if (found.cut || found.bytesLeft < 0 || found.matches.length >= matchesMax) found.cut = true;
  else found.matches.push(match);
}

/** Every regular file of a folder and below, in the order of names. Links are not followed: they lead in circles, or twice. */
async function* filesBeneath(
  root: string,
  folder: string,
  secrets: boolean,
  pace: Pace,
): AsyncGenerator<string, void, void> {
  const opened = await openBeneath(root, folder === '' ? '.' : folder);
  if (!opened.ok) return;
  const entries = await entriesOf(opened);
  await pace.step();
  for (const { name, isFolder } of entries) {
    const inside = folder === '' ? name : `${folder}/${name}`;
    if (ignored.has(name) || isClosed(inside, secrets)) continue;
    if (isFolder) yield* filesBeneath(root, inside, secrets, pace);
    else yield inside;
    if (pace.spent()) return;
  }
}

async function entriesOf(
  opened: OpenedPath,
): Promise<{ readonly name: string; readonly isFolder: boolean }[]> {
  try {
    if (!opened.stats.isDirectory()) return [];
    const entries: { name: string; isFolder: boolean }[] = [];
    for await (const entry of await opendir(placeOf(opened))) {
      if (entry.isFile() || entry.isDirectory())
        entries.push({ name: entry.name, isFolder: entry.isDirectory() });
    }
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  } finally {
    await opened.file.close();
  }
}
