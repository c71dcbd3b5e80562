/** Errors as the command line shows them: what happened, what to do next, why; or one JSON object. */
import { type ErrorJson, toErrorJson, WritError } from '../errors.ts';
import { type Context, printJson } from './context.ts';
import { errorExitCodes } from './exit.ts';
import { visible } from './view/visible.ts';

/** The lines for a person, ending with a line break. */
export function errorText(error: ErrorJson): string {
  const lines = [`error ${error.code}: ${error.message}`];
  if (error.next !== undefined) lines.push(`next: ${error.next}`);
  const cause = newCauses(error);
  if (cause !== '') lines.push(`cause: ${cause}`);
  // A message may repeat what a provider said; its further lines are set in, so that they cannot pose as ours.
  return `${lines.map((line) => visible(line).replaceAll('\n', '\n  ')).join('\n')}\n`;
}

// Most messages repeat the text of what they were made of; only what they leave out is worth a line.
function newCauses({ message, cause = '' }: ErrorJson): string {
  const said = (text: string) => message.includes(text.trim().replace(/\.$/, ''));
  return cause
    .split(' ← ')
    .filter((text) => !said(text))
    .join(' ← ');
}

/** Shows whatever a command threw, and returns the exit code for it. */
export function reportError(context: Context, thrown: unknown, json: boolean): number {
  const error = toErrorJson(thrown);
  if (json) printJson(context, { error });
  else context.stderr.write(errorText(error));
  // Our own errors say all there is to say; the place in the code helps only where something unforeseen happened.
  const ours = thrown instanceof WritError;
  if (context.env.WRIT_DEBUG === '1' && thrown instanceof Error) context.stderr.write(`${thrown.stack}\n`);
  else if (!ours && !json) context.stderr.write('next: Set WRIT_DEBUG=1 to see where it happened.\n');
  return errorExitCodes[error.kind];
}
