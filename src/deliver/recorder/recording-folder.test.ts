/** A recording on a real disk: bytes, permissions, and nothing half written. */
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { posted } from './recorded.cases.ts';
import { openRecordingFolder } from './recording-folder.ts';

let at: string;
beforeEach(async () => {
  at = await mkdtemp(join(tmpdir(), 'writ-recording-'));
});
afterEach(() => rm(at, { recursive: true, force: true }));

test('bodies byte for byte, a description that names them, an overview; all for the user alone', async () => {
  const folder = await openRecordingFolder(join(at, 'new'));
  const bytes = Buffer.from([0, 255, 10, 13, 128]);
  await folder.keep(posted('/v1/x', null, { bytes }), { kind: 'other' });
  await folder.keep({ ...posted('/v1/x', {}, { number: 2 }), response: null }, { kind: 'other' });
  await folder.finish({ exchanges: 2 });
  expect((await readdir(join(at, 'new'))).sort()).toEqual([
    '0001.json',
    '0001.request',
    '0001.response',
    '0002.json',
    '0002.request',
    'recording.json',
  ]);
  expect((await readFile(join(at, 'new/0001.request'))).equals(bytes)).toBe(true);
  expect(JSON.parse(await readFile(join(at, 'new/0001.json'), 'utf8'))).toMatchObject({
    number: 1,
    path: '/v1/x',
    request: { body: { file: '0001.request', bytesKept: 5, bytesSeen: 5, complete: true } },
    response: { status: 200, body: { file: '0001.response' } },
    reading: { kind: 'other' },
  });
  expect((await stat(join(at, 'new'))).mode & 0o777).toBe(0o700);
  expect((await stat(join(at, 'new/0001.request'))).mode & 0o777).toBe(0o600);
});

test('a folder with something in it is refused and left as it is', async () => {
  await writeFile(join(at, 'mine'), 'x');
  await expect(openRecordingFolder(at)).rejects.toMatchObject({ code: 'recorder.folder-not-empty' });
  expect(await readdir(at)).toEqual(['mine']);
});

test('a place that cannot be written is told', async () => {
  await writeFile(join(at, 'file'), 'x');
  await expect(openRecordingFolder(join(at, 'file/below'))).rejects.toMatchObject({
    code: 'recorder.unwritable',
    details: { code: 'ENOTDIR' },
  });
});

test('where a file cannot get its name, no half of it stays', async () => {
  const folder = await openRecordingFolder(join(at, 'new'));
  await mkdir(join(at, 'new/0001.response/in-the-way'), { recursive: true });
  const exchange = posted('/v1/x', {});
  await expect(folder.keep(exchange, { kind: 'other' })).rejects.toMatchObject({
    code: 'recorder.unwritable',
  });
  expect((await readdir(join(at, 'new'))).sort()).toEqual(['0001.request', '0001.response']);
});
