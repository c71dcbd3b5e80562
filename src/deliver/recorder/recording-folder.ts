/** A recording on disk: the raw bytes of each exchange and what they say, each file whole or not there. */
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, systemCode } from '../../errors.ts';
import { RecorderError } from './errors.ts';
import type { Exchange } from './exchange.ts';
import type { ReadRequest } from './model-request.ts';

export interface RecordingFolder {
  /** Writes one exchange: its bodies first, then `NNNN.json`, so that what this names is there. */
  keep(exchange: Exchange, reading: ReadRequest): Promise<void>;
  /** Writes `recording.json`, the overview. */
  finish(overview: unknown): Promise<void>;
}

/**
 * Makes the folder, or takes an empty one; nobody but the user may read it, for bodies hold whatever was said. Throws
 * `recorder.folder-not-empty` and `recorder.unwritable`; so do the methods the latter.
 */
export async function openRecordingFolder(folder: string): Promise<RecordingFolder> {
  const found = await writing(folder, async () => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return readdir(folder);
  });
  if (found.length > 0) {
    throw new RecorderError(
      'recorder.folder-not-empty',
      `Expected an empty folder, but ${folder} holds ${found[0]}.`,
      {
        next: 'Name a folder that does not exist yet.',
        details: { folder },
      },
    );
  }
  const put = (name: string, content: string | Uint8Array) =>
    writing(join(folder, name), () => writeWhole(join(folder, name), content));
  return {
    async keep(exchange, reading) {
      const name = String(exchange.number).padStart(4, '0');
      const { request, response, ...rest } = exchange;
      await put(`${name}.request`, request.body.bytes);
      if (response !== null) await put(`${name}.response`, response.body.bytes);
      const described = {
        ...rest,
        request: { headers: request.headers, body: bodyFile(`${name}.request`, request.body) },
        response:
          response === null ? null : { ...response, body: bodyFile(`${name}.response`, response.body) },
        reading,
      };
      await put(`${name}.json`, `${JSON.stringify(described, null, 2)}\n`);
    },
    finish: (overview) => put('recording.json', `${JSON.stringify(overview, null, 2)}\n`),
  };
}

function bodyFile(file: string, { bytes, bytesSeen, complete }: Exchange['request']['body']): unknown {
  return { file, bytesKept: bytes.length, bytesSeen, complete };
}

async function writing<T>(path: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (cause) {
    throw new RecorderError('recorder.unwritable', `${path} cannot be written: ${messageOf(cause)}.`, {
      next: 'Name a folder in which you may write, on a disk with room.',
      details: { path, code: systemCode(cause) ?? null },
      cause,
    });
  }
}

// Beside its place first, then moved there: a reader never sees half a file, and a kill leaves none under the name.
async function writeWhole(path: string, content: string | Uint8Array): Promise<void> {
  const part = `${path}.part`;
  try {
    const file = await open(part, 'wx', 0o600);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}
