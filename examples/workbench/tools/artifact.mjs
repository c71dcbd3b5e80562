/** Documents that people can open: each a Markdown file below artifacts/. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { defineTool } from 'writ';

export default function artifact({ workspace }) {
  return defineTool({
    name: 'artifact_publish',
    description: 'Publishes a document under a name; the same name is replaced.',
    parameters: {
      type: 'object',
      properties: {
        name: { type: 'string', pattern: '^[a-z0-9][a-z0-9-]{0,63}$' },
        text: { type: 'string', minLength: 1 },
      },
      required: ['name', 'text'],
      additionalProperties: false,
    },
    capability: 'artifacts',
    access: 'write',
    repeat: 'idempotent',
    async execute({ name, text }) {
      await mkdir(join(workspace, 'artifacts'), { recursive: true });
      await writeFile(join(workspace, 'artifacts', `${name}.md`), text);
      return { published: `artifacts/${name}.md` };
    },
  });
}
