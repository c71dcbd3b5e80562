/** The agent that `writ init` begins with: small, plain, and with one fragment under a condition. */

/** The files of a new agent by path. It uses the tool `project_read` and holds the capability `project`. */
export function scaffoldAgent(key: string): Map<string, string> {
  return new Map([
    ['agent.yaml', agentFile(key)],
    ['instructions/base.md', baseFragment],
    ['instructions/headless.md', headlessFragment],
    ['instructions/finish.md', finishFragment],
  ]);
}

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
budget: { turns: 12, modelCalls: 16 }
deliver: { intent: append, fidelity: base }
`;
}

const baseFragment = `---
title: How you work
---
You help with the files of this project.

Read what you need with \`project_read\` before you answer, and say which files an answer rests on.
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
