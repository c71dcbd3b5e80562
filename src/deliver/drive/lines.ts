/** Cuts arriving text into lines. Only a line feed ends one: JSON may hold every other character that looks like an end. */

/** Characters of one line; a longer one is left out whole, for half a line of JSON says nothing. */
const lineCharsMax = 16 * 1024 * 1024;

export interface Lines {
  /** The lines that are whole now, without their ends. */
  add(text: string): readonly string[];
  /** The last line, where no line feed stood behind it. */
  end(): readonly string[];
  /** How many were too long. */
  dropped(): number;
}

export function openLines(charsMax: number = lineCharsMax): Lines {
  // Kept in pieces: to join at every piece would make a long line cost the square of its length.
  let pieces: string[] = [];
  let held = 0;
  let dropped = 0;
  const hold = (text: string) => {
    held += text.length;
    if (held <= charsMax) pieces.push(text);
    else pieces = [];
  };
  const close = (): readonly string[] => {
    const line = pieces.join('');
    const tooLong = held > charsMax;
    pieces = [];
    held = 0;
    if (tooLong) dropped += 1;
    return tooLong ? [] : [line.endsWith('\r') ? line.slice(0, -1) : line];
  };
  return {
    add(text) {
      const parts = text.split('\n');
      const last = parts.pop() ?? '';
      const lines = parts.flatMap((part) => {
        hold(part);
        return close();
      });
      hold(last);
      return lines;
    },
    end: () => (held === 0 ? [] : close()),
    dropped: () => dropped,
  };
}
