/** What the record keeps of a result, so that policies can compare it with others without its text. */
import { sha256 } from '../../digest.ts';
import type { CallStatus, SeenResult } from '../../protocol/events.ts';

/** The tool that runs shell commands: that it ran one says nothing of how the command ended. */
export const shellTool = 'command_start';

/** The first one is the head line; what stands below it is output, and may say anything. */
const head = /^\[command \S+ (running|lost|ended exit=\w+)\]$/m;

/** Looks at a result as its tool gave it, before anything is cut. */
export function seenResult(tool: string, status: CallStatus, text: string): SeenResult {
  const outcome = status === 'ok' ? commandOutcome(tool, text) : 'failed';
  // A failure is the same if only its times, ids and counts differ.
  const said = outcome === 'failed' ? text.replace(head, '[command $1]').replace(/\d+/g, '0') : text;
  return { outcome, content: sha256(said) };
}

function commandOutcome(tool: string, text: string): SeenResult['outcome'] {
  if (tool !== shellTool) return 'ok';
  const [, end] = head.exec(text) ?? [];
  if (end === 'running') return 'open';
  return end === 'ended exit=0' ? 'ok' : 'failed';
}
