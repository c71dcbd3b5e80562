import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { agentYaml, folderWith, vocabulary } from '../testing.cases.ts';
import { loadAgent, loadSituation } from './agent.ts';
import { SourceText } from './located.ts';
import { YamlMap } from './yaml.ts';

const read = (text: string) => new YamlMap(new SourceText('x.yaml', text), text, 0, 'x');

describe('one dialect of YAML', () => {
  test.each([
    ['%YAML 1.1\n---\nkey: no\n', '1:1', 'Take the line out.'],
    ['# first\n\n%YAML 1.1\n---\nkey: no\n', '3:1', 'Take the line out.'],
    ['%TAG !e! tag:example.org,2000:\n---\nkey: a\n', '1:1', 'Take the line out.'],
    ['%UNKNOWN x\n---\nkey: a\n', '1:1', 'Take the line out.'],
    ['key: !!str 010\n', '1:12', 'Take the tag out'],
    ['key: !!str\n', '1:11', 'Take the tag out'],
    ['key: ! 010\n', '1:8', 'Take the tag out'],
    ['key: !!bool "true"\n', '1:13', 'Take the tag out'],
    ['key: !!int "3"\n', '1:12', 'Take the tag out'],
    ['key: !<tag:yaml.org,2002:str> 3\n', '1:31', 'Take the tag out'],
    ['key: !!map { a: 1 }\n', '1:12', 'Take the tag out'],
    ['key: [!!seq [1]]\n', '1:13', 'Take the tag out'],
    ['!!map\nkey: a\n', '2:1', 'Take the tag out'],
    ['!!str key: a\n', '1:7', 'Take the tag out'],
    ['key: !own x\n', '1:6', 'begins with !'],
  ])('%j is refused at its place', (text, place, next) => {
    expect(() => read(text)).toThrow(
      expect.objectContaining({ code: 'compose.yaml', next: expect.stringContaining(next) }),
    );
    expect(() => read(text)).toThrow(`x.yaml:${place}: `);
  });

  test('a percent sign that begins no directive is text', () => {
    expect(read('key: |\n %YAML 1.1\n').value).toEqual({ key: '%YAML 1.1\n' });
  });

  test('agent.yaml and a situation file are read alike', async () => {
    const files = { 'instructions/a.md': 'A\n', 'situation.yaml': '%YAML 1.1\n---\nlamp: yes\n' };
    const plain = folderWith({
      ...files,
      'agent.yaml': agentYaml(['a'], 'facts: { lamp: { type: bool } }\n'),
    });
    const agent = await loadAgent(plain, vocabulary);
    await expect(loadSituation(join(plain, 'situation.yaml'), agent)).rejects.toMatchObject({
      code: 'compose.yaml',
      details: { line: 1, column: 1 },
    });
    const old = folderWith({ ...files, 'agent.yaml': `%YAML 1.1\n---\n${agentYaml(['a'])}` });
    await expect(loadAgent(old, vocabulary)).rejects.toMatchObject({
      code: 'compose.yaml',
      details: { line: 1, column: 1 },
    });
  });

  test('a map nested without end is an error of the file, and no fault', () => {
    for (const opening of ['[', '{ a: ', '- ']) {
      expect(() => read(`key:\n ${opening.repeat(3000)}`)).toThrow(
        expect.objectContaining({ code: 'compose.yaml' }),
      );
    }
  });
});
