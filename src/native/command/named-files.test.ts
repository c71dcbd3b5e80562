/** What a command names is found as a shell would read its words, by what lies there and never outside the workspace. */
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { sha256 } from '../../digest.ts';
import { namedFiles } from './named-files.ts';

let base: string;
let root: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'writ-named-')));
  root = join(base, 'workspace');
  mkdirSync(join(root, 'sub'), { recursive: true });
  for (const name of ['build.sh', 'a b.sh', 'sub/run.sh', 'sub/Makefile'])
    writeFileSync(join(root, name), name);
  writeFileSync(join(base, 'outside.sh'), 'outside');
  symlinkSync(join(base, 'outside.sh'), join(root, 'out.sh'));
  symlinkSync('build.sh', join(root, 'link.sh'));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const named = async (command: string, cwd?: string) =>
  (await namedFiles(root, command, cwd)).map(({ path }) => path);

test.each<[string, string | undefined, readonly string[]]>([
  ['sh build.sh', undefined, ['build.sh']],
  ['./build.sh && sh ./sub/run.sh;true', undefined, ['build.sh', 'sub/run.sh']],
  ['sh "a b.sh"', undefined, ['a b.sh']],
  ["sh 'a b.sh'", undefined, ['a b.sh']],
  ['sh a\\ b.sh', undefined, ['a b.sh']],
  [`sh -c 'cd sub; sh "run.sh"'`, undefined, ['sub/run.sh']],
  ['cd sub && sh run.sh', undefined, ['sub/run.sh']],
  ['sh ../build.sh', 'sub', ['build.sh']],
  ['sh run.sh', 'sub', ['sub/run.sh']],
  ['make --file=sub/Makefile -fsub/Makefile', undefined, ['sub/Makefile']],
  ['curl -d @build.sh', undefined, ['build.sh']],
  ['CONFIG=build.sh node', undefined, ['build.sh']],
  ['node <build.sh >build.sh', undefined, ['build.sh']],
  ['echo $(cat build.sh) `cat sub/run.sh`', undefined, ['build.sh', 'sub/run.sh']],
  ['sh link.sh build.sh', undefined, ['build.sh']],
  ['sh out.sh ../outside.sh /etc/passwd', undefined, []],
  ['sh $NAME *.sh missing.sh', undefined, []],
  ['', undefined, []],
  [`sh build.sh 'never closed "`, undefined, ['build.sh']],
])('%s in %s', async (command, cwd, paths) => {
  expect(await named(command, cwd)).toEqual(paths);
});

test('an absolute path within the workspace is one of it, and the digest is that of the bytes', async () => {
  expect(await namedFiles(root, `sh ${join(root, 'build.sh')}`)).toEqual([
    { path: 'build.sh', digest: sha256('build.sh') },
  ]);
});

test('a file that is too large to be read each time is known by its size and time', async () => {
  const path = join(root, 'large.bin');
  writeFileSync(path, '');
  truncateSync(path, 65 * 1024 * 1024);
  utimesSync(path, 1, 1);
  const [before] = await namedFiles(root, 'cat large.bin');
  expect(await namedFiles(root, 'cat large.bin')).toEqual([before]);
  appendFileSync(path, 'x');
  utimesSync(path, 1, 1);
  const [longer] = await namedFiles(root, 'cat large.bin');
  utimesSync(path, 2, 2);
  const [later] = await namedFiles(root, 'cat large.bin');
  expect(new Set([before, longer, later].map((one) => one?.digest)).size).toBe(3);
});
