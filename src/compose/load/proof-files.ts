/** Files beside an agent's text: its lock, its changelog, baselines, and the exact bytes of its fragments. */
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { sha256 } from '../../digest.ts';
import { systemCode } from '../../errors.ts';
import { isRecord } from '../../protocol/json.ts';
import type { Agent, Fragment } from '../agent.ts';
import { ComposeError } from '../errors.ts';
import { readSource, SourceText } from './located.ts';
import { YamlMap } from './yaml.ts';

/** The bytes of every fragment's file, by its path below the agent folder. */
export async function readFragmentFiles(agent: Agent): Promise<ReadonlyMap<string, Uint8Array>> {
  const files = new Map<string, Uint8Array>();
  for (const { file } of agent.fragments.values()) files.set(file, await readFile(join(agent.folder, file)));
  return files;
}

/** Their digests. */
export function digestsOf(files: ReadonlyMap<string, Uint8Array>): ReadonlyMap<string, string> {
  return new Map([...files].map(([path, bytes]) => [path, sha256(bytes)]));
}

/** The line of its file, from 1, on which a fragment's body begins. */
export function bodyLine(files: ReadonlyMap<string, Uint8Array>, { file, body }: Fragment): number {
  const text = new TextDecoder().decode(files.get(file));
  return text.slice(0, text.length - body.length).split('\n').length;
}

/** The line of its file, from 1, on which a fragment's header says its evidence; 1 where it does not. */
export function evidenceLine(files: ReadonlyMap<string, Uint8Array>, { file }: Fragment): number {
  const lines = new TextDecoder().decode(files.get(file)).split('\n');
  return lines.findIndex((line) => line.startsWith('evidence:')) + 1 || 1;
}

/** The first line of its file, from 1, that holds a text in quotes; 1 where none does. */
export function quotingLine(
  files: ReadonlyMap<string, Uint8Array>,
  { file }: Fragment,
  text: string,
): number {
  const lines = new TextDecoder().decode(files.get(file)).split('\n');
  const forms = [JSON.stringify(text), `'${text}'`];
  return lines.findIndex((line) => forms.some((form) => line.includes(form))) + 1 || 1;
}

/** The line of agent.yaml, from 1, on which `tools` lists a tool. */
export function listedLine(text: string, tool: string): number {
  const source = new SourceText('agent.yaml', text);
  const map = new YamlMap(source, source.text, 0, 'agent.yaml');
  const entries = Array.isArray(map.value.tools) ? map.value.tools : [];
  const at = entries.findIndex((entry) => entry === tool || (isRecord(entry) && Object.hasOwn(entry, tool)));
  return source.position(map.valueOffset(['tools', at])).line;
}

/** A text file inside the agent folder; undefined where there is none. Throws `compose.unreadable`. */
export async function readBeside(folder: string, name: string): Promise<string | undefined> {
  const path = resolve(folder, name);
  const inside = relative(folder, path);
  if (inside === '' || inside.startsWith('..') || isAbsolute(inside)) {
    throw new ComposeError(
      'compose.unreadable',
      `${name} should be a file inside ${folder} and lies outside.`,
      {
        next: 'Keep the file in the agent folder.',
        details: { file: name },
      },
    );
  }
  try {
    return (await readSource(path)).text;
  } catch (thrown) {
    const { cause } = thrown instanceof ComposeError ? thrown : { cause: undefined };
    if (systemCode(cause) === 'ENOENT') return undefined;
    throw thrown;
  }
}

/** Writes a file whole or not at all: what is read meanwhile is the old text or the new one. */
export async function replaceFile(path: string, text: string, id: string): Promise<void> {
  const draft = `${path}.${id}`;
  try {
    await writeFile(draft, text, { flag: 'wx', flush: true });
    await rename(draft, path);
  } catch (cause) {
    await rm(draft, { force: true });
    throw new ComposeError(
      'compose.unwritable',
      `${path} should be written and cannot be: ${systemCode(cause)}.`,
      {
        next: 'Make the folder writable.',
        details: { file: path },
        cause,
      },
    );
  }
}
