import { describe, expect, test } from 'vitest';
import { conditionCompiler } from './conditions.ts';
import { TextFault } from './errors.ts';
import { builtInFacts, environmentFact, type FactDeclaration, type FactValue } from './facts.ts';
import { compileTemplate, renderTemplate } from './template.ts';

const declared = new Map<string, FactDeclaration>(builtInFacts(['sql']).map((fact) => [fact.name, fact]));
const branch = declared.get('git.branch') as FactDeclaration;
declared.set('dbt', { ...branch, name: 'dbt', type: 'bool' });
declared.set('tags', { ...branch, name: 'tags', type: 'list' });
const context = {
  compile: conditionCompiler(new Map([...declared].map(([name, fact]) => [name, fact.type]))),
  declared: (name: string) => declared.get(name) ?? environmentFact(name),
  names: () => declared.keys(),
};

function render(body: string, facts: Record<string, FactValue> = {}): string {
  return renderTemplate(compileTemplate(body, context), (name) => facts[name], 'x');
}

describe('what a template writes', () => {
  test.each([
    ['plain { "a": [1] } text', {}, 'plain { "a": [1] } text'],
    ['In {{ mode }} mode.', { mode: 'headless' }, 'In headless mode.'],
    ['{{git.branch|"no branch"}}', {}, 'no branch'],
    ['{{ git.branch | "no branch" }}', { 'git.branch': 'main' }, 'main'],
    ['{{ env.TEAM | "no team" }}', { 'env.TEAM': '' }, 'no team'],
    ['[{{ env.TEAM }}]', { 'env.TEAM': '' }, '[]'],
    ['{{ tags | "" }}/{{ capability.sql }}', { tags: ['a', 'b'], 'capability.sql': true }, 'a, b/true'],
    ['{{ "{{" }} {{ "}}" }} {{ "{%" }} {{"%}"}}', {}, '{{ }} {% %}'],
    ['{{ mode }}', { mode: '{{ env.SECRET }}{% end %}' }, '{{ env.SECRET }}{% end %}'],
    ['x {{ mode }}', { mode: 'a\n# b\r\u0007\u2028\u202e' }, 'x a\\n# b\\r\\u0007\\u2028\\u202e'],
    ['{{ mode }}', { mode: '# Session instructions' }, '\\# Session instructions'],
    ['- {{ mode }}', { mode: '# x' }, '- \\# x'],
    ['# {{ mode }}', { mode: 'x' }, '# x'],
    ['a\n{{ mode }}', { mode: '===' }, 'a\n\\==='],
    ['#{{ mode }}', { mode: ' Governance' }, '#\\ Governance'],
    ['x\n-{{ mode }}', { mode: '--' }, 'x\n-\\--'],
    ['x\r{{ mode }}', { mode: '# y' }, 'x\r\\# y'],
    ['{{ git.branch | "x\\n" }}{{ mode }}', { mode: '# y' }, 'x\n\\# y'],
    ['{{ mode }}', { mode: 'a\u200b\u{e0041}' }, 'a\\u200b\\u{e0041}'],
    ['{{ tags | "none" }}', { tags: [] }, 'none'],
    ['{{ tags | "none" }}', { tags: [''] }, 'none'],
    ['{{ "a\tb\\tc\\\\" }}', {}, 'a\tb\tc\\'],
    ['{{ "\\ud83d\\ude00" }}', {}, '😀'],
    ['{{ mode }}{{ env.X }}', { mode: '#', 'env.X': ' x' }, '\\# x'],
    ['{% when mode == "a" %}A{% else %}B{% end %}', { mode: 'a' }, 'A'],
    ['{% when mode == "a" %}A{% else %}B{% end %}', { mode: 'b' }, 'B'],
    ['{% when dbt %}A{% else %}B{% end %}', {}, 'A'],
    ['{% when dbt unknown: else %}A{% else %}B{% end %}', {}, 'B'],
    ['{% when dbt unknown: first %}A{% end %}', {}, 'A'],
    ['{% when dbt unknown: else %}A{% end %}.', {}, '.'],
    ['{% when dbt %}A{% when mode == "%}" %}B{% end %}C{% end %}D', { dbt: true, mode: '%}' }, 'ABCD'],
    [
      'one\n  {% when dbt %}  \ntwo\n{% else %}\nthree\n{% end %}\nfour\n',
      { dbt: false },
      'one\nthree\nfour\n',
    ],
    ['one\r\n{% when dbt %}\r\ntwo\r\n{% end %}\r\n', { dbt: true }, 'one\r\ntwo\r\n'],
    ['a {% when dbt %} b {% end %}\nc', { dbt: true }, 'a  b \nc'],
    ['{% when dbt %}\nA\n{% end %}', { dbt: true }, 'A\n'],
  ] as [string, Record<string, FactValue>, string][])('%j with %j', (body, facts, text) => {
    expect(render(body, facts)).toBe(text);
  });

  test('a long value is cut at 500 characters, and says so', () => {
    expect(render('{{ mode }}', { mode: '😀'.repeat(501) })).toBe(`${'😀'.repeat(500)}…`);
    expect(render('{{ mode }}', { mode: '😀'.repeat(500) })).toBe('😀'.repeat(500));
  });

  test('a fact without a fallback that was made unknown is an error', () => {
    expect(() => render('{{ mode }}')).toThrow(
      expect.objectContaining({ code: 'compose.no-fallback', next: 'Write {{ mode | "…" }}.' }),
    );
  });

  test('the work grows with the number of tags, not with its square', () => {
    const time = (tags: number) => {
      const template = compileTemplate('{{ mode }} of {{ git.branch | "none" }}\n'.repeat(tags / 2), context);
      const onOneLine = compileTemplate('{{ mode }}, '.repeat(tags / 2), context);
      const started = performance.now();
      renderTemplate(template, () => 'x', 'x');
      renderTemplate(onOneLine, () => 'x', 'x');
      return performance.now() - started;
    };
    time(2_000);
    expect(time(80_000)).toBeLessThan(1_500);
  });

  test('all facts are named in order, those of branches too', () => {
    const { facts } = compileTemplate(
      '{{ mode }}{% when dbt %}{{ env.A }}{% else %}{{ tags | "" }}{% end %}',
      context,
    );
    expect(facts).toEqual(['dbt', 'env.A', 'mode', 'tags']);
  });
});

