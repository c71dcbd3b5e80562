/** Reads what happened in a trial from the record of its run, the text that really was sent included. */
import { type Digest, sha256 } from '../digest.ts';
import type { Store } from '../ledger/store.ts';
import { didRun, type RunEvent } from '../protocol/events.ts';
import { isRecord } from '../protocol/json.ts';
import { addUsage, noUsage, type Usage } from '../protocol/usage.ts';
import { isAnswered, outsideOf } from './measure-outside.ts';
import type { CallSeen, Measured } from './trial.ts';
import { isNothingSent } from './unsent.ts';

/** A text that must not reach a model, and what it is called. */
export interface Canary {
  readonly name: string;
  readonly text: string;
}

/** What was seen of a trial, and what a grader needs of it. */
export interface Seen {
  readonly measured: Measured;
  readonly answer: string | null;
  readonly calls: readonly CallSeen[];
  /** Whether it is proven that no model was sent anything. */
  readonly nothingSent: boolean;
}

/** Undefined for a run that has not ended, or that was cancelled: it has no outcome. */
export async function measure(
  store: Store,
  run: string,
  canaries: readonly Canary[],
): Promise<Seen | undefined> {
  const events = await store.events(run);
  const start = events.find((event) => event.type === 'run-start');
  const finish = events.findLast((event) => event.type === 'run-finish');
  if (start?.type !== 'run-start' || finish?.type !== 'run-finish' || finish.status === 'cancelled')
    return undefined;
  const session = await store.session(start.session);
  const sent = await sentTexts(store, events);
  const answer = await textOf(store, finish.answer);
  const calls = callsOf(events);
  const lanes = lanesOf(events);
  const outside = outsideOf(events);
  const answers = events.flatMap((event) => (event.type === 'model-response' ? [event] : []));
  const measured: Measured = {
    run,
    session: start.session,
    status: finish.status,
    code: outside?.code ?? finish.error?.code ?? null,
    callCodes: codesOf(events),
    prompt: start.prompt,
    promptSent: outside === undefined ? systemDigest(sent.first) : outside.promptSent,
    harness: start.harness,
    ...(outside === undefined ? {} : { harnessVersion: outside.version, modelsAsked: outside.modelsAsked }),
    model: start.model,
    modelsSeen: outside?.modelsSeen ?? unique(answers.map(({ modelSeen }) => modelSeen)),
    fingerprintsSeen:
      outside?.fingerprintsSeen ?? unique(answers.map(({ fingerprint }) => fingerprint ?? null)),
    servers: unique(events.flatMap(serverOf)),
    projection: session?.projection ?? '',
    canaries: canaries.filter(({ text }) => sent.all.some((one) => holds(one, text))).map(({ name }) => name),
    unread: sent.unread,
    responses: unique(events.flatMap(responseOf)),
    answer: finish.answer,
    answerBytes: answer === null ? 0 : Buffer.byteLength(answer),
    startedAt: start.at,
    timeMs: finish.elapsedMs,
    finished: !ranOutOfTime(finish),
    turns: events.filter((event) => event.type === 'turn-start').length,
    toolCalls: events.filter((event) => event.type === 'tool-result' && didRun(event.status)).length,
    calls: countsOf(calls),
    usage: finish.usage,
    lanes,
  };
  return { measured, answer, calls, nothingSent: outside === undefined && isNothingSent(events) };
}

function serverOf(event: RunEvent): readonly string[] {
  if (event.type === 'model-request') return [hostOf(event.url)];
  return event.type === 'meter-open' ? [hostOf(event.upstream)] : [];
}

function responseOf(event: RunEvent): readonly Digest[] {
  if (event.type === 'model-response') return [event.response];
  return event.type === 'meter-answer' && isAnswered(event) && event.response !== null
    ? [event.response]
    : [];
}

function ranOutOfTime({ error }: RunEvent & { readonly type: 'run-finish' }): boolean {
  return error?.code === 'budget.exhausted' && error.details?.counter === 'wallTimeMs';
}

function unique<T>(values: readonly T[]): T[] {
  return [...new Set(values)];
}

function hostOf(url: string): string {
  try {
    const { hostname } = new URL(url);
    return /^(localhost|127\..*|\[::1\])$/.test(hostname) ? 'this machine' : hostname;
  } catch {
    // A model of an SDK asks in its own way and names no address.
    return 'unknown';
  }
}

