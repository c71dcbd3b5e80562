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
  return cleanMembers(event, { type: 'own', ...eventTexts[event.type] }, redact);
}

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

function cleanMembers<T extends object>(
  whole: T,
  kinds: { readonly [member: string]: TextKind },
  redact: Redactor,
): T {
  const members = Object.entries(whole);
  const cleaned = members.map(([name, value]): [string, unknown] => {
    const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
    if (kind !== undefined) return [name, cleanMember(name, value, kind, redact)];
    return [isWord(name) ? name : redact.text(name), redact.json(value)];
  });
  const same = cleaned.every(([name, value], i) => name === members[i]?.[0] && value === members[i]?.[1]);
  // The members are those of T, each of the type it had.
  return same ? whole : (Object.fromEntries(cleaned) as T);
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
