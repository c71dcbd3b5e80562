// Writes schema/agent.schema.json from the form that the loader checks; run it after a build.
import { writeFileSync } from 'node:fs';
import { agentJsonSchema } from '../dist/compose/load/schema.js';

const target = new URL('../schema/agent.schema.json', import.meta.url);
writeFileSync(target, `${JSON.stringify(agentJsonSchema(), null, 2)}\n`);
