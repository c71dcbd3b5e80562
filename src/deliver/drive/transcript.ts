/** Turns what a program is seen to do into the events of a run: turns, messages, calls that it ran itself, and usage. */
import type { Clock } from '../../clock.ts';
import { blobOf } from '../../digest.ts';
import type { BudgetAmount } from '../../protocol/budget.ts';
import type { SessionBinding } from '../../protocol/delivery.ts';
import type { CallStatus, EventBody, LiveDelta } from '../../protocol/events.ts';
import type { Blob } from '../../protocol/record.ts';
import type { Usage } from '../../protocol/usage.ts';
import type { Observed } from '../observed.ts';
import { shortText } from './diagnostics.ts';
import { openUsage } from './usage.ts';

export interface TranscriptOptions {
  readonly clock: Clock;
  readonly binding: SessionBinding;
  /** What the session had used before; null where that is not known. */
  readonly before: Usage | null;
  readonly live: (delta: LiveDelta) => void;
  /** Told what was just used, so that a budget can stop what goes on. */
  readonly spend: (amount: BudgetAmount) => void;
}

export interface Transcript {
  take(observed: Observed): void;
  /** What is to be recorded since the last call. */
  drain(): { readonly events: readonly EventBody[]; readonly blobs: readonly Blob[] };
  /** Closes what is open and settles the usage of the run. Called once, after the last `take`. */
  finish(): void;
  /** Turns so far. */
  turns(): number;
  /** What the program said of its end; undefined where it said nothing. */
  ending(): Extract<Observed, { type: 'finish' }> | undefined;
  /** The text of the last turn. */
  lastText(): string;
}

interface OpenCall {
  readonly turn: number;
  readonly position: number;
  readonly tool: string;
  readonly startedMs: number;
}

const retriesTold = 5;

