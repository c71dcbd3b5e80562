// Writes schema/ from the forms that the loaders check; run it after a build.
import { writeFileSync } from 'node:fs';
import { agentJsonSchema } from '../dist/compose/load/schema.js';
import { planJsonSchema } from '../dist/native/plan/schema.js';
import { specJsonSchema } from '../dist/native/spec/spec.js';
import { experimentJsonSchema } from '../dist/prove/form.js';

const schemas = {
  agent: agentJsonSchema(),
  experiment: experimentJsonSchema(),
  plan: planJsonSchema(),
  spec: specJsonSchema(),
};
for (const [name, schema] of Object.entries(schemas)) {
  const target = new URL(`../schema/${name}.schema.json`, import.meta.url);
  writeFileSync(target, `${JSON.stringify(schema, null, 2)}\n`);
}
