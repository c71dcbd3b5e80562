/** Messages between Writ and a supervisor: one JSON object a line, within a bound, whatever arrives. */

/** Of one line, its end included. Input is sent in base64, a third larger than it is. */
export const frameBytesMax = 2 * 1024 * 1024;

export type Frame = Readonly<Record<string, unknown>>;

export function frameText(frame: Frame): string {
  return `${JSON.stringify(frame)}\n`;
}

/** The object that one line is, or null. */
export function readFrame(line: string): Frame | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Frame) : null;
  } catch {
    return null;
  }
}

/**
 * Takes bytes as they come and hands over each line as its object, or null for a line that is none. A line beyond the
 * bound is told once as null, and everything after it is dropped: what follows could not be told apart.
 */
export function frameReader(take: (frame: Frame | null) => void, bytesMax = frameBytesMax) {
  let parts: Buffer[] = [];
  let size = 0;
  let broken = false;
  return (chunk: Buffer): void => {
    let rest = chunk;
    while (!broken) {
      const end = rest.indexOf(0x0a);
      const part = end < 0 ? rest : rest.subarray(0, end);
      size += part.length;
      if (size > bytesMax) {
        broken = true;
        parts = [];
        take(null);
        return;
      }
      parts.push(part);
      if (end < 0) return;
      const line = Buffer.concat(parts).toString('utf8');
      parts = [];
      size = 0;
      rest = rest.subarray(end + 1);
      take(readFrame(line));
    }
  };
}
