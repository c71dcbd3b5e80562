/** The grader `json-schema`: the answer is JSON that fits a schema. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { jsonDigest } from '../../digest.ts';
import { messageOf } from '../../errors.ts';
import { isRecord, type Json } from '../../protocol/json.ts';
import { found, type Grader, passIf } from './grader.ts';

/** Draft 2020-12. One fenced block around the JSON is taken off, because models write it and it means nothing. */
export function jsonSchema(): Grader {
  // One schema is compiled for each item and kept; an unknown keyword is a slip of the experiment.
  const compiled = new Map<string, (value: unknown) => boolean>();
  const check = (schema: Json) => {
    const key = JSON.stringify(schema);
    const known =
      compiled.get(key) ??
      new Ajv2020({ strictSchema: true, strictTypes: false, strictTuples: false }).compile(schemaOf(schema));
    compiled.set(key, known);
    return known;
  };
  return {
    kind: 'json-schema',
    digest: jsonDigest({ kind: 'json-schema', version: 1 }),
    files: [],
    when: 'at-once',
    wants(expect) {
      if (!isRecord(expect)) return `should expect a JSON Schema, found ${found(expect)}`;
      try {
        check(expect);
        return null;
      } catch (thrown) {
        return `should expect a JSON Schema: ${messageOf(thrown)}`;
      }
    },
    async grade({ item, answer }) {
      const text = /^\s*```(?:json)?\s*\n([\s\S]*?)\n\s*```\s*$/.exec(answer)?.[1] ?? answer;
      let value: unknown;
      try {
        value = JSON.parse(text);
      } catch {
        return passIf(false, 'no JSON');
      }
      const fits = check(item.expect)(value);
      return passIf(fits, fits ? 'fits the schema' : 'does not fit the schema');
    },
  };
}

function schemaOf(schema: Json): Readonly<Record<string, unknown>> {
  return isRecord(schema) ? schema : {};
}
