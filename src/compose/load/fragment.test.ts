import { describe, expect, test } from 'vitest';
import { agentYaml, folderWith, vocabulary } from '../testing.cases.ts';
import { loadAgent } from './agent.ts';

async function load(content: string | Uint8Array, file = 'x.md', lines = '', id = 'x') {
  const folder = folderWith({ 'agent.yaml': agentYaml([id], lines), [`instructions/${file}`]: content });
  return (await loadAgent(folder, vocabulary)).fragments.get(id);
}

describe('header and body', () => {
  test.each([
    ['Body.\n', 'Body.\n', null],
    ['', '', null],
    ['---\ntitle: T\n---\nBody.\n', 'Body.\n', 'T'],
    ['---\r\ntitle: T\r\n---\r\nBody.\r\nTwo\r\n', 'Body.\r\nTwo\r\n', 'T'],
    ['---\ntitle: T\n---', '', 'T'],
    ['\ufeff---\ntitle: T\n---\nBody.\n', 'Body.\n', 'T'],
    ['\ufeffBody.\n', 'Body.\n', null],
    ['---\ntitle: T\n---\n\ufeffBody\ufeff.\n', '\ufeffBody\ufeff.\n', 'T'],
    ['---\n---\n---\nBody.\n', '---\nBody.\n', null],
    ['---  \n# only a comment\n--- \nBody.', 'Body.', null],
    ['***\nBody.\n', '***\nBody.\n', null],
    ['\n- - -\nBody.\n\n---\n', '\n- - -\nBody.\n\n---\n', null],
    ['---\n---\n\n---\nBody.\n', '\n---\nBody.\n', null],
    ['{"a": {"b": "{{ x }}"}} {% y %}\n', '{"a": {"b": "{{ x }}"}} {% y %}\n', null],
    ['---\ntitle: "1.10"\n---\nB', 'B', '1.10'],
    ['---\ntitle: no\n---\nB', 'B', 'no'],
  ])('%j', async (content, body, title) => {
    expect(await load(content)).toMatchObject({ id: 'x', body, title, layer: 'contract', unknown: 'keep' });
  });

  test('a bare true or false is a condition', async () => {
    expect((await load('---\nwhen: false\n---\nB'))?.when?.source).toBe('false');
  });

  test('the id in the header beats the file name, and hidden files are none', async () => {
    const folder = folderWith({
      'agent.yaml': agentYaml(['y']),
      'instructions/my file.md': '---\nid: y\n---\n',
      'instructions/.#x.md': '---\nbroken',
      'instructions/note.txt': '---\nbroken',
    });
    expect([...(await loadAgent(folder, vocabulary)).fragments.keys()]).toEqual(['y']);
  });
});

