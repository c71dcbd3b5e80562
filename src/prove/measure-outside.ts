/** What the record of a trial says that an agent program ran behind the meter. */
import type { Digest } from '../digest.ts';
import type { RunEvent } from '../protocol/events.ts';

export interface OutsideMeasured {
  readonly version: string | null;
  /** Models that the requests of the task named, each once. */
  readonly modelsAsked: readonly (string | null)[];
  /** Names under which they were answered, each once; null for an answer that names none or cannot be read. */
  readonly modelsSeen: readonly (string | null)[];
  readonly fingerprintsSeen: readonly (string | null)[];
  /** Digest of the text that stood in every request of the task; null where it was not looked for in all of them. */
  readonly promptSent: Digest | null;
  /** Whose fault it was that the program failed, where its last request tells; else null. */
  readonly code: string | null;
}

/** Undefined for a run of our own harness. */
export function outsideOf(events: readonly RunEvent[]): OutsideMeasured | undefined {
  const receipts = events.flatMap((event) => (event.type === 'delivery-receipt' ? [event.receipt] : []));
  const receipt = receipts.at(-1);
  const finish = events.findLast((event) => event.type === 'run-finish');
  if (receipt === undefined) return undefined;
  // What a program asks beside the task may go to another model.
  const main = events.flatMap((event) =>
    event.type === 'meter-admit' && event.lane === 'main' ? [event] : [],
  );
  const isProven = main.length > 0 && main.every(({ text }) => text !== null);
  const numbers = new Set(main.map(({ number }) => number));
  const answers = events.flatMap((event) =>
    event.type === 'meter-answer' && isAnswered(event) && numbers.has(event.number) ? [event] : [],
  );
  const isItsOwn = finish?.type === 'run-finish' && finish.error?.code === 'deliver.program-failed';
  return {
    version: receipt.version,
    modelsAsked: [...new Set(main.map(({ model }) => model))],
    modelsSeen: [...new Set(answers.map(({ modelSeen }) => modelSeen))],
    fingerprintsSeen: [...new Set(answers.map(({ fingerprint }) => fingerprint ?? null))],
    promptSent: isProven ? receipt.sha256 : null,
    code: isItsOwn ? outageOf(events) : null,
  };
}

/** An answer that a model server gave, whole. */
export function isAnswered({ httpStatus, fault }: RunEvent & { readonly type: 'meter-answer' }): boolean {
  return httpStatus !== null && httpStatus < 400 && fault === null;
}

/** The code that a run of ours would have ended with, where the newest request of the program had no answer. */
function outageOf(events: readonly RunEvent[]): string | null {
  const last = events.findLast((event) => event.type === 'meter-answer');
  if (last?.type !== 'meter-answer' || isAnswered(last)) return null;
  switch (last.httpStatus) {
    case null:
      return 'model.no-answer';
    case 401:
      return 'model.unauthorized';
    case 403:
      return 'model.forbidden';
    case 404:
      return 'model.not-found';
    case 429:
      return 'model.rate-limited';
    default:
      if (last.httpStatus >= 500) return 'model.server-error';
      return last.httpStatus < 400 ? 'model.cut' : null;
  }
}