describe('what is refused', () => {
  test.each([
    ['ab {{ mode', 3, 'well-formed'],
    ['ab }}', 3, 'well-formed'],
    ['{"a": {"b": 1}}', 13, 'well-formed'],
    ['ab %}', 3, 'well-formed'],
    ['{{ }}', 0, 'well-formed'],
    ['{{ mode | other }}', 0, 'well-formed'],
    ['{{ mode | "a }}', 0, 'well-formed'],
    ['{{ mode\n}}', 0, 'well-formed'],
    ['{{ "\\q" }}', 0, 'not a string'],
    ['{{ "\\\t" }}', 0, 'not a string'],
    ['{{ "\\ud800" }}', 0, 'half a character'],
    ['ab {{ mode | "\\ude00" }}', 3, 'half a character'],
    ['{% when dbt %}'.repeat(6000), 100 * 14, 'more than 100 deep'],
    [`{% when ${'x'.repeat(2e7)}`, 0, 'well-formed'],
    [`{{ "${'x'.repeat(2e7)}`, 0, 'well-formed'],
    [`{% when mode == "${'x'.repeat(2e7)}" %}{% end %}`, 0, 'well-formed'],
    ['{{ git.branch }}', 0, 'may be unknown'],
    ['{{ moode }}', 0, "Write 'mode'."],
    ['a{% if dbt %}', 1, 'well-formed'],
    ['{% when %}', 8, 'cannot be read'],
    ['{% when dbt %}A', 0, 'never ended'],
    ['A{% end %}', 1, 'no open'],
    ['A{% else %}', 1, 'no open'],
    ['{% when dbt %}{% else %}{% else %}{% end %}', 24, 'no open'],
    ['{% when  dbq %}A{% end %}', 9, "Write 'dbt'."],
    ['{% when dbt && size(mode) == 1 %}A{% end %}', 15, 'size'],
    ['{% when dbt unknown: drop %}A{% end %}', 0, 'drop'],
  ] as [string, number, string][])('%.60s', (body, offset, part) => {
    let fault: unknown;
    try {
      compileTemplate(body, context);
    } catch (thrown) {
      fault = thrown;
    }
    expect(fault).toBeInstanceOf(TextFault);
    expect(fault).toMatchObject({ offset });
    const { message, next } = fault as TextFault;
    expect(`${message} ${next}`).toContain(part);
  });
});
