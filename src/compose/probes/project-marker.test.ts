import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, realpathSync, statSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, parse } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { folderWith } from '../testing.cases.ts';
import { type Disk, findMarker, foldersMax, projectMarker } from './project-marker.ts';

const options = { files: ['dbt_project.yml', 'dbt_project.yaml'], skip: ['node_modules', 'target'] };
const source = 'probe project-marker';
const yes = { known: true, value: true, source };
const no = { known: true, value: false, source };
const unknown = (part: string) => ({ known: false, reason: expect.stringContaining(part), source });

const disk: Disk = {
  realpath: async (path) => realpathSync(path),
  stat: async (path) => statSync(path, { bigint: true }),
  list: async (path) => readdirSync(path, { withFileTypes: true }),
};

/** The real disk with a failure wherever a path ends in `at`. */
function failing(question: keyof Disk, at: string, code: string | undefined): Disk {
  const fail = (path: string) => {
    if (path.endsWith(at)) throw Object.assign(new Error('failed'), code === undefined ? {} : { code });
  };
  const wrap = <K extends keyof Disk>(name: K): Disk[K] =>
    (async (path: string) => {
      if (name === question) fail(path);
      return disk[name](path);
    }) as Disk[K];
  return { realpath: wrap('realpath'), stat: wrap('stat'), list: wrap('list') };
}

/** A disk that notes the folders it was asked to list. */
function watching(on: Disk, listed: string[]): Disk {
  return {
    ...on,
    list: (path) => {
      listed.push(path);
      return on.list(path);
    },
  };
}

const find = (candidates: [string, ...string[]], on = disk) => findMarker(candidates, options, on);
const root = parse(process.cwd()).root;
const clean = () => folderWith({ 'a/b/c/d/e/f/g.txt': '', 'readme.md': '' });
const project = () => folderWith({ 'dbt_project.yml': '', 'models/staging/x.sql': '' });

describe('a marker', () => {
  test.each([
    'dbt_project.yml',
    'dbt_project.yaml',
    'one/dbt_project.yml',
    'one/two/three/dbt_project.yml',
    'one/two/three/four/five/six/dbt_project.yml',
    '.hidden/dbt_project.yml',
  ])('at %s is found', async (path) => {
    expect(await find([folderWith({ [path]: '' })])).toEqual(yes);
  });

  test.each(['node_modules/x/dbt_project.yml', 'a/target/dbt_project.yml', '.git/dbt_project.yml'])(
    'at %s is skipped',
    async (path) => {
      expect(await find([folderWith({ [path]: '' })])).toEqual(no);
    },
  );

  test('above the candidate is found, one level or ten', async () => {
    const folder = folderWith({ 'dbt_project.yml': '', '1/2/3/4/5/6/7/8/9/10/x': '' });
    expect(await find([join(folder, '1')])).toEqual(yes);
    expect(await find([join(folder, '1/2/3/4/5/6/7/8/9/10')])).toEqual(yes);
  });

  test('is found through a linked candidate, a linked child and a linked file', async () => {
    const folder = folderWith({ x: '' });
    symlinkSync(join(project(), 'models'), join(folder, 'inside'));
    expect(await find([join(folder, 'inside')])).toEqual(yes);
    const parent = folderWith({ x: '' });
    symlinkSync(project(), join(parent, 'child'));
    expect(await find([parent])).toEqual(yes);
    const linked = folderWith({ 'real.yml': '' });
    symlinkSync('real.yml', join(linked, 'dbt_project.yml'));
    expect(await find([linked])).toEqual(yes);
  });

  test('of one candidate is enough, whatever the others are', async () => {
    expect(await find([project(), '/does/not/exist'])).toEqual(yes);
    expect(await find(['/does/not/exist', clean(), project()])).toEqual(yes);
  });
});

