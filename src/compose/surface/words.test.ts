import { describe, expect, test } from 'vitest';
import { compact, singular, stem, termsOf, wordsOf } from './words.ts';

describe('words', () => {
  test.each(['sql_query', 'sql-query', 'SQL query', 'sql.query', 'sql/query'])('%s is two words', (text) => {
    expect(wordsOf(text).map((word) => word.text)).toEqual(['sql', 'query']);
  });

  test('a comma and an end are told from a blank, and a dot inside a word is neither', () => {
    const gaps = wordsOf('use node.js, then stop. Or\nnot (ever)').map(({ text, gap }) => [text, gap]);
    expect(gaps).toEqual([
      ['use', 'none'],
      ['node', 'none'],
      ['js', 'none'],
      ['then', 'comma'],
      ['stop', 'none'],
      ['or', 'end'],
      ['not', 'end'],
      ['ever', 'none'],
    ]);
  });

  test('letters beyond ASCII are letters, and their forms are one', () => {
    expect(wordsOf('Größe ﬁle').map((word) => word.text)).toEqual(['größe', 'file']);
  });

  test('nothing is no word', () => {
    expect(wordsOf(' -- … ')).toEqual([]);
  });

  test('a name is the same however it is joined, cased or put in the plural', () => {
    const forms = ['sqlQueries', 'sql_query', 'SQL queries', 'sql-query'].map((text) =>
      compact(wordsOf(text)),
    );
    expect(new Set(forms)).toEqual(new Set(['sqlquery']));
  });
});

describe('terms', () => {
  test('an identifier in camel case gives its parts and the whole', () => {
    expect(termsOf(wordsOf('createHTTPServer'))).toEqual(['createhttpserver', 'creat', 'http', 'server']);
  });

  test('words that say nothing are left out', () => {
    expect(termsOf(wordsOf('please let me have all of the files'))).toEqual(['fil']);
  });

  test.each([
    ['create', ['creates', 'created', 'creating', 'creation', 'creator']],
    ['file', ['files', 'filed', 'filing']],
    ['run', ['runs', 'running']],
    ['query', ['queries']],
    ['search', ['searches', 'searching']],
    ['box', ['boxes']],
  ])('%s meets its other forms', (word, forms) => {
    expect(forms.map(stem)).toEqual(forms.map(() => stem(word)));
  });

  test.each(['status', 'class', 'bring', 'onion', 'red', 'is'])(
    '%s is not cut into something else',
    (word) => {
      expect([singular(word), stem(word)]).toEqual([word, word]);
    },
  );
});
