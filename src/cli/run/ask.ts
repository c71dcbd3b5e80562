/** Asks the person at the terminal whether a call may run, and reads one clear answer. */
import { userInfo } from 'node:os';
import { createInterface } from 'node:readline';
import type { Ticket } from '../../protocol/ticket.ts';
import type { Ask } from '../../run/approval.ts';
import type { Context } from '../context.ts';
import { boundFileLines } from '../view/bound-files.ts';
import type { Progress } from '../view/progress-lines.ts';
import { visible } from '../view/visible.ts';

/** The way to ask; undefined where nobody is there, so that a run refuses at once instead of waiting for ever. */
export function terminalAsk(context: Context, progress: Progress): Ask | undefined {
  const { stdin, stderr } = context;
  if (stdin.isTTY !== true || !stderr.terminal) return undefined;
  return async (ticket, signal) => {
    const goOn = progress.hold();
    stderr.write(question(ticket));
    try {
      for (;;) {
        const line = await readLine(stdin, signal);
        if (line === undefined) {
          // What follows must not stand behind the question.
          stderr.write('\n');
          return undefined;
        }
        const answer = readAnswer(line);
        if (answer !== undefined) return { ...answer, by: personName(context.env) };
        stderr.write('Answer y to allow it once, or n to deny it: ');
      }
    } finally {
      goOn();
    }
  };
}

/** The name under which an answer is recorded: the variable's, else that of the account. */
export function personName(env: Context['env']): string {
  return env.USER || env.LOGNAME || env.USERNAME || accountName();
}

function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    // An account that the machine has no entry for, as in a container.
    return `the user of number ${process.getuid?.() ?? 'unknown'}`;
  }
}

function question(ticket: Ticket): string {
  return [
    `\n${visible(ticket.tool)} asks to run (capability ${visible(ticket.capability)}). It may change something outside.`,
    `Arguments: ${visible(ticket.arguments)}`,
    ...boundFileLines(ticket),
    'Allow it once? y, or n and a reason: ',
  ].join('\n');
}

/** `y`, `n`, or `n` with a reason. An empty line denies: a key pressed by chance must not allow anything. */
function readAnswer(line: string): { decision: 'approved' | 'denied'; reason: string } | undefined {
  const text = line.trim();
  if (/^y(es)?$/i.test(text)) return { decision: 'approved', reason: '' };
  if (text === '') return { decision: 'denied', reason: '' };
  const denied = /^no?(?:[\s,:]+(.*))?$/i.exec(text);
  return denied === null ? undefined : { decision: 'denied', reason: denied[1] ?? '' };
}

// Not in readline's terminal mode: that would take Ctrl-C away from the process, which must cancel the run.
function readLine(input: Context['stdin'], signal: AbortSignal): Promise<string | undefined> {
  if (signal.aborted) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    const lines = createInterface({ input, terminal: false });
    const finish = (line: string | undefined) => {
      // Before `close`, which reports the end of input as well.
      resolve(line);
      signal.removeEventListener('abort', onAbort);
      lines.close();
    };
    const onAbort = () => finish(undefined);
    signal.addEventListener('abort', onAbort, { once: true });
    lines.once('line', finish);
    lines.once('close', () => finish(undefined));
  });
}
