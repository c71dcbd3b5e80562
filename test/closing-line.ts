/** A Vitest reporter that ends the run with one plain line: how many tests passed, failed and were skipped. */
import type { Reporter, TestModule } from 'vitest/node';
import { leftVariable } from './no-process-left.ts';

export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const count = { passed: 0, failed: unhandled.length, skipped: 0 };
    for (const module of modules) {
      // A file that could not be loaded has no tests to count; it is a failure all the same.
      if (module.errors().length > 0) count.failed += 1;
      for (const test of module.children.allTests()) {
        const state = test.result().state;
        if (state !== 'pending') count[state] += 1;
      }
    }
    // The default reporter prints its summary in the same tick; the closing line must come after it.
    process.once('exit', () => {
      // A process that tests left running is a failure of them all; it is looked for after the last test.
      const failed = count.failed + Number(process.env[leftVariable] ?? 0);
      const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : '';
      console.log(`${count.passed} passed, ${failed} failed${skipped}`);
    });
  }
}
