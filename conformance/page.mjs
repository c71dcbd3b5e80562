// The page of all measurements that are kept, written anew from them.
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pinned } from './programs.mjs';

/** Writes `harnesses.md` of a folder that holds a `NAME.json` for each measured program. */
export async function writePage(folder) {
  const kept = [...pinned, 'acp'].filter((name) => existsSync(join(folder, `${name}.json`)));
  const all = await Promise.all(
    kept.map(async (name) => JSON.parse(await readFile(join(folder, `${name}.json`), 'utf8'))),
  );
  const sections = all.map(
    ({ harness, on, lines }) =>
      `## ${harness}\n\n${on}; all of it: [${harness}.json](${harness}.json)\n\n\`\`\`text\n${lines}\n\`\`\`\n`,
  );
  const text = [
    '# What agent programs do with a prompt',
    '',
    'Measured by `npm run test:conformance` from the bytes that reached the recorder, on a scripted model. The table of a',
    "program holds for one family of models (`default`: its own choice); the lines of the others name the vendor's own size",
    'and what of it stays beside a text of each intent. What a program alters is refused by Writ for such texts. Times are',
    'of a machine under other load.',
    '',
    ...sections,
  ].join('\n');
  await writeFile(join(folder, 'harnesses.md'), text);
}
