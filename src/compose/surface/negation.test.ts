import { describe, expect, test } from 'vitest';
import { openCatalogue } from './catalogue.ts';
import { negatedIn } from './negation.ts';
import { mcpTool, tool } from './units.cases.ts';
import { wordsOf } from './words.ts';

const catalogue = openCatalogue([
  tool('sql_query', { aliases: ['database'] }),
  tool('browser'),
  tool('email'),
  tool('shell', { category: 'commands' }),
  mcpTool('github', 'create_issue'),
]);
const negated = (task: string) =>
  [...negatedIn(wordsOf(task), catalogue.names).keys()].map((number) => catalogue.at(number).name).sort();

describe('a task says not to use a unit', () => {
  test.each([
    ['Answer without sql_query.', ['sql_query']],
    ['Do not use the SQL query tool', ['sql_query']],
    ["Please don't use sqlQuery today", ['sql_query']],
    ['dont use sql-queries', ['sql_query']],
    ['Don’t use the database', ['sql_query']],
    ['You must never use the browser', ['browser']],
    ['never ever call browser', ['browser']],
    ['do not ever use the browser', ['browser']],
    ['You should not be using it, avoid the browser', ['browser']],
    ['work without using the browser', ['browser']],
    ['Do not use GitHub', ['create_issue']],
    ['do not use any commands', ['shell']],
  ])('%s', (task, names) => {
    expect(negated(task)).toEqual(names);
  });
});

describe('lists of names', () => {
  test.each([
    ['without the browser or the shell', ['browser', 'shell']],
    ['without browser, shell, or email', ['browser', 'email', 'shell']],
    ['without browser and shell', ['browser', 'shell']],
    ['without the browser, the shell and email.', ['browser', 'email', 'shell']],
    ['Do it without the browser and email the report to Ann', ['browser']],
    ['Without the browser, email Ann', ['browser']],
    ['Without the browser. Email', ['browser']],
  ])('%s', (task, names) => {
    expect(negated(task)).toEqual(names);
  });
});

describe('what is no negative evidence', () => {
  test.each([
    'Use the browser',
    'Do not finish without sql_query',
    "Don't answer without the database",
    'without further questions, use the browser',
    'Do not use. Browser',
    'use it',
    'without',
    '',
  ])('%s', (task) => {
    expect(negated(task)).toEqual([]);
  });

  test('a longer name wins over a shorter one in it', () => {
    const both = openCatalogue([tool('sql'), tool('sql_query')]);
    const found = negatedIn(wordsOf('do not use sql query'), both.names);
    expect([...found].map(([number, said]) => [both.at(number).name, said])).toEqual([
      ['sql_query', 'do not use sql query'.slice(3)],
    ]);
  });
});
