/** What `writ check` and `writ compose` know of the tools that an agent folder brings, while nothing of them is run. */
import { access, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { agentFolder, call, writeFiles } from '../call.cases.ts';

let cwd: string;
beforeEach(async () => {
  cwd = await agentFolder();
  await rm(join(cwd, 'a/instructions/alone.md'));
  await writeFiles(cwd, {
    'a/instructions/base.md': 'You book seats with `book`.\n',
    'a/instructions/seat.md': '---\nwhen: tool.book\n---\nAsk for the row.\n',
    'a/tools/book.mjs': `import { writeFileSync } from 'node:fs';\nwriteFileSync('${cwd}/canary', '');\n`,
  });
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

async function desk(...tools: readonly string[]) {
  const lines = ['key: desk', 'profiles: { default: [base, seat] }', 'tools:', ...tools, ''];
  await writeFiles(cwd, { 'a/agent.yaml': lines.join('\n') });
}
async function findings() {
  const { findings: found } = JSON.parse((await call(['check', 'a', '--json'], { cwd })).stdout);
  await expect(access(join(cwd, 'canary'))).rejects.toMatchObject({ code: 'ENOENT' });
  return found;
}

test('where the capability is not said, check warns at the tool and shows how to say it', async () => {
  await desk('  - project_read', '  - book: {}');
  expect(await findings()).toEqual([
    {
      rule: 'tool-capability-unsaid',
      level: 'warning',
      file: 'agent.yaml',
      line: 5,
      message:
        "whether 'book' is offered cannot be told: nothing of tools/book.mjs is run here, and agent.yaml does not say beside its name which capability it asks for",
      more: ['- book: {}', '  capability: NAME'],
    },
  ]);
  await desk('  - book: { capability: booking }');
  expect(await findings()).toMatchObject([{ message: expect.stringContaining('among its options') }]);
});

test('where it is said, a text may name the tool only where it is held, and the digest follows it', async () => {
  await desk('  - book: {}', '    capability: booking');
  expect(await findings()).toMatchObject([
    {
      rule: 'tool-not-offered',
      file: 'instructions/base.md',
      line: 1,
      message: "fragment 'base' names the tool 'book', and the capability 'booking' is off",
    },
  ]);
  const texts = ['on', 'off'].map((value) =>
    call(['compose', 'a', '--capability', `booking=${value}`], { cwd }),
  );
  expect((await Promise.all(texts)).map(({ stdout }) => stdout)).toEqual([
    'You book seats with `book`.\n\nAsk for the row.\n',
    'You book seats with `book`.\n',
  ]);
});

test('a file that is not listed makes no tool, nor one that a server is started from', async () => {
  await desk('  - project_read');
  expect(await findings()).toMatchObject([
    { message: expect.stringMatching(/'book', and the agent does not have it$/) },
  ]);
  await desk('  - project_read', 'mcp: { seats: { command: node, args: [./tools/book.mjs] } }');
  expect(await findings()).toEqual([]);
});
