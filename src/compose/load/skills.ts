/** Skill folders: their names and descriptions, and a digest of all their files; nothing else of them is kept. */
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { basename, join, relative, sep } from 'node:path';
import { jsonDigest, sha256 } from '../../digest.ts';
import { systemCode } from '../../errors.ts';
import { ComposeError } from '../errors.ts';
import type { Skill, SkillOrigin } from '../skills.ts';
import { list } from './folder.ts';
import { splitHeader } from './fragment.ts';
import { readSource } from './located.ts';
import { readForm, skillHeaderSchema } from './schema.ts';
import { YamlMap } from './yaml.ts';

const filesMax = 1_000;
const bytesMax = 32 * 1024 * 1024;
const namePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/**
 * Every skill below a folder, in the order of their names; none where there is no such folder. A folder without SKILL.md
 * is an error, because its author meant a skill. Names that begin with a dot are passed over.
 */
export async function readSkills(folder: string, origin: SkillOrigin): Promise<Skill[]> {
  const names = ((await list(folder)) ?? []).filter((name) => !name.startsWith('.'));
  const skills: Skill[] = [];
  for (const name of names) {
    const path = join(folder, name);
    if ((await stat(path)).isDirectory()) skills.push(await readSkill(path, origin));
  }
  return skills;
}

/**
 * One skill. Throws `compose.bad-skill` for a folder that is none, for a file that leads out of it, and for more than
 * 1,000 files or 32 MiB; a located error for a header that is not as the form asks.
 */
export async function readSkill(folder: string, origin: SkillOrigin): Promise<Skill> {
  const real = await realpath(folder).catch((cause: unknown) => {
    throw bad(folder, `cannot be opened (${systemCode(cause) ?? 'no code'})`, 'Check the path.');
  });
  const digests = await fileDigests(real, folder);
  if (!digests.some(([path]) => path === 'SKILL.md'))
    throw bad(folder, 'holds no SKILL.md', 'Write SKILL.md with name and description in its header.');
  const source = await readSource(join(folder, 'SKILL.md'));
  const { header, headerOffset } = splitHeader(source);
  const map = new YamlMap(source, header, headerOffset, 'the header between the --- lines');
  const { name, description } = readForm(skillHeaderSchema, map);
  if (name !== basename(folder) && name !== basename(real)) {
    throw source.error(
      'compose.bad-skill',
      map.valueOffset(['name']),
      `the skill is called '${name}', and its folder ${basename(folder)}`,
      'Give both the same name.',
    );
  }
  if (!namePattern.test(name))
    throw bad(folder, `has the name '${name}'`, 'Use up to 64 letters, digits, dots, _ and -.');
  return { name, description, origin, folder: real, digest: jsonDigest(digests) };
}

/** What a skill says below the header of its SKILL.md. Throws a located error for one that is gone or has another form. */
export async function readSkillText({ folder }: Skill): Promise<string> {
  const source = await readSource(join(folder, 'SKILL.md'));
  return source.text.slice(splitHeader(source).bodyOffset);
}

/** Paths with the digests of their bytes, in the order of the paths. */
async function fileDigests(real: string, folder: string): Promise<[string, string][]> {
  const digests: [string, string][] = [];
  let bytes = 0;
  const waiting = [real];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    for (const entry of await readdir(at, { withFileTypes: true })) {
      const path = join(at, entry.name);
      const inside = relative(real, path).split(sep).join('/');
      if (entry.isDirectory()) waiting.push(path);
      else {
        const target = await realpath(path).catch(() => '');
        const isFile = target.startsWith(real + sep) && (await stat(target)).isFile();
        if (!isFile) throw bad(folder, `holds ${inside}, which is no file inside it`, 'Take it out.');
        const content = await readFile(target);
        bytes += content.length;
        digests.push([inside, sha256(content)]);
      }
      if (digests.length + waiting.length > filesMax || bytes > bytesMax)
        throw bad(folder, `holds more than ${filesMax} files or ${bytesMax} bytes`, 'Make it smaller.');
    }
  }
  return digests.sort(([a], [b]) => (a < b ? -1 : 1));
}

function bad(folder: string, what: string, next: string): ComposeError {
  return new ComposeError('compose.bad-skill', `A skill was expected at ${folder}, which ${what}.`, {
    next,
    details: { folder },
  });
}
