import { expect, test } from 'vitest';
import { openCatalogue } from './catalogue.ts';
import { compileSurface } from './compile-surface.ts';
import { toolSchemasOf, unitsOfTools } from './units-of-tools.ts';

const schema = (name: string, description = `Does ${name}.`) => ({
  name,
  description,
  parameters: { type: 'object', properties: { z: { type: 'string' }, a: { type: 'string' } } },
});

test('the model is offered the schemas of active tools that are allowed, byte for byte, and no others', () => {
  const tools = [
    { schema: schema('sql_query'), capability: 'sql', keywords: ['database', 'tables'] },
    { schema: schema('sql_write'), capability: 'write' },
    { schema: schema('create_issue'), capability: 'code', server: 'github' },
  ];
  const catalogue = openCatalogue(unitsOfTools(tools));
  const surface = compileSurface(catalogue, {
    task: 'Which tables has the database?',
    capabilities: ['sql'],
  });
  expect(surface.candidates[0]?.triggers).toEqual([
    { kind: 'phrase', text: 'database', weight: 20 },
    { kind: 'phrase', text: 'tables', weight: 20 },
  ]);
  expect(JSON.stringify(toolSchemasOf(catalogue, surface))).toBe(JSON.stringify([tools[0]?.schema]));
  const all = compileSurface(catalogue, { task: '', capabilities: ['sql', 'code'], mode: 'all_tools' });
  expect(toolSchemasOf(catalogue, all).map(({ name }) => name)).toEqual(['create_issue', 'sql_query']);
});

test('a tool that the task names is called for', () => {
  const catalogue = openCatalogue(unitsOfTools([{ schema: schema('sql_query'), capability: 'sql' }]));
  const { candidates } = compileSurface(catalogue, { task: 'use sqlQuery', capabilities: ['sql'] });
  expect(candidates[0]?.triggers).toEqual([{ kind: 'phrase', text: 'sql_query', weight: 40 }]);
});

test('a long description is cut for ranking alone, between characters', () => {
  const long = `${'x'.repeat(2047)}😀 and more`;
  const [unit] = unitsOfTools([{ schema: schema('a', long), capability: 'a' }]);
  expect([unit?.description, unit?.schema?.description]).toEqual(['x'.repeat(2047), long]);
  expect(openCatalogue(unit === undefined ? [] : [unit]).size).toBe(1);
});
