/** What a model reads of a command: its state in a head that no output can forge, then the output between marks that it cannot hold. */
import { sha256 } from '../digest.ts';
import { commandIdForm } from './locator.ts';
import { type CommandStatus, exitCodeOf, type ProcessName, type StreamPage } from './sandbox.ts';

/** What the head of a text says; `absent` where there is none, `invalid` where it is not one that was written here. */
export type BannerState =
  | { readonly state: 'absent' | 'invalid' }
  | { readonly state: 'running' | 'lost'; readonly command: string }
  | { readonly state: 'ended'; readonly command: string; readonly exitCode: number | null };

/** What is shown: of each stream one part, or several with something left out between them. */
export interface Shown {
  readonly status: CommandStatus;
  readonly stdout: readonly StreamPage[];
  readonly stderr: readonly StreamPage[];
}

/** The whole text. `notes` are sentences of our own that stand in the head. */
export function bannerText(command: string, shown: Shown, notes: readonly string[] = []): string {
  const streams = [
    ['stdout', shown.stdout],
    ['stderr', shown.stderr],
  ] as const;
  const mark = markFor(streams.flatMap(([, pages]) => pages.map(({ text }) => text)).join(''));
  const head = [
    `[command ${command} ${stateText(shown.status)}]`,
    `[output ${mark} ${streams.map(([name, pages]) => placesText(name, pages)).join(' ')}]`,
    ...notes.map((note) => `[note ${note.replace(/[\r\n\]]+/g, ' ')}]`),
  ];
  const parts = streams.flatMap(([name, pages]) =>
    pages
      .filter(({ text }) => text !== '')
      .map(({ text, from, next }) => `[${mark} ${name} ${from}-${next}]\n${text}\n`),
  );
  return `${head.join('\n')}\n${parts.join('')}[${mark} end]`;
}

// A plus says that more follows, or may yet.
function placesText(name: string, pages: readonly StreamPage[]): string {
  const places = pages.map(({ from, next }) => `${from}-${next}`);
  return `${name}=${places.join(',')}${pages.at(-1)?.eof === true ? '' : '+'}`;
}

function stateText(status: CommandStatus): string {
  switch (status.state) {
    case 'running':
    case 'idle':
      return 'running';
    case 'ended':
      return `ended exit=${exitCodeOf(status.receipt) ?? 'unseen'}`;
    case 'lost':
    case 'absent':
      return 'lost';
  }
}

/** The sentences that belong to how a command ended. */
export function endNotes(status: CommandStatus): readonly string[] {
  if (status.state === 'lost')
    return [
      'What watched it is gone, and it may still be running. Do not start it again; cancel it to be sure.',
    ];
  if (status.state !== 'ended') return [];
  const { by, refusal, leftovers, survivors, stdout, stderr } = status.receipt;
  const dropped = stdout.dropped + stderr.dropped;
  return [
    ...(refusal === null ? [] : [`It was never executed: ${refusal}`]),
    ...(by === 'cancel' ? ['It was cancelled.'] : []),
    ...(by === 'lifetime' ? ['It was ended because its lifetime was over.'] : []),
    ...(by === 'never-released' ? ['It was never executed.'] : []),
    ...(leftovers.length === 0 ? [] : [`It left processes behind, which were ended: ${names(leftovers)}.`]),
    ...(survivors.length === 0 ? [] : [`These could not be ended and still run: ${names(survivors)}.`]),
    ...(dropped === 0 ? [] : [`${dropped} bytes of output beyond the bound were not kept.`]),
  ];
}

function names(processes: readonly ProcessName[]): string {
  const shown = processes.slice(0, 8).map(({ pid, name }) => `${name} (${pid})`);
  return processes.length > 8 ? `${shown.join(', ')} and ${processes.length - 8} more` : shown.join(', ');
}

// Taken from the output itself and looked for in it, so that it cannot stand there, and the same output reads the same.
function markFor(output: string): string {
  for (let digest = sha256(output); ; digest = sha256(digest)) {
    const mark = digest.slice(0, 12);
    if (!output.includes(mark)) return mark;
  }
}

const headForm = new RegExp(
  `^\\[command (${commandIdForm}) (running|lost|ended exit=(unseen|0|[1-9]\\d{0,8}))\\]$`,
);
const outputForm = /^\[output ([0-9a-f]{12}) stdout=[\d,-]+\+? stderr=[\d,-]+\+?\]$/;

/** Reads the head of a text that `bannerText` wrote. What stands in the output changes nothing of it. */
export function readBanner(text: string): BannerState {
  if (!text.startsWith('[command ')) return { state: 'absent' };
  const [first = '', second = ''] = text.split('\n', 2);
  const [, command, state, exit] = headForm.exec(first) ?? [];
  const mark = outputForm.exec(second)?.[1];
  if (command === undefined || mark === undefined || !text.endsWith(`\n[${mark} end]`))
    return { state: 'invalid' };
  if (state === 'running' || state === 'lost') return { state, command };
  return { state: 'ended', command, exitCode: exit === 'unseen' ? null : Number(exit) };
}
