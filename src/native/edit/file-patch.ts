/** `file_patch`: exact replacements in one text file of the workspace, all of them or none. */
import { defineTool, failed } from '../tool/define-tool.ts';
import { readOptions } from '../tool/options.ts';
import { pathParameter, textOf, workspaceRoot } from '../tool/project-read.ts';
import type { Tool } from '../tool/tool.ts';
import { isWhole } from '../tool/whole-text.ts';
import { fileBytesMax, fileKey, notText, pathRefusal, targetOf, writeTarget } from './write-beneath.ts';

export interface FilePatchOptions {
  /** The folder that may be changed. */
  readonly workspace: string;
}

interface Edit {
  readonly old: string;
  readonly new: string;
}

interface Arguments {
  readonly path: string;
  readonly edits: readonly Edit[];
}

/** Makes the tool. The workspace must exist; its links are resolved once, here. */
export function filePatch(options: FilePatchOptions): Tool {
  const { workspace } = readOptions('file_patch', options, { workspace: 'string' });
  const root = workspaceRoot('file_patch', workspace);
  const tool = defineTool<Arguments>({
    name: 'file_patch',
    description:
      'Changes a UTF-8 text file of the workspace: each edit replaces old, which must occur exactly once, by new, in ' +
      'order. If one does not fit, nothing is written. Returns path, edits, bytes.',
    parameters: {
      type: 'object',
      properties: {
        path: pathParameter,
        edits: {
          type: 'array',
          minItems: 1,
          maxItems: 100,
          items: {
            type: 'object',
            properties: {
              old: {
                type: 'string',
                minLength: 1,
                description: 'Letter for letter, blanks and line ends too.',
              },
              new: { type: 'string' },
            },
            required: ['old', 'new'],
            additionalProperties: false,
          },
        },
      },
      required: ['path', 'edits'],
      additionalProperties: false,
    },
    capability: 'edit',
    access: 'write',
    // A second call would replace what the first one wrote, or fit nowhere.
    repeat: 'once',
    repeatable: true,
    look: 'Read the file with project_read: either all edits are in it or none.',
    effectKey: ({ path }) => fileKey(root, path),
    async execute({ path, edits }) {
      for (const [i, edit] of edits.entries())
        for (const name of ['old', 'new'] as const)
          if (!isWhole(edit[name])) return notText(`${name} of edit ${i + 1}`);
      const target = await targetOf(root, path);
      if (!target.ok) return failed(target.code, target.message);
      if (target.before === null)
        return failed('tool.not-found', `There is no ${path}. Make it with file_write.`);
      const text = textOf(target.before);
      if (text === null) return failed('tool.not-readable', `${path} is no UTF-8 text, so it is not edited.`);
      const patched = applyEdits(text, edits);
      if (!patched.ok) return failed('edit.misfit', patched.message);
      const bytes = Buffer.from(patched.text);
      if (bytes.length > fileBytesMax)
        return failed(
          'edit.misfit',
          `The file would hold ${bytes.length} bytes; at most ${fileBytesMax} are written.`,
        );
      const written = await writeTarget(root, path, target, bytes);
      return written.ok
        ? { path, edits: edits.length, bytes: bytes.length }
        : failed(written.code, written.message);
    },
  });
  return { ...tool, preflight: (value) => pathRefusal(root, (value as Arguments).path) };
}

/** All edits in order, or what is wrong with the first that does not fit. */
export function applyEdits(
  text: string,
  edits: readonly Edit[],
): { readonly ok: true; readonly text: string } | { readonly ok: false; readonly message: string } {
  let now = text;
  for (const [i, edit] of edits.entries()) {
    const at = now.indexOf(edit.old);
    const place = `Edit ${i + 1} of ${edits.length}`;
    if (at < 0)
      return {
        ok: false,
        message: `${place}: its old text does not occur. Read the file and copy it exactly.`,
      };
    // From the next character on: occurrences that overlap leave open which one is meant, too.
    if (now.indexOf(edit.old, at + 1) >= 0)
      return {
        ok: false,
        message: `${place}: its old text occurs more than once. Take in more of what is around it.`,
      };
    now = now.slice(0, at) + edit.new + now.slice(at + edit.old.length);
  }
  return { ok: true, text: now };
}
