/** A stop that meets a grader at work: what it said then is no grade, and the trial is neither lost nor run again. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '../clock.ts';
import { memoryStore } from '../ledger/stores/memory.ts';
import type { Grader } from './grade/grader.ts';
import { openJournal } from './journal.ts';
import { register } from './register.ts';
import { runExperiment } from './run-experiment.ts';
import { executeBy, experimentFolder, experimentRun, openFolder } from './trials.cases.ts';

test('records no grade; the run that had ended becomes its trial when the experiment goes on', async () => {
  const folder = await experimentFolder();
  const opened = await openFolder(folder);
  const journal = await openJournal(join(folder, 'record'), systemClock);
  try {
    await register(journal, opened.registration, { clock: systemClock });
    const store = memoryStore({ clock: systemClock });
    const calls: string[] = [];
    const execute = executeBy(store, opened, ({ stamp }) => {
      calls.push(`${stamp.side} ${stamp.item}`);
      return {};
    });
    const run = (grader: Grader, signal: AbortSignal) =>
      runExperiment({ ...experimentRun(opened, { journal, store, execute }), grader, signal });
    const stop = new AbortController();
    const cut: Grader = {
      ...opened.grader,
      async grade() {
        stop.abort();
        return { score: null, reason: 'cancelled' };
      },
    };
    expect(await run(cut, stop.signal)).toMatchObject({ trials: 16, complete: false });
    expect(journal.state()).toMatchObject({ rows: [], grades: [] });
    expect(await run(opened.grader, new AbortController().signal)).toMatchObject({
      done: 16,
      complete: true,
    });
    expect([calls.length, new Set(calls).size]).toEqual([16, 16]);
    expect(journal.state()?.grades.map(({ score }) => score)).toEqual(Array(16).fill(1));
  } finally {
    await journal.close();
    await rm(folder, { recursive: true, force: true });
  }
});