describe('no marker', () => {
  test('in a tree six deep', async () => {
    expect(await find([clean()])).toEqual(no);
    expect(await find([folderWith({})])).toEqual(no);
  });

  test('where a folder has its name', async () => {
    expect(await find([folderWith({ 'dbt_project.yml/x': '' })])).toEqual(no);
  });

  test('where links lead to a file, to nothing or in a circle, beside a FIFO and a socket', async () => {
    const folder = folderWith({ 'file.txt': '', 'sub/x': '' });
    symlinkSync('file.txt', join(folder, 'to-file'));
    symlinkSync('nowhere', join(folder, 'dangling'));
    symlinkSync('nowhere', join(folder, 'dbt_project.yml'));
    symlinkSync('..', join(folder, 'sub/up'));
    symlinkSync('itself', join(folder, 'other'));
    execFileSync('mkfifo', [join(folder, 'fifo')]);
    execFileSync('mkfifo', [join(folder, 'dbt_project.yaml')]);
    const server = createServer().listen(join(folder, 'socket'));
    await new Promise((resolve) => server.once('listening', resolve));
    try {
      expect(await find([folder])).toEqual(no);
    } finally {
      server.close();
    }
  });

  test('a candidate under two names is searched once', async () => {
    const folder = clean();
    symlinkSync(folder, join(folder, 'again'));
    const listed: string[] = [];
    expect(await find([folder, join(folder, 'again'), folder], watching(disk, listed))).toEqual(no);
    expect(listed.filter((path) => path === folder)).toHaveLength(1);
  });

  test('an incomplete partner has no veto', async () => {
    const locked = clean();
    expect(await find([clean(), '/does/not/exist'])).toEqual(no);
    expect(await find([clean(), root])).toEqual(no);
    expect(await find([clean(), locked], failing('list', locked, 'EACCES'))).toEqual(no);
  });

  test('a folder that vanishes or turns into a file while it is listed is nothing', async () => {
    for (const code of ['ENOENT', 'ENOTDIR']) {
      expect(await find([clean()], failing('list', 'a/b', code))).toEqual(no);
    }
  });
});

describe('could not tell', () => {
  test('without a candidate', async () => {});

  test('for a missing folder, a file and the root of the filesystem', async () => {
    expect(await find(['/does/not/exist'])).toEqual(unknown('ENOENT'));
    expect(await find([join(clean(), 'readme.md')])).toEqual(unknown('is not a folder'));
    expect(await find([root])).toEqual(unknown('root of the filesystem'));
  });

  test('the root is never listed, a link to it neither', async () => {
    const folder = clean();
    symlinkSync(root, join(folder, 'everything'));
    const listed: string[] = [];
    expect(await find([root, folder], watching(disk, listed))).toEqual(unknown('root of the filesystem'));
    expect(listed.filter((path) => path === root || path.endsWith('everything'))).toEqual([]);
  });

  test.each([
    ['stat', 'a/b/dbt_project.yml', 'EIO'],
    ['stat', 'a/b', 'EACCES'],
    ['list', 'a/b', 'EACCES'],
    ['stat', 'dbt_project.yaml', 'ELOOP'],
  ] as const)('where %s of %s answers %s', async (question, at, code) => {
    expect(await find([clean()], failing(question, at, code))).toEqual(unknown(code));
  });

  test('where an error has no code', async () => {
    expect(await find([clean()], failing('list', 'a', undefined))).toEqual(unknown('without a code'));
  });

  test('a marker behind what cannot be listed is still asked for by name', async () => {
    const folder = folderWith({ 'a/dbt_project.yml': '' });
    expect(await find([folder], failing('list', '/a', 'EACCES'))).toEqual(yes);
  });

  test(`beyond ${foldersMax} folders, and not at them`, async () => {
    const folder = folderWith({});
    for (let i = 1; i < foldersMax; i += 1) mkdirSync(join(folder, `d${i}`));
    expect(await find([folder])).toEqual(no);
    mkdirSync(join(folder, 'd0'));
    expect(await find([folder])).toEqual(unknown('more than 2000 folders'));
  });

  test('the order on the disk decides nothing', async () => {
    const folder = folderWith({ 'b/x': '', 'a/x': '', 'c/d/x': '', 'c/a/x': '' });
    const reversed: Disk = { ...disk, list: async (path) => [...(await disk.list(path))].reverse() };
    const order: string[] = [];
    await find([folder], watching(disk, order));
    await find([folder], watching(reversed, order));
    expect(order.slice(0, order.length / 2)).toEqual(order.slice(order.length / 2));
  });
});

describe('the probe', () => {
  afterEach(() => expect.hasAssertions());

  test('searches the workspace and the repository around it', async () => {
    const folder = folderWith({
      '.git/HEAD': 'ref: refs/heads/main\n',
      'dbt/dbt_project.yml': '',
      'docs/x': '',
    });
    const context = { workspace: join(folder, 'docs'), env: {} };
    expect(await projectMarker.run(options, context)).toEqual(yes);
    expect(await projectMarker.run({ files: ['package.json'] }, context)).toEqual(no);
    expect(await projectMarker.run(options, { workspace: null, env: {} })).toEqual(unknown('no workspace'));
  });

  test.each([
    {},
    { files: [] },
    { files: ['a/b'] },
    { files: ['..'] },
    { files: 'a' },
    { files: ['a'], skip: 3 },
    { files: ['a'], depth: 4 },
  ])('refuses the options %j', async (bad) => {
    await expect(projectMarker.run(bad, { workspace: '.', env: {} })).rejects.toMatchObject({
      code: 'compose.probe-options',
    });
  });

  test('stops at an abort', async () => {
    const context = { workspace: clean(), env: {}, signal: AbortSignal.abort(new Error('enough')) };
    await expect(projectMarker.run(options, context)).rejects.toThrow('enough');
  });
});
