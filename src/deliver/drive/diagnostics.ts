/** What a program says on stderr, in bounded room: how it began, how it ended, and how much stood between. */

const headChars = 4_096;
const allChars = 65_536;

export interface Diagnostics {
  add(text: string): void;
  text(): string;
}

export function openDiagnostics(): Diagnostics {
  let head = '';
  let tail = '';
  let omitted = 0;
  return {
    add(text) {
      const room = headChars - head.length;
      head += text.slice(0, room);
      tail += text.slice(Math.max(0, room));
      const beyond = tail.length - (allChars - headChars);
      if (beyond <= 0) return;
      omitted += beyond;
      tail = tail.slice(beyond);
    },
    text: () => (omitted === 0 ? head + tail : `${head}\n[${omitted} characters left out]\n${tail}`),
  };
}

const shortCharsMax = 300;

/** The end of a text as one line that a message can hold: without colours, control characters and blank runs. */
export function shortText(text: string): string {
  const line = text
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out.
    .replace(/\u001B\[[0-9;?]*[ -/]*[@-~]/g, '')
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim();
  return line.length <= shortCharsMax ? line : `… ${line.slice(-shortCharsMax)}`;
}
