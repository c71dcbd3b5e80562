/** Writes a file of ours that others may read at the same time. */
import { randomUUID } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';

/** A file that is private and whole at every moment. Its folder has to be there. */
export async function writeWhole(path: string, content: string | Uint8Array): Promise<void> {
  const part = `${path}.${randomUUID()}.part`;
  try {
    await writeFile(part, content, { mode: 0o600, flag: 'wx' });
    await rename(part, path);
  } finally {
    await rm(part, { force: true });
  }
}
