/** Where vendors let whoever runs a machine speak to every user of it: above all that a user or we can say. */
import { posix, win32 } from 'node:path';
import type { AmbientFile } from '../protocol/delivery.ts';

/** The folder of a vendor, by platform. */
export interface MachineFolder {
  readonly darwin: string;
  readonly win32: string;
  /** Of every other platform. */
  readonly linux: string;
}

/** The files of such a folder that are read, each with what it was seen to touch. */
export function machineFiles(
  folder: MachineFolder,
  platform: NodeJS.Platform,
  files: { readonly [name: string]: AmbientFile['touches'] },
): readonly AmbientFile[] {
  const here = platform === 'darwin' || platform === 'win32' ? folder[platform] : folder.linux;
  const { join } = platform === 'win32' ? win32 : posix;
  return Object.entries(files).map(([name, touches]) => ({
    path: join(here, name),
    where: 'machine',
    touches,
  }));
}
