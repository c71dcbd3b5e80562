/** The file of a database as both sides of the query process know it: where it lies, and which file it is. */
import type { Stats } from 'node:fs';

export interface DatabaseFile {
  /** With every link resolved. */
  readonly path: string;
  /** Tells it from another file that lies at the same path later. */
  readonly identity: string;
}

/** Which file this is, whatever its name. */
export function identityOf({ dev, ino }: Stats): string {
  return `${dev}:${ino}`;
}
