/** The files that a call names, as a person is told of them before an approval. */
import type { Ticket } from '../../protocol/ticket.ts';
import { visible } from './visible.ts';

/** One line, or none where the call names no file. */
export function boundFileLines({ files = [] }: Ticket): readonly string[] {
  if (files.length === 0) return [];
  const names = files.map(({ path, digest }) => `${visible(path)} (sha256 ${digest.slice(0, 12)})`);
  return [`Only with these files as they are: ${names.join(', ')}`];
}
