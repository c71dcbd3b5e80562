/** The build: no source is left out of dist/, whatever the incremental cache remembers. */
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = mkdtempSync(join(tmpdir(), 'writ-build-'));
const ours = resolve(import.meta.dirname, '..');

beforeAll(() => {
  for (const folder of ['scripts', 'node_modules', 'src']) mkdirSync(join(root, folder));
  copyFileSync(join(ours, 'scripts/build.mjs'), join(root, 'scripts/build.mjs'));
  writeFileSync(join(root, 'scripts/build-data.mjs'), '');
  symlinkSync(join(ours, 'node_modules/typescript'), join(root, 'node_modules/typescript'));
  copyFileSync(join(ours, 'tsconfig.build.json'), join(root, 'tsconfig.build.json'));
  const compilerOptions = { target: 'es2022', module: 'nodenext', noLib: true, noEmit: true, types: [] };
  writeFileSync(join(root, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
  writeFileSync(
    join(root, 'src/lib.d.ts'),
    'interface Array<T> {} interface Boolean {} interface CallableFunction {} interface Function {} interface IArguments {} interface NewableFunction {} interface Number {} interface Object {} interface RegExp {} interface String {}\n',
  );
  writeFileSync(join(root, 'src/one.ts'), 'export const one = 1;\n');
  writeFileSync(join(root, 'src/one.test.ts'), 'export const tested = 1;\n');
  writeFileSync(join(root, 'package.json'), '{"type":"module"}');
});

afterAll(() => rmSync(root, { recursive: true, force: true }));

function build() {
  return spawnSync(process.execPath, [join(root, 'scripts/build.mjs')], { encoding: 'utf8' });
}

test('an output that went missing after it was remembered is written again', { timeout: 60_000 }, () => {
  expect(build()).toMatchObject({ status: 0, stdout: '', stderr: '' });
  const outputs = ['dist/one.js', 'dist/one.d.ts'].map((name) => join(root, name));
  for (const output of outputs) {
    rmSync(output);
    expect(build().status).toBe(0);
    expect(outputs.map((one) => existsSync(one))).toEqual([true, true]);
  }
  expect(existsSync(join(root, 'dist/one.test.js'))).toBe(false);
});

test('a source that the compiler does not write ends the build with its name', { timeout: 60_000 }, () => {
  const unbuilt = JSON.stringify({
    extends: './tsconfig.json',
    compilerOptions: { outDir: 'dist', rootDir: 'src', noEmit: false, declaration: true },
    files: ['src/lib.d.ts', 'src/one.ts'],
  });
  writeFileSync(join(root, 'tsconfig.build.json'), unbuilt);
  writeFileSync(join(root, 'src/two.ts'), 'export const two = 2;\n');
  expect(build()).toMatchObject({ status: 1, stderr: expect.stringContaining('left out two.ts') });
});