function codesOf(events: readonly RunEvent[]): readonly string[] {
  const codes = events.flatMap((event) =>
    event.type === 'tool-result' && event.code !== null ? [event.code] : [],
  );
  return unique(codes).sort();
}

function callsOf(events: readonly RunEvent[]): CallSeen[] {
  const results = new Map(
    events.flatMap((event) =>
      event.type === 'tool-result' ? [[`${event.turn} ${event.position}`, event.status] as const] : [],
    ),
  );
  return events.flatMap((event) =>
    event.type === 'tool-call'
      ? [
          {
            tool: event.tool,
            arguments: event.arguments,
            status: results.get(`${event.turn} ${event.position}`) ?? null,
          },
        ]
      : [],
  );
}

function countsOf(calls: readonly CallSeen[]): Readonly<Record<string, number>> {
  const counts = new Map<string, number>();
  for (const { tool } of calls) counts.set(tool, (counts.get(tool) ?? 0) + 1);
  return Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function lanesOf(events: readonly RunEvent[]): { readonly answered: Usage; readonly failed: Usage } {
  let [answered, failed] = [noUsage, noUsage];
  for (const event of events) {
    if (event.type === 'model-response') answered = addUsage(answered, event.usage);
    else if (event.type === 'model-fault') failed = addUsage(failed, event.usage);
    else if (event.type === 'meter-answer') {
      if (isAnswered(event)) answered = addUsage(answered, event.usage);
      else failed = addUsage(failed, event.usage);
    }
  }
  return { answered, failed };
}

/** The texts of the first request, and of all that was ever sent: messages and tools, each once. */
async function sentTexts(store: Store, events: readonly RunEvent[]) {
  const requests = events.filter((event) => event.type === 'model-request');
  const digests = unique(
    events.flatMap((event) => {
      // A body of an outside program is one text with all that its model was sent.
      if (event.type === 'meter-admit') return [event.body];
      if (event.type !== 'model-request') return [];
      return event.tools === null ? event.add : [...event.add, event.tools];
    }),
  );
  const kept = new Map<Digest, string>();
  for (const digest of digests) {
    const bytes = await store.blob(digest);
    if (bytes !== undefined) kept.set(digest, Buffer.from(bytes).toString('utf8'));
  }
  const first = (requests[0]?.add ?? []).flatMap((digest) => wholeText(kept, digest) ?? []);
  return { first, all: [...kept.values()], unread: digests.length - kept.size };
}

// A text in which a secret was replaced is no longer the one that was sent, though all the rest can be looked through.
function wholeText(kept: ReadonlyMap<Digest, string>, digest: Digest): string | undefined {
  const text = kept.get(digest);
  return text !== undefined && sha256(text) === digest ? text : undefined;
}

/** A stored text; null where it is gone, or is not what was said because a secret was replaced in it. */
async function textOf(store: Store, digest: Digest | null): Promise<string | null> {
  const bytes = digest === null ? undefined : await store.blob(digest);
  if (bytes === undefined || sha256(bytes) !== digest) return null;
  return Buffer.from(bytes).toString('utf8');
}

// A canary may stand in a message as it is, as JSON writes it, or as JSON in JSON: what a tool found, in a message.
const nestingMost = 3;

function holds(sent: string, canary: string): boolean {
  let form = canary;
  for (let nesting = 0; nesting <= nestingMost; nesting += 1) {
    if (sent.includes(form)) return true;
    form = JSON.stringify(form).slice(1, -1);
  }
  return false;
}

/** The digest of all system text of a request's messages; null where there is none, or a message is none of ours. */
function systemDigest(messages: readonly string[]): Digest | null {
  const texts = messages.flatMap((message) => systemTexts(message) ?? []);
  return texts.length === 0 ? null : sha256(texts.join(''));
}

function systemTexts(message: string): readonly string[] | undefined {
  const value = parsed(message);
  if (!isRecord(value) || (value.role !== 'system' && value.role !== 'developer')) return undefined;
  const { content } = value;
  if (typeof content === 'string') return [content];
  if (!Array.isArray(content)) return undefined;
  return content.flatMap((part: unknown) =>
    isRecord(part) && typeof part.text === 'string' ? [part.text] : [],
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
