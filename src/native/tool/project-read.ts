/** `project_read`: one text file, or the names in one folder, of the workspace; nothing outside it and no secrets. */
import { realpathSync, statSync } from 'node:fs';
import { type FileHandle, opendir } from 'node:fs/promises';
import type { ExactJson } from '../../protocol/json.ts';
import { type OpenedPath, openBeneath, pathFault, placeOf } from './confine.ts';
import { defineTool, failed, type ToolEnding } from './define-tool.ts';
import { ToolError } from './errors.ts';
import { readOptions } from './options.ts';
import { utf8Prefix } from './result-text.ts';
import type { Tool } from './tool.ts';

export interface ProjectReadOptions {
  /** The folder that may be read. */
  readonly workspace: string;
  /** Files above this size are refused; 4 MiB unless set. */
  readonly fileBytesMax?: number;
  /** True to read `.env` and the other names of `isSecret` as well; false unless set. `.writ/` stays closed. */
  readonly secrets?: boolean;
}

interface Arguments {
  readonly path: string;
  readonly start_line?: number;
  readonly line_count?: number;
}

/** The schema of a path in the workspace. */
export const pathParameter = {
  type: 'string',
  minLength: 1,
  maxLength: 1024,
  description: 'Relative to the workspace root.',
} as const;

const outputBytesMax = 64 * 1024;
// Room for the other fields, and for a path of the longest kind written as JSON.
const contentBytesMax = outputBytesMax - 16 * 1024;
const namesMax = 500;
const namesSeenMax = 20_000;

/** Makes the tool. The workspace must exist; its links are resolved once, here. */
export function projectRead(options: ProjectReadOptions): Tool {
  const { workspace, fileBytesMax, secrets } = readOptions('project_read', options, {
    workspace: 'string',
    fileBytesMax: 'number?',
    secrets: 'boolean?',
  });
  const root = workspaceRoot('project_read', workspace);
  return defineTool<Arguments>({
    name: 'project_read',
    description:
      'Reads one UTF-8 text file of the workspace, whole or a range of lines. ' +
      'A folder as path ("." is the root) answers with its names, folders ending in "/". ' +
      'Returns path, content, lines (of the whole file), bytes, truncated; next_line says where to go on.',
    parameters: {
      type: 'object',
      properties: {
        path: pathParameter,
        start_line: { type: 'integer', minimum: 1, description: 'First line to read; 1 if left out.' },
        line_count: { type: 'integer', minimum: 1, description: 'How many lines; to the end if left out.' },
      },
      required: ['path'],
      additionalProperties: false,
    },
    capability: 'project',
    access: 'read',
    limits: { timeoutMs: 10_000, outputBytesMax },
    execute: (args, context) => readPlace(root, args, { fileBytesMax, secrets }, context.signal),
  });
}

/** One file or folder beneath a resolved root, as `project_read` answers it. */
export async function readPlace(
  root: string,
  args: Arguments,
  limits: { readonly fileBytesMax?: number | undefined; readonly secrets?: boolean | undefined },
  signal: AbortSignal,
): Promise<ExactJson | ToolEnding> {
  const { fileBytesMax = 4 * 1024 * 1024, secrets = false } = limits;
  if (pathFault(args.path) === null && isClosed(args.path, secrets)) return closed(args.path);
  const opened = await openBeneath(root, args.path);
  if (!opened.ok) return failed(opened.code, opened.message);
  try {
    // A link with an innocent name may lead to one of these.
    if (isClosed(opened.inside, secrets)) return closed(args.path);
    return opened.stats.isDirectory()
      ? await readNames(opened, args.path, secrets, signal)
      : await readLines(opened, args, fileBytesMax, signal);
  } finally {
    await opened.file.close();
  }
}

/** The resolved path of a workspace, which must be a folder. */
export function workspaceRoot(tool: string, workspace: string): string {
  try {
    const root = realpathSync(workspace);
    if (statSync(root).isDirectory()) return root;
  } catch (cause) {
    throw noWorkspace(tool, workspace, cause);
  }
  throw noWorkspace(tool, workspace, undefined);
}

function noWorkspace(tool: string, workspace: string, cause: unknown): ToolError {
  return new ToolError(
    'tool.bad-option',
    `${tool}: expected an existing folder as workspace, found ${workspace}.`,
    {
      next: 'Create the folder, or name another with --workspace.',
      cause,
    },
  );
}

// Names that hold credentials and nothing else. A file may still hold one anywhere: this keeps slips out, not intent.
const secretNames =
  /^(\.env(\..*)?|\.envrc|\.netrc|\.npmrc|\.pypirc|\.git-credentials|\.htpasswd|\.ssh|\.aws|\.gnupg|id_(rsa|dsa|ecdsa|ed25519)|.*\.(pem|key|p12|pfx|keystore|jks|kdbx))$/;