export function openTranscript({ clock, binding, before, live, spend }: TranscriptOptions): Transcript {
  const usage = openUsage(before);
  let events: EventBody[] = [];
  let blobs: Blob[] = [];
  let turn = 0;
  let isOpen = false;
  let startedMs = 0;
  let deltas = 0;
  let text = '';
  let lastText = '';
  let unwritten: Extract<EventBody, { type: 'tool-call' }>[] = [];
  let messageWritten = false;
  let positions = 0;
  let hasResults = false;
  const calls = new Map<string, OpenCall>();
  const settled = new Set<string>();
  const sessions = new Set<string>();
  let modelSeen: string | null = null;
  let ending: Extract<Observed, { type: 'finish' }> | undefined;
  let retries = 0;
  let spentTokens = 0;

  const keep = (content: string): Blob => {
    const blob = blobOf(content);
    blobs.push(blob);
    return blob;
  };

  /** A turn is one answer of the model and the results of its calls: what it says after those is the next. */
  const speak = () => {
    if (hasResults) closeTurn();
    if (isOpen) return;
    turn += 1;
    isOpen = true;
    startedMs = clock.monotonicMs();
    deltas = 0;
    positions = 0;
    text = '';
    messageWritten = false;
    hasResults = false;
    events.push({ type: 'turn-start', turn });
    spend({ turns: 1 });
  };

  const writeMessage = () => {
    if (!messageWritten && (text !== '' || unwritten.length > 0)) {
      const blob = keep(text);
      events.push({
        type: 'message-finish',
        turn,
        message: blob.digest,
        text: text === '' ? null : blob.digest,
        textBytes: Buffer.byteLength(text),
        calls: unwritten.length,
      });
      messageWritten = true;
    }
    events.push(...unwritten);
    unwritten = [];
  };

  const closeTurn = () => {
    if (!isOpen) return;
    writeMessage();
    lastText = text;
    isOpen = false;
    const used = usage.turn();
    if (used !== undefined) {
      events.push({ type: 'usage-report', turn, modelSeen, usage: used });
      spendUsage(used);
    }
    events.push({ type: 'turn-finish', turn, calls: positions, elapsedMs: elapsed(startedMs) });
  };

  const spendUsage = ({ modelCalls, totalTokens }: Usage) => {
    spentTokens += totalTokens ?? 0;
    spend({ modelCalls, ...(totalTokens === null ? {} : { tokens: totalTokens }) });
  };

  const elapsed = (since: number) => Math.round(clock.monotonicMs() - since);

  const say = (type: LiveDelta['type'], delta: string) => {
    deltas += 1;
    live({ type, turn, n: deltas, text: delta });
  };

  const call = ({ callId, tool, arguments: given }: Extract<Observed, { type: 'tool-call' }>) => {
    if (calls.has(callId)) return;
    speak();
    positions += 1;
    const place = { turn, position: positions };
    calls.set(callId, { ...place, tool, startedMs: clock.monotonicMs() });
    unwritten.push({ type: 'tool-call', ...place, callId, tool, arguments: given, observed: true });
  };

  const result = ({ callId, status, text: content }: Extract<Observed, { type: 'tool-result' }>) => {
    const made = calls.get(callId);
    if (made === undefined || settled.has(callId)) return;
    settled.add(callId);
    if (made.turn === turn) {
      writeMessage();
      hasResults = true;
    }
    const bytes = Buffer.byteLength(content);
    events.push(resultEvent(made, callId, status, keep(content).digest, bytes, elapsed(made.startedMs)));
    if (status !== 'denied') spend({ toolCalls: 1, outputBytes: bytes });
  };

  const take = (observed: Observed): void => {
    switch (observed.type) {
      case 'session':
        if (sessions.has(observed.id)) return;
        sessions.add(observed.id);
        events.push({ type: 'vendor-session', id: observed.id, binding });
        return;
      case 'model':
        if (modelSeen !== null && modelSeen !== observed.name)
          events.push(
            notice('deliver.model-changed', `The model changed from ${modelSeen} to ${observed.name}.`),
          );
        modelSeen = observed.name;
        return;
      case 'reasoning-delta':
      case 'text-delta':
        if (observed.text === '') return;
        if (messageWritten) closeTurn();
        speak();
        if (observed.type === 'text-delta') text += observed.text;
        say(observed.type, observed.text);
        return;
      case 'text':
        if (observed.text === '') return;
        if (messageWritten) closeTurn();
        speak();
        // Finished texts of one turn are paragraphs; deltas are pieces.
        if (text !== '') say('text-delta', '\n\n');
        text += text === '' ? observed.text : `\n\n${observed.text}`;
        say('text-delta', observed.text);
        return;
      case 'tool-call':
        call(observed);
        return;
      case 'tool-result':
        result(observed);
        return;
      case 'usage':
        usage.take(observed);
        return;
      case 'retry':
        retries += 1;
        if (retries <= retriesTold)
          events.push(notice('deliver.retry', `It asks its provider again: ${shortText(observed.reason)}`));
        return;
      case 'turn-end':
        closeTurn();
        return;
      case 'finish':
        ending = observed;
    }
  };

  return {
    take,
    drain() {
      // A call that runs for long is shown while it runs.
      if (unwritten.length > 0) writeMessage();
      const drained = { events, blobs };
      events = [];
      blobs = [];
      return drained;
    },
    finish() {
      closeTurn();
      const all = usage.run(turn);
      events.push({ type: 'usage-report', turn: 0, modelSeen, usage: all });
      const rest = (all.totalTokens ?? 0) - spentTokens;
      if (rest > 0) spend({ tokens: rest });
      if (retries > retriesTold)
        events.push(notice('deliver.retry', `It asked its provider again ${retries} times.`));
    },
    turns: () => turn,
    ending: () => ending,
    lastText: () => (isOpen ? text : lastText),
  };
}

function resultEvent(
  { turn, position, tool }: OpenCall,
  callId: string,
  status: CallStatus,
  message: string,
  bytes: number,
  elapsedMs: number,
): EventBody {
  return {
    type: 'tool-result',
    turn,
    position,
    callId,
    tool,
    status,
    code: null,
    message,
    bytes,
    truncated: false,
    elapsedMs,
  };
}

function notice(code: string, text: string): EventBody {
  return { type: 'notice', code, text };
}
