/** What a workspace keeps between sessions: one line for each lesson in knowledge.txt. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { defineTool } from 'writ';

export default function knowledge({ workspace }) {
  const file = join(workspace, 'knowledge.txt');
  const lines = async () => {
    try {
      return (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '');
    } catch (cause) {
      if (cause.code !== 'ENOENT') throw cause;
      return [];
    }
  };
  const parameters = (name) => ({
    type: 'object',
    properties: { [name]: { type: 'string', minLength: 1, maxLength: 500 } },
    required: [name],
    additionalProperties: false,
  });
  return [
    defineTool({
      name: 'knowledge_save',
      description: 'Keeps one lesson for later sessions. The same lesson is kept once.',
      parameters: parameters('lesson'),
      capability: 'knowledge',
      access: 'write',
      repeat: 'idempotent',
      async execute({ lesson }) {
        const line = lesson.replaceAll(/\s+/g, ' ').trim();
        const kept = new Set([...(await lines()), line]);
        await writeFile(file, `${[...kept].join('\n')}\n`);
        return { kept: kept.size };
      },
    }),
    defineTool({
      name: 'knowledge_search',
      description: 'The lessons that hold a word.',
      parameters: parameters('word'),
      capability: 'knowledge',
      access: 'read',
      async execute({ word }) {
        const wanted = word.toLowerCase();
        return { lessons: (await lines()).filter((line) => line.toLowerCase().includes(wanted)) };
      },
    }),
  ];
}
