/** What a model reads of a command: its state in a head that no output can forge, then the output between marks that it cannot hold. */
import { sha256 } from '../digest.ts';
import { type CommandStatus, exitCodeOf, type OutputPage, type ProcessName } from './sandbox.ts';

/** What the head of a text says; `absent` where there is none, `invalid` where it is not one that was written here. */
export type BannerState =
  | { readonly state: 'absent' | 'invalid' }
  | { readonly state: 'running' | 'lost'; readonly command: string }
  | { readonly state: 'ended'; readonly command: string; readonly exitCode: number | null };

/** The whole text. `notes` are sentences of our own that stand in the head. */
export function bannerText(command: string, page: OutputPage, notes: readonly string[] = []): string {
  const { stdout, stderr } = page;
  const mark = markFor(stdout.text + stderr.text);
  const part = (name: 'stdout' | 'stderr') =>
    page[name].text === '' ? '' : `[${mark} ${name}]\n${page[name].text}\n`;
  const places = (['stdout', 'stderr'] as const).map((name) => placeText(name, page[name]));
  const head = [
    `[command ${command} ${stateText(page.status)}]`,
    `[output ${mark} ${places.join(' ')}]`,
    ...notes.map((note) => `[note ${note.replace(/[\r\n\]]+/g, ' ')}]`),
  ];
  return `${head.join('\n')}\n${part('stdout')}${part('stderr')}[${mark} end]`;
}

function placeText(name: string, { from, next, eof }: OutputPage['stdout']): string {
  return `${name}=${from}-${next}${eof ? '' : '+'}`;
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

const headForm = /^\[command ([a-z0-9][a-z0-9_-]{7,63}) (running|lost|ended exit=(unseen|0|[1-9]\d{0,8}))\]$/;
const outputForm = /^\[output ([0-9a-f]{12}) stdout=\d+-\d+\+? stderr=\d+-\d+\+?\]$/;

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
