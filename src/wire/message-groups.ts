/** Messages as a protocol wrote them one by one, for a body in which neighbours of one role share a message. */
import { foreignMessage } from './errors.ts';

/** What closes the list that each head opens. */
export const tail = ']}';

export interface Group<Role extends string> {
  readonly role: Role;
  /** What stood inside each message; that of one message stays one text. */
  readonly parts: readonly string[];
}

/** `heads`: what a message of each role begins with. Throws `wire.foreign-message` for one that begins with none of them. */
export function groupsOf<Role extends string>(
  messages: readonly string[],
  heads: Readonly<Record<Role, string>>,
  protocol: string,
): Group<Role>[] {
  const roles = Object.keys(heads) as Role[];
  const groups: { readonly role: Role; readonly parts: string[] }[] = [];
  for (const message of messages) {
    const role = roles.find((one) => message.startsWith(heads[one]));
    if (role === undefined) throw foreignMessage(protocol, message);
    const parts = message.slice(heads[role].length, -tail.length);
    if (parts === '') continue;
    const last = groups.at(-1);
    if (last?.role === role) last.parts.push(parts);
    else groups.push({ role, parts: [parts] });
  }
  return groups;
}
