/** Killed at any point of its life, a run ends as completed or honestly unknown: nothing is sent twice, nothing seen is lost. */
import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { runCampaign } from './crash/campaign.ts';

// The whole campaign is `npm run test:crash`: every point of a run of ten turns (or WRIT_CRASH_TURNS), or WRIT_CRASH_POINTS of
// them spread evenly over it, and kills at any moment besides.
const whole = process.env.WRIT_CRASH === 'whole';
const seed = Number(process.env.WRIT_CRASH_SEED ?? 20_261_130);
const points = process.env.WRIT_CRASH_POINTS;
const turns = Number(process.env.WRIT_CRASH_TURNS ?? 10);

test(`${whole ? 'killed at every point' : '50 kills'}`, async () => {
  const lines: string[] = [];
  const began = performance.now();
  const report = await runCampaign(
    whole
      ? {
          ...{ turns, anyMoment: 6 * turns, seed },
          ...(points === undefined ? {} : { points: Number(points) }),
          log: (line) => lines.push(line),
        }
      : { turns: 2, points: 45, anyMoment: 5, seed },
  );
  const seconds = Math.round((performance.now() - began) / 1000);
  if (whole) {
    const text = JSON.stringify({ seed, node: process.version, seconds, ...report }, null, 2);
    const name = `docs/evidence/crash-campaign${turns === 10 ? '' : `-${turns}-turn`}`;
    writeFileSync(`${name}.json`, `${text}\n`);
    writeFileSync(`${name}-kills.txt`, `${lines.join('\n')}\n`);
  }
  expect(report.faults).toEqual([]);
  expect(report).toMatchObject({
    secondDispatches: 0,
    lostObservations: 0,
    ended: { completed: report.runs },
  });
  expect(report.kills).toBeGreaterThanOrEqual(whole ? 50 * turns : 50);
  // A kill changes the way of a run; what no run reaches any more is named, and is little.
  expect(report.pointsNotReached.length).toBeLessThan(report.pointsAnnounced * 0.02 + 1);
  for (const one of Object.values(report.effects)) expect(one.ok).toBeGreaterThan(0);
}, 7_200_000);
