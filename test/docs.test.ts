/** What the documentation shows is true: its code fits the types and runs, its commands, flags and links exist. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { bin, commandFaults } from './docs-commands.ts';
import { fencesOf, inlineCommands, linkFaults, machinePaths } from './docs-fences.ts';
import { runPage } from './docs-run.ts';
import { typeFaults } from './docs-types.ts';

const folders = ['docs', 'docs/how-to', 'docs/decisions'];
const pages = [
  'README.md',
  ...folders.flatMap((folder) => readdirSync(folder).map((name) => `${folder}/${name}`)),
]
  .filter((page) => page.endsWith('.md'))
  .map((page) => ({ page, text: readFileSync(page, 'utf8') }));

async function commandFaultsOf(page: string, text: string): Promise<string[]> {
  const lines = fencesOf(page, text)
    .filter(({ language }) => language === 'sh')
    .flatMap(({ code, line }) => code.split('\n').map((one, i) => ({ line: line + i, code: one })));
  const all = [...lines, ...inlineCommands(page, text)];
  return (await Promise.all(all.map(({ line, code }) => commandFaults(`${page}:${line}`, code)))).flat();
}

const typesOf = (page: string, text: string) =>
  fencesOf(page, text).filter(({ language }) => language === 'ts');

test('the command line is built, so that pages can be run', () => {
  expect(existsSync(bin), 'dist is missing: npm run build').toBe(true);
});

test('all TypeScript in the pages fits the types', () => {
  expect(typeFaults(pages.flatMap(({ page, text }) => typesOf(page, text)))).toEqual([]);
});

describe.each(pages)('$page', ({ page, text }) => {
  test('each command and flag that it shows exists', async () => {
    expect(await commandFaultsOf(page, text)).toEqual([]);
  });

  test('its links lead somewhere, and no path is of one machine', () => {
    expect([...linkFaults(page, text, '.'), ...machinePaths(page, text)]).toEqual([]);
  });

  test('what it says to do works', async () => {
    await runPage(fencesOf(page, text));
  });
});

describe('a planted mistake is found', () => {
  const fenced = (promise: string, code: string) => `# Page\n\n\`\`\`${promise}\n${code}\n\`\`\`\n`;
  const run = (...parts: readonly string[]) => runPage(fencesOf('page.md', parts.join('\n')));

  test.each(['js', '', 'ts runs', 'md', 'sh title=x.sh'])('a fence that says "%s"', (promise) => {
    expect(() => fencesOf('page.md', fenced(promise, 'x'))).toThrow(/^page\.md:3: a fence says/);
  });

  test('a fence that is not closed', () => {
    expect(() => fencesOf('page.md', '```sh\nwrit demo\n')).toThrow('page.md:1: this fence is never closed');
  });

  test('a type error, at its line of the page', () => {
    const text = fenced('ts', "import { compose } from 'writ';\n\nconst size: number = compose;");
    expect(typeFaults(typesOf('page.md', text))).toEqual([
      expect.stringMatching(/^page\.md:6: Type .* is not assignable to type 'number'/),
    ]);
  });

  test('a name that the package does not have', () => {
    const text = fenced('ts', "import { composed } from 'writ';\ncomposed();");
    expect(typeFaults(typesOf('page.md', text))).toEqual([
      expect.stringMatching(/^page\.md:4: .*'composed'/),
    ]);
  });

  test('commands and flags that do not exist, in fences and in running text', async () => {
    const text = `${fenced(
      'sh',
      'writ composes a\nwrit compose a --explian # and --more\nls && writ runs lst\nwrit run a -- --not-a-flag "x | writ nothing"',
    )}\nWrite \`writ runs forget RUN --sure\`, or \`writ COMMAND --help\`.`;
    expect(await commandFaultsOf('page.md', text)).toEqual([
      "page.md:4: writ has no command 'composes'",
      "page.md:5: 'writ compose' has no flag --explian",
      "page.md:6: writ has no command 'runs lst'",
      "page.md:10: 'writ runs forget' has no flag --sure",
    ]);
  });

  test('links to a missing page or heading', () => {
    const text =
      '# One: two\n[a](#one-two) [b](#three) [c](docs/none.md) [d](README.md#writ) [e](README.md#no)';
    expect(linkFaults('page.md', text, '.')).toEqual([
      'page.md links to #three, and page.md has no heading for #three',
      'page.md links to docs/none.md, and there is no docs/none.md',
      'page.md links to README.md#no, and README.md has no heading for #no',
    ]);
  });

  test('paths of one machine', () => {
    const text = `see \`/home/jo/writ\` and ${process.cwd()}/src, not https://example.org/home/jo or /tmp/analyst`;
    expect(machinePaths('page.md', text)).toHaveLength(2);
  });

  test('a command that fails, with what it said', async () => {
    const failing = run(fenced('sh run', 'writ init a\nwrit compose b'));
    await expect(failing).rejects.toThrow(/^page\.md:5: ended with exit code 2\nerror compose\.no-agent/);
  });

  test('what a line exports holds for the next one, and for no other page', async () => {
    await run(fenced('sh run', 'export DOCS_KEY="a b"\ntest "$DOCS_KEY" = "a b"'));
    await expect(run(fenced('sh run', 'test -n "$DOCS_KEY"'))).rejects.toThrow('page.md:4: ended with');
  });

  test('a file with a mistake in it', async () => {
    const agent = fenced('yaml title=a/agent.yaml', 'key: a\nprofiles: { default: [who] }');
    const fragment = fenced('md title=a/instructions/who.md', '---\nwhen: mode == headless\n---\nWho.');
    const command = fenced('sh run', 'writ compose a');
    await expect(run(agent, fragment, command)).rejects.toThrow('compose.condition');
    await expect(run(fenced('md title=../who.md', 'Who.'))).rejects.toThrow('leads out');
  });

  test('a part of an agent.yaml that is wrong', async () => {
    await expect(run(fenced('yaml', 'delivers: {}'))).rejects.toThrow(/page\.md:4: .*'delivers'/);
  });

  test('a program that throws, and one that prints no answer', async () => {
    await expect(run(fenced('ts run', "throw new Error('no');"))).rejects.toThrow('page.md:4: ended with');
    const mute = `await fetch(process.env.MODEL_URL + '/chat/completions', { method: 'POST', body: '{"messages":[]}' });`;
    await expect(run(fenced('ts run', mute))).rejects.toThrow("the model's answer was expected");
  });
});
