import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: './test/no-process-left.ts',
    pool: 'forks',
    // Tests wait for processes more than they count; one worker leaves two cores half idle.
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    reporters: ['default', './test/closing-line.ts'],
  },
});
