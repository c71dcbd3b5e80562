/** Reads what Claude Code prints. */
import type { Adapter } from '../../adapter.ts';
import { openAgentStream } from '../../agent-stream.ts';

export const reports = ['modelCalls', 'tokens'] as const satisfies Adapter['reports'];

export const openStream = () => openAgentStream({ cachedIsInput: false, resultScope: 'run' });