const sampleNames = /^\.env\.(example|sample|template|dist)$/;

/** True if any part of a relative path is a name under which people keep credentials, whatever its case. */
export function isSecret(path: string): boolean {
  return path
    .toLowerCase()
    .split('/')
    .some((name, i, all) => {
      if (name === 'config' && all[i - 1] === '.git') return true;
      return secretNames.test(name) && !sampleNames.test(name);
    });
}

/** True for what no tool opens: the run's own record, and credentials unless `secrets` is set. */
export function isClosed(path: string, secrets: boolean): boolean {
  const record = path.toLowerCase().split('/').includes('.writ');
  return record || (!secrets && isSecret(path));
}

/** How a call for such a path ends. */
export function closed(path: string): ToolEnding {
  return failed(
    'tool.path-refused',
    `${path} is kept closed: it is a place for credentials or for the run's own record. Work without it.`,
  );
}

async function readNames(
  folder: OpenedPath,
  path: string,
  secrets: boolean,
  signal: AbortSignal,
): Promise<ExactJson | ToolEnding> {
  const names: string[] = [];
  let more = false;
  for await (const entry of await opendir(placeOf(folder))) {
    signal.throwIfAborted();
    if (names.length >= namesSeenMax) {
      more = true;
      break;
    }
    const inside = folder.inside === '' ? entry.name : `${folder.inside}/${entry.name}`;
    if (!isClosed(inside, secrets)) names.push(entry.isDirectory() ? `${entry.name}/` : entry.name);
  }
  names.sort();
  const shown: string[] = [];
  let left = contentBytesMax;
  for (const name of names.slice(0, namesMax)) {
    left -= Buffer.byteLength(JSON.stringify(name)) + 1;
    if (left < 0) break;
    shown.push(name);
  }
  const truncated = more || shown.length < names.length;
  return { path, names: shown, count: names.length, truncated };
}

async function readLines(
  opened: OpenedPath,
  args: Arguments,
  fileBytesMax: number,
  signal: AbortSignal,
): Promise<ExactJson | ToolEnding> {
  const { path } = args;
  const bytes = await readUpTo(opened.file, fileBytesMax, signal);
  if (bytes === null)
    return failed(
      'tool.not-readable',
      `${path} holds ${Math.max(opened.stats.size, fileBytesMax + 1)} bytes; at most ${fileBytesMax} are read.`,
    );
  const text = textOf(bytes);
  if (text === null) return failed('tool.not-readable', `${path} is no UTF-8 text, so it cannot be shown.`);
  // Each line keeps its end, so that joined lines are the file's own bytes; no line follows the last end.
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const start = args.start_line ?? 1;
  if (start > Math.max(1, lines.length))
    return failed('tool.not-found', `${path} has ${lines.length} lines; there is no line ${start}.`);
  const wanted = lines.slice(
    start - 1,
    args.line_count === undefined ? undefined : start - 1 + args.line_count,
  );
  const { content, whole } = fitLines(wanted);
  const next = start + whole;
  const truncated = whole < wanted.length;
  return {
    path,
    content,
    lines: lines.length,
    bytes: bytes.length,
    truncated,
    // A line that is cut by itself is passed over: its rest cannot be asked for.
    ...(next <= lines.length ? { next_line: whole === 0 ? next + 1 : next } : {}),
  };
}

/** The text of a file, a mark at its beginning included; null if it is no UTF-8. */
export function textOf(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** As many whole lines as fit when written as JSON; the beginning of the first if not even that one does. */
function fitLines(lines: readonly string[]): { readonly content: string; readonly whole: number } {
  let left = contentBytesMax;
  let whole = 0;
  for (const line of lines) {
    left -= Buffer.byteLength(JSON.stringify(line)) - 2;
    if (left < 0) break;
    whole += 1;
  }
  if (whole > 0 || lines.length === 0) return { content: lines.slice(0, whole).join(''), whole };
  // A character takes up to six bytes as JSON (\u0000).
  return { content: utf8Prefix(lines[0] ?? '', Math.floor(contentBytesMax / 6)), whole: 0 };
}

/** Reads the whole file; null if it is larger than allowed, which only reading tells: it may be growing. */
async function readUpTo(file: FileHandle, bytesMax: number, signal: AbortSignal): Promise<Buffer | null> {
  const parts: Buffer[] = [];
  let total = 0;
  for (;;) {
    signal.throwIfAborted();
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(64 * 1024), 0, 64 * 1024, null);
    if (bytesRead === 0) return Buffer.concat(parts, total);
    total += bytesRead;
    if (total > bytesMax) return null;
    parts.push(buffer.subarray(0, bytesRead));
  }
}