describe('errors of a fragment', () => {
  test.each([
    ['---\ntitle: T\nBody.\n', 'compose.no-header', '1:1', '***'],
    ['---\n', 'compose.no-header', '1:1', '***'],
    ['---', 'compose.no-header', '1:1', '***'],
    ['\n---\nwhen: "false"\n---\nS\n', 'compose.no-header', '2:1', 'first line'],
    ['\r\n \n---\nS\n', 'compose.no-header', '3:1', '***'],
    [' ---\nwhen: "false"\n---\nS\n', 'compose.no-header', '1:2', 'first line'],
    ['--- # note\nwhen: "false"\n---\nS\n', 'compose.no-header', '1:1', 'first line'],
    ['\ufeff\ufeff---\nwhen: "false"\n---\nS\n', 'compose.no-header', '1:2', 'first line'],
    ['\u200b---\nwhen: "false"\n---\nS\n', 'compose.no-header', '1:2', 'first line'],
    ['----\nwhen: "false"\n----\nS\n', 'compose.no-header', '1:1', 'first line'],
    ['---\rwhen: "false"\r---\rS\r', 'compose.no-header', '1:1', 'first line'],
    ['\r---\rwhen: "false"\r---\rS\r', 'compose.no-header', '1:2', 'first line'],
    ['---\u2028when: "false"\n---\nS\n', 'compose.no-header', '1:1', 'first line'],
    ['---\nwhen: "false"\r---\rS\n', 'compose.no-header', '1:1', 'Close the header'],
    ['---\n%YAML 1.1\n---\nS\n', 'compose.yaml', '2:1', 'Take the line out.'],
    ['---\ntitle: !!str 010\n---\nS\n', 'compose.yaml', '2:14', 'Take the tag out'],
    ['---\n!!str title: T\n---\nS\n', 'compose.yaml', '2:7', 'Take the tag out'],
    ['---\n\nSome text\n\n---\nMore.\n', 'compose.yaml', '3:1', 'Write key: value lines.'],
    ['---\n- a\n---\n', 'compose.yaml', '2:1', 'Write key: value lines.'],
    ['---\ntitle: a: b\n---\n', 'compose.yaml', '2:8', 'quotes'],
    ['---\ntitle: [draft] x\n---\n', 'compose.yaml', '2:16', 'quotes'],
    ['---\ntitle: [draft]\n---\n', 'compose.wrong-value', '2:8', 'quotes'],
    ['---\ntitle: T\ntitle: U\n---\n', 'compose.yaml', '3:1', 'Take one'],
    ['---\r\ntitel: T\r\n---\r\n', 'compose.unknown-key', '2:1', "Write 'title'."],
    ['---\nlayer: session\n---\n', 'compose.wrong-value', '2:8', 'identity, contract, directives, skills'],
    ['---\ntemplate: yes\n---\n', 'compose.wrong-value', '2:11', 'Write true'],
    ['---\nunknown: maybe\n---\n', 'compose.wrong-value', '2:10', 'keep, drop'],
    ['---\nwhen: !workspace.dbt\n---\n', 'compose.yaml', '2:7', 'begins with !'],
    ['---\nwhen: "a" in mode\n---\n', 'compose.yaml', '2:11', 'quotes'],
    ['---\nwhen: size(mode) == 1\n---\n', 'compose.condition', '2:7', 'comparisons'],
    ['---\nwhen: "mode == \\"a\\" && nope"\n---\n', 'compose.condition', '2:25', 'Use one of'],
    ["---\nwhen: 'env.X == ''a'' && nope'\n---\n", 'compose.condition', '2:26', 'Use one of'],
    ['---\nwhen: >\n  mode == "a"\n  && nope\n---\n', 'compose.condition', '4:6', 'Use one of'],
    ['---\nwhen: |-\n  mode == "a"\n    && nope\n---\n', 'compose.condition', '4:8', 'Use one of'],
    ['---\nwhen: mode == "a"\n  && nope\n---\n', 'compose.condition', '3:6', 'Use one of'],
    ['---\nwhen: mode\n---\n', 'compose.condition', '2:7', 'Compare'],
    ['---\ntemplate: true\n---\nA\n b {{ moode }}\n', 'compose.template', '5:4', "Write 'mode'."],
    [
      '---\ntemplate: true\n---\n{% when mode == "a" && nope %}{% end %}',
      'compose.template',
      '4:24',
      'Use one of',
    ],
  ])('%j', async (content, code, place, next) => {
    const error = await load(content).catch((thrown) => thrown);
    expect(error).toMatchObject({ code, kind: 'input' });
    expect(`${error.details.line}:${error.details.column}`).toBe(place);
    expect(error.details.file).toMatch(/instructions\/x\.md$/);
    expect(error.next).toContain(next);
  });

  test('a file name that cannot be an id, and two files with one id', async () => {
    await expect(load('B', 'my file.md')).rejects.toMatchObject({ code: 'compose.wrong-value' });
    const twins = folderWith({
      'agent.yaml': agentYaml(['x']),
      'instructions/x.md': 'B',
      'instructions/y.md': '---\ntitle: T\nid: x\n---\n',
    });
    await expect(loadAgent(twins, vocabulary)).rejects.toMatchObject({
      code: 'compose.repeated-name',
      details: { line: 3, column: 5 },
    });
  });
});
