import { expect, test } from 'vitest';
import { plainComposition } from '../compose/plain.ts';
import { blobOf } from '../digest.ts';
import type { EventBody } from '../protocol/events.ts';
import { type CompactionSeat, compact } from './compaction.ts';
import type { Conversation } from './conversation.ts';
import { resolveModel } from './model/providers.ts';

const model = resolveModel('local/m', { env: {}, baseUrl: 'http://127.0.0.1:9/v1' });
const composition = plainComposition('tester', 'Rule 1.');
const system = model.message({ role: 'system', text: 'Rule 1.', stablePrefixBytes: 7 });
const user = (text: string) => model.message({ role: 'user', text });
const long = user('x'.repeat(3_000));
const answer = model.message({ role: 'assistant', text: 'Read.', calls: [] });
const task = user('And now?');

function seated(...texts: string[]) {
  const digests = texts.map((text) => blobOf(text).digest);
  const conversation: Conversation = {
    texts,
    digests,
    requested: texts.length - 1,
    callIds: new Set(),
    warned: new Set(),
  };
  const noted: EventBody[] = [];
  // Nothing but the record is touched by a compaction without contexts.
  const host = {
    note: (events: readonly EventBody[]) => noted.push(...events),
  } as unknown as CompactionSeat['host'];
  const session = { id: 's', composition, projection: { tools: [], text: '' }, capabilities: [] };
  const seat: CompactionSeat = {
    session,
    model,
    host,
    contexts: undefined,
    task: blobOf(task).digest,
    finishing: 'end with DONE',
  };
  return { conversation, noted, seat };
}
const finished: EventBody = {
  type: 'message-finish',
  turn: 1,
  message: blobOf(answer).digest,
  text: null,
  textBytes: 5,
  calls: 0,
};

test('keeps the instructions byte for byte, the newest answer and the task', async () => {
  const { conversation, noted, seat } = seated(system, long, answer, task);
  await compact(conversation, { hotTokens: 500 }, [finished], seat);
  expect(conversation.texts).toEqual([
    system,
    expect.stringMatching(
      /\[Earlier part of this conversation: 1 messages.* Go on with the task; .* ask; if it is finished, end with DONE\.\]/,
    ),
    answer,
    task,
  ]);
  expect(conversation.digests).toEqual(conversation.texts.map((text) => blobOf(text).digest));
  expect(conversation.requested).toBe(1);
  expect(noted).toMatchObject([{ type: 'session-compact', keep: 2, dropped: 1, context: null }]);
});

test('drops nothing of a conversation that does not begin with the composed text', async () => {
  const { conversation, seat } = seated(user('Rule 1.'), long, answer, task);
  await expect(compact(conversation, { hotTokens: 500 }, [finished], seat)).rejects.toMatchObject({
    code: 'native.message-lost',
  });
  expect(conversation.texts).toHaveLength(4);
});

test('leaves alone what fits, and what would only put one note in the place of another', async () => {
  const fits = seated(system, long, answer, task);
  await compact(fits.conversation, { hotTokens: 5_000 }, [finished], fits.seat);
  expect([fits.conversation.texts.length, fits.noted]).toEqual([4, []]);
  const note = user('[Earlier part]');
  const compacted: EventBody = {
    type: 'session-compact',
    keep: 1,
    dropped: 3,
    summary: blobOf(note).digest,
    tokensBefore: 9,
    tokensAfter: 3,
    context: null,
  };
  const wordy = model.message({ role: 'assistant', text: 'x'.repeat(3_000), calls: [] });
  const again = seated(system, note, task, wordy);
  const said = { ...finished, message: blobOf(wordy).digest };
  await compact(again.conversation, { hotTokens: 500 }, [compacted, said], again.seat);
  expect([again.conversation.texts[1], again.noted]).toEqual([note, []]);
});
