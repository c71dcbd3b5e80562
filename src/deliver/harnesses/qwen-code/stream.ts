/** Reads what Qwen Code prints: the form of Claude Code, in which it hides a failed request as an answer. */
import type { Adapter } from '../../adapter.ts';
import { openAgentStream } from '../../agent-stream.ts';

export const reports = ['modelCalls', 'tokens'] as const satisfies Adapter['reports'];

/** It writes the error behind what it has of an answer, says success and ends with code 0. */
const hiddenFault = (result: string) => /\[API Error: [\s\S]*\]\s*$/.exec(result)?.[0] ?? null;

export const openStream = () => openAgentStream({ cachedIsInput: true, resultScope: 'session', hiddenFault });
