/** Runs every lane on the live model that the environment names, and keeps the result as evidence. */
import { afterAll, describe, expect, test } from 'vitest';
import { type LaneResult, mustBeLive, writeEvidence } from './evidence.ts';
import { cache, context, smoke, stream, tool } from './lanes.ts';
import { liveTarget } from './target.ts';

const target = liveTarget(process.env);
const date = new Date().toISOString();

if (target.kind === 'skip') test.skip(`the live lanes, because ${target.why}`, () => {});
else {
  const { model } = target;
  await mustBeLive(model.url);

  describe(`live lanes on ${model.id}`, () => {
    const results: LaneResult[] = [];
    afterAll(async () => {
      await model.close();
      const path = await writeEvidence('live-results', {
        model: model.id,
        url: model.url,
        date,
        lanes: results,
      });
      console.log(`The evidence is in ${path}.`);
    });

    test.each([
      ['smoke', smoke],
      ['stream', stream],
      ['tool', tool],
      ['context', context],
      ['cache', cache],
    ])('%s', async (_name, lane) => {
      const result = await lane(model);
      results.push(result);
      expect(result.fault).toBeNull();
      // How good the answers are is the model's matter and is only recorded; an empty one is no answer.
      expect(result.quality).toBeGreaterThan(0);
    });
  });
}
