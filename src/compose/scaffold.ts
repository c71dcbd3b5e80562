/** The agent that `writ init` begins with: small, plain, and with one fragment under a condition. */
import type { Intent } from '../protocol/intent.ts';

/**
 * The files of a new agent by path. Ours uses the tool `project_read` and holds the capability `project`; one for an agent
 * program, which has tools of its own, is delivered with the intent.
 */
export function scaffoldAgent(key: string, intent: Intent | null = null): Map<string, string> {
  return new Map([
    ['agent.yaml', intent === null ? agentFile(key) : programFile(key, intent)],
    ['instructions/base.md', baseFragment(intent === null ? ' with `project_read`' : '')],
    ['instructions/headless.md', headlessFragment],
    ['instructions/finish.md', finishFragment],
  ]);
}

/** The budget that a new agent begins with, as agent.yaml writes it. */
export const usualBudget = 'budget: { turns: 12, modelCalls: 16 }';

// The key goes in as a quoted JSON string, which YAML reads as the same text whatever it looks like.
function agentFile(key: string): string {
  return `key: ${JSON.stringify(key)}
join: blocks
profiles:
  default: [base, headless, finish]
capabilities: { from: none, project: true }
tools: [project_read]
situations:
  headless: { mode: headless }
  interactive: { mode: interactive }
${usualBudget}
deliver: { intent: append, fidelity: base }
`;
}

// Bare, so that a program which takes a newline off the end of a text has none to take.
function programFile(key: string, intent: Intent): string {
  return `key: ${JSON.stringify(key)}
join: bare
profiles:
  default: [base, headless, finish]
situations:
  headless: { mode: headless }
  interactive: { mode: interactive }
budget: { turns: 12 }
deliver: { intent: ${intent}, fidelity: base }
`;
}

const baseFragment = (by: string) => `---
title: How you work
---
You help with the files of this project.

Read what you need${by} before you answer, and say which files an answer rests on.
Say plainly what you do not know.
`;

const headlessFragment = `---
title: Nobody is there to ask
when: mode == "headless"
---
Nobody can answer a question while you work. Where the task leaves a choice open, take the simplest reading, go on, and
name the choice in your answer.
`;

const finishFragment = `---
title: How you finish
---
Begin with the answer in one sentence, then say what it rests on. Add nothing that was not asked for.
`;
