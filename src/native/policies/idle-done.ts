/** Idle-done: when a run has long done its work, checked it and only talks, so that it is asked to confirm its end. */
import type { PolicyCall, PolicyTurn } from './history.ts';

export interface IdleDoneOptions {
  /** The beginning of the command that checks the work; any other command that is no mere look counts where it is left out. */
  readonly verify?: string;
  readonly compactions: number;
  /** Turns in a row with text alone. */
  readonly turns: number;
  readonly changes: (tool: string) => boolean;
  /** The shell command of a call; undefined for a call that runs none. */
  readonly command: (call: PolicyCall) => string | undefined;
}

export const idleDoneUsual = { compactions: 2, turns: 3 } as const;

/**
 * True if something was changed, a check succeeded strictly after the last change, the conversation was compacted often
 * enough, the last turns were text alone, and no call is open.
 */
export function idleDone(turns: readonly PolicyTurn[], options: IdleDoneOptions): boolean {
  const { compactions, turns: idleTurns } = options;
  const tail = turns.slice(-idleTurns);
  if (tail.length < idleTurns || tail.some(({ calls, answered }) => calls.length > 0 || !answered))
    return false;
  if ((turns.at(-1)?.compactions ?? 0) < compactions) return false;
  const calls = turns.flatMap((turn) => turn.calls);
  if (calls.some(({ status }) => status === undefined)) return false;
  // A command that ended badly may have written before that.
  const lastChange = calls.findLastIndex((call) => call.status === 'ok' && isChange(call, options));
  if (lastChange < 0) return false;
  const lastCheck = calls.findLast((call, at) => at > lastChange && isCheck(call, options));
  return lastCheck?.seen?.outcome === 'ok';
}

function isChange(call: PolicyCall, { changes, command }: IdleDoneOptions): boolean {
  const shell = command(call);
  return shell === undefined ? changes(call.tool) : mutates(shell);
}

function isCheck(call: PolicyCall, { command, verify }: IdleDoneOptions): boolean {
  const shell = command(call)?.trim();
  if (shell === undefined || mutates(shell)) return false;
  return verify === undefined ? !onlyLooks(shell) : shell.startsWith(verify);
}

/** Redirections into files, editors in place and commands that write: any of them changes something. */
function mutates(shell: string): boolean {
  return (
    /(^|[^0-9>&=-])>>?(?!&|\s*\/dev\/null)/.test(shell) ||
    /\b(sed|perl|ruby)\b[^|;&]*\s-\w*i/.test(shell) ||
    /(^|[|;&]\s*)(sudo\s+)?(rm|mv|cp|mkdir|rmdir|touch|tee|dd|ln|chmod|chown|truncate|install|patch|git\s+(add|commit|apply|checkout|reset|merge|rebase|stash|rm|mv|clean|pull))\b/.test(
      shell,
    )
  );
}

function onlyLooks(shell: string): boolean {
  return shell
    .split(/&&|\|\||[|;&\n]/)
    .every((part) =>
      /^\s*(ls|cat|head|tail|grep|rg|find|pwd|echo|wc|which|stat|file|tree|less|env|printenv|date|cd|git\s+(status|log|diff|show|branch))\b|^\s*$/.test(
        part,
      ),
    );
}
