/** A Vitest reporter that ends the run with one plain line: how many tests passed, failed and were skipped. */
import type { Reporter, TestModule } from 'vitest/node';

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
    const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : '';
    // The default reporter prints its summary in the same tick; the closing line must come after it.
    process.once('exit', () => console.log(`${count.passed} passed, ${count.failed} failed${skipped}`));
  }
}
