/** Takes known secrets out of records, member by member as the vocabulary decides, and leaves the vocabulary itself alone. */
import { sha256 } from '../digest.ts';
import type { ErrorJson } from '../errors.ts';
import type { EventBody } from '../protocol/events.ts';
import { errorTexts, eventTexts, sessionTexts, type TextKind } from '../protocol/free-text.ts';
import { isRecord } from '../protocol/json.ts';
import type { SessionRecord } from '../protocol/record.ts';
import { LedgerError } from './errors.ts';
import { isWord, type Redactor } from './secrets.ts';

/** The same event where nothing was found. Throws `ledger.secret-in-record` for a secret in what has to stay as it is. */
export function cleanEvent(event: EventBody, redact: Redactor): EventBody {
  return cleanMembers(event, eventKinds.get(event.type) ?? unknownKinds, redact);
}

type Kinds = { readonly [member: string]: TextKind };

const unknownKinds: Kinds = { type: 'own' };
const eventKinds: ReadonlyMap<string, Kinds> = new Map(
  Object.entries(eventTexts).map(([type, kinds]) => [type, { ...unknownKinds, ...kinds }]),
);

/** The session as it is: all of it is needed to open it again, so a secret in it is refused as in `cleanEvent`. */
export function cleanSession(session: SessionRecord, redact: Redactor): SessionRecord {
  return cleanMembers(session, sessionTexts, redact);
}

/** An error that is shown or handed on; its code and kind stay. Its message may have been cut inside a secret. */
export function cleanError(error: ErrorJson, redact: Redactor): ErrorJson {
  return cleanMembers(error, errorTexts, { ...redact, text: redact.message, json: redact.messages });
}

/** What stands in the record for an effect key that holds a secret: the same for the same key, in any process. */
export function hiddenKey(key: string): string {
  return `sha256:${sha256(key)}`;
}

// Every record goes through here and hardly one holds a secret: nothing is made until something was found.
function cleanMembers<T extends object>(whole: T, kinds: Kinds, redact: Redactor): T {
  if (!isRecord(whole)) return whole;
  let cleaned: [string, unknown][] | undefined;
  let before = 0;
  for (const name in whole) {
    const value = whole[name];
    const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
    const newName = kind !== undefined || isWord(name) ? name : redact.text(name);
    const newValue = kind === undefined ? redact.json(value) : cleanMember(name, value, kind, redact);
    if (newName !== name || newValue !== value) cleaned ??= Object.entries(whole).slice(0, before);
    cleaned?.push([newName, newValue]);
    before += 1;
  }
  // The members are those of T, each of the type it had.
  return cleaned === undefined ? whole : (Object.fromEntries(cleaned) as T);
}

function cleanMember(name: string, value: unknown, kind: TextKind, redact: Redactor): unknown {
  if (typeof kind === 'object')
    return isRecord(value) ? cleanMembers(value, kind, redact) : redact.json(value);
  switch (kind) {
    case 'own':
      return value;
    case 'text':
      return redact.json(value);
    case 'key':
      return typeof value === 'string' && redact.text(value) !== value ? hiddenKey(value) : value;
    case 'given': {
      const cleaned = redact.json(value);
      if (cleaned === value) return value;
      throw secretInRecord(name, cleaned);
    }
  }
}

function secretInRecord(member: string, cleaned: unknown): LedgerError {
  const secret = /\[secret ([^\]]*)\]/.exec(JSON.stringify(cleaned))?.[1] ?? 'a key';
  return new LedgerError(
    'ledger.secret-in-record',
    `Expected a session without secrets, but its '${member}' holds the value of ${secret}, and it must be stored as it is.`,
    {
      next: `Take the value out of '${member}', or give ${secret} another value if it is only a placeholder.`,
      details: { member, secret },
    },
  );
}
