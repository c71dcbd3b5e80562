/** `file_write`: one text file of the workspace, made or replaced as a whole. */
import { defineTool, failed } from '../tool/define-tool.ts';
import { readOptions } from '../tool/options.ts';
import { pathParameter, workspaceRoot } from '../tool/project-read.ts';
import type { Tool } from '../tool/tool.ts';
import { isWhole } from '../tool/whole-text.ts';
import { fileKey, notText, pathRefusal, targetOf, writeTarget } from './write-beneath.ts';

export interface FileWriteOptions {
  /** The folder that may be changed. */
  readonly workspace: string;
}

interface Arguments {
  readonly path: string;
  readonly content: string;
  readonly overwrite?: boolean;
}

/** Makes the tool. The workspace must exist; its links are resolved once, here. */
export function fileWrite(options: FileWriteOptions): Tool {
  const { workspace } = readOptions('file_write', options, { workspace: 'string' });
  const root = workspaceRoot('file_write', workspace);
  const tool = defineTool<Arguments>({
    name: 'file_write',
    description:
      'Makes a text file of the workspace with this content, its folders included. A file that is there is replaced only ' +
      'with overwrite; to change a part of one use file_patch. Returns path, bytes, created.',
    parameters: {
      type: 'object',
      properties: {
        path: pathParameter,
        content: {
          type: 'string',
          maxLength: 1024 * 1024,
          description: 'The whole file, its last line end included.',
        },
        overwrite: { type: 'boolean', description: 'True to replace what is there.' },
      },
      required: ['path', 'content'],
      additionalProperties: false,
    },
    capability: 'edit',
    access: 'write',
    // A second call finds the content there and leaves it.
    repeat: 'safe',
    look: 'Read the file with project_read.',
    effectKey: ({ path }) => fileKey(root, path),
    async execute({ path, content, overwrite = false }) {
      if (!isWhole(content)) return notText('content');
      const target = await targetOf(root, path);
      if (!target.ok) return failed(target.code, target.message);
      const bytes = Buffer.from(content);
      const created = target.before === null;
      if (target.before?.equals(bytes) === true)
        return { path, bytes: bytes.length, created, unchanged: true };
      if (!created && !overwrite)
        return failed(
          'edit.exists',
          `${path} is there already, with ${target.before.length} bytes. Read it, then give overwrite: true or use file_patch.`,
        );
      const written = await writeTarget(root, path, target, bytes);
      return written.ok ? { path, bytes: bytes.length, created } : failed(written.code, written.message);
    },
  });
  return { ...tool, preflight: (value) => pathRefusal(root, (value as Arguments).path) };
}
